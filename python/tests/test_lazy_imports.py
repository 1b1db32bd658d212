"""Libraries that are not NumPy are imported by those modules alone that are for them."""

import subprocess
import sys

import pytest


def said(code: str) -> str:
    """What a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_package_imports_no_library_of_hosts() -> None:
    libraries = {"torch", "jax", "dask"}
    assert said(f"import sys, adumbra; print({libraries} & set(sys.modules))") == "set()"


@pytest.mark.parametrize(("module", "name"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_a_missing_library_is_named(module: str, name: str) -> None:
    code = f"""
import sys
sys.modules["{module}"] = None
try:
    import adumbra.{module}
except ImportError as error:
    print(error)
"""
    assert said(code) == f"`adumbra.{module}` needs {name}: `pip install {module}`"
