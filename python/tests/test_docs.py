"""The examples of docstrings do what they say, and every public name has a docstring."""

import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import adumbra

NAMES = [name for name in adumbra.__all__]


def documented() -> list[tuple[str, str]]:
    found = [("adumbra", adumbra.__doc__ or "")]
    for name in NAMES:
        value = getattr(adumbra, name)
        found.append((name, value.__doc__ or ""))
        if inspect.isclass(value):
            members = [own for own in vars(value) if not own.startswith("_")]
            found += [(f"{name}.{own}", inspect.getdoc(getattr(value, own)) or "") for own in members]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_public_names_have_docstrings(name: str) -> None:
    assert len((getattr(adumbra, name).__doc__ or "").split()) >= 3


@pytest.mark.parametrize(("name", "text"), documented(), ids=[name for name, _ in documented()])
def test_examples_do_what_they_say(name: str, text: str) -> None:
    np.set_printoptions(legacy=False)
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_page_runs_from_top_to_bottom(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (repository / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 8
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        for module in ("torch", "jax", "dask"):
            if f"import adumbra.{module}" in block and not importlib.util.find_spec(module):
                break
        else:
            exec(compile(block, "docs/python.md", "exec"), names)
