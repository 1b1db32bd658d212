"""A shading language whose values carry their screen-space derivatives.

>>> import adumbra, numpy as np
>>> program = adumbra.compile("shader s(float k = 2.0, out float o) { o = sin(k * global_value<x>); }", globals={"x": "float"})
>>> x = np.linspace(0, 1, 5, dtype=np.float32)
>>> outputs, grads = program.value_and_grad({"x": x, "k": 3.0}, wrt="k")
>>> grads["k"].shape
()

`compile` and `load` make a `Program`; `Program.evaluate` gives arrays of its outputs,
`Program.value_and_grad` their gradient. `image` draws, `fit` finds the inputs with which a shader
draws an image.
"""

import os as _os

from ._adumbra import (
    CompileError,
    Diagnostic,
    Dual,
    Evaluation,
    Fault,
    FaultError,
    FaultWarning,
    Gradient,
    GradientEvaluation,
    Label,
    Program,
    Texture,
    Variable,
    __version__,
    check,
    compile,
    load,
    read_image,
    write_image,
)
from ._adumbra import forked as _forked
from ._fit import FitError, FitProgress, FitResult, fit
from ._image import image, pixels
from ._render import RenderError, render
from ._show import Shown, show

__all__ = [
    "CompileError",
    "Diagnostic",
    "Dual",
    "Evaluation",
    "Fault",
    "FaultError",
    "FaultWarning",
    "FitError",
    "FitProgress",
    "FitResult",
    "Gradient",
    "GradientEvaluation",
    "Label",
    "Program",
    "RenderError",
    "Shown",
    "Texture",
    "Variable",
    "check",
    "compile",
    "fit",
    "image",
    "load",
    "pixels",
    "read_image",
    "render",
    "show",
    "write_image",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_forked)
