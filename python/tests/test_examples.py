"""Examples and notebooks run to their ends."""

import ast
import importlib.util
import json
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_scripts_run(script: Path) -> None:
    for library in ("torch", "jax"):
        if f"import {library}" in script.read_text() and not importlib.util.find_spec(library):
            pytest.skip(f"{library} is not here")
    runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("notebook", sorted(EXAMPLES.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path) -> None:
    cells = json.loads(notebook.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    if any("adumbra.dask" in own for own in code) and not importlib.util.find_spec("dask"):
        pytest.skip("dask is not here")
    names: dict[str, object] = {}
    for own in code:
        tree = ast.parse(own)
        # What a cell ends with is shown.
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(notebook), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(notebook), "eval"), names)
            if hasattr(value, "_repr_png_"):
                assert value._repr_png_().startswith(b"\x89PNG")
