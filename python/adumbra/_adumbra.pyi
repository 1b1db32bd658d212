from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: str

_Path = str | PathLike[str]
_Names = str | Sequence[str]
_Engine = Literal["auto", "interpreter", "native"]
_Errors = Literal["return", "raise"]
_Rules = Literal["smooth", "pair", "edge"]
_Wrap = Literal["repeat", "clamp", "mirror", "black"]
_ColorSpace = Literal["srgb", "linear"]
_Textures = Mapping[str, ArrayLike | _Path | Texture | Callable[..., ArrayLike]]
_Arrays = dict[str, NDArray[Any]]

class _Evaluation(TypedDict, total=False):
    textures: _Textures | None
    copy: bool | None
    threads: int
    engine: _Engine
    steps: int | None
    errors: _Errors

class _GradientEvaluation(_Evaluation, total=False):
    wrt: _Names | None
    of: _Names | None
    seeds: Mapping[str, Any] | None
    rules: _Rules
    axes: Mapping[str, float] | None

class CompileError(ValueError):
    diagnostics: list[Diagnostic]

class FaultError(RuntimeError):
    faults: list[Fault]

class FaultWarning(RuntimeWarning): ...

class Diagnostic:
    @property
    def code(self) -> str: ...
    @property
    def severity(self) -> Literal["error", "warning"]: ...
    @property
    def message(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def labels(self) -> list[Label]: ...
    @property
    def help(self) -> str | None: ...

class Label:
    @property
    def file(self) -> str: ...
    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def message(self) -> str: ...

class Dual:
    def __init__(self, value: Any, ddx: Any = None, ddy: Any = None) -> None: ...
    @property
    def value(self) -> Any: ...
    @property
    def ddx(self) -> Any: ...
    @property
    def ddy(self) -> Any: ...

class Variable:
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...] | None: ...
    @property
    def dtype(self) -> np.dtype[Any] | None: ...
    @property
    def arrays(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]: ...
    @property
    def default(self) -> Any: ...
    @property
    def metadata(self) -> dict[str, bool | int | float | str]: ...

class Texture:
    def __init__(
        self,
        image: ArrayLike | _Path,
        *,
        color_space: _ColorSpace = "srgb",
        wrap: _Wrap | tuple[_Wrap, _Wrap] | None = None,
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, int, int]: ...
    @property
    def levels(self) -> int: ...
    def level(self, level: int) -> NDArray[np.float32]: ...

class Fault:
    @property
    def diagnostic(self) -> Diagnostic: ...
    @property
    def stops(self) -> bool: ...
    @property
    def points(self) -> int: ...
    @property
    def first(self) -> int: ...

class Evaluation(Mapping[str, NDArray[Any]]):
    @property
    def ddx(self) -> _Arrays | None: ...
    @property
    def ddy(self) -> _Arrays | None: ...
    @property
    def faults(self) -> list[Fault]: ...
    @property
    def messages(self) -> list[tuple[int, str]]: ...
    @property
    def more_messages(self) -> int: ...
    @property
    def copied(self) -> dict[str, str]: ...
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class Gradient:
    @property
    def parameters(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def zero(self) -> list[str]: ...
    @property
    def program(self) -> Program: ...
    @property
    def seeds(self) -> dict[str, list[str]]: ...
    @property
    def derivatives(self) -> dict[str, str]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    def evaluate(
        self,
        values: Mapping[str, Any] | None = None,
        seeds: Mapping[str, Any] | None = None,
        **options: Unpack[_Evaluation],
    ) -> GradientEvaluation: ...

class GradientEvaluation:
    @property
    def outputs(self) -> _Arrays: ...
    @property
    def grads(self) -> _Arrays: ...
    @property
    def faults(self) -> list[Fault]: ...
    @property
    def messages(self) -> list[tuple[int, str]]: ...
    @property
    def copied(self) -> dict[str, str]: ...
    @property
    def edges(self) -> dict[str, int] | None: ...

class Program:
    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> dict[str, Variable]: ...
    @property
    def outputs(self) -> dict[str, Variable]: ...
    @property
    def globals(self) -> dict[str, Variable]: ...
    @property
    def buffers(self) -> dict[str, Variable]: ...
    @property
    def textures(self) -> dict[str, Variable]: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def source(self) -> str | None: ...
    @property
    def files(self) -> dict[str, str]: ...
    def to_bytecode(self) -> bytes: ...
    def evaluate(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        textures: _Textures | None = None,
        outputs: _Names | None = None,
        derivatives: bool = False,
        copy: bool | None = None,
        threads: int = 1,
        engine: _Engine = "auto",
        steps: int | None = None,
        errors: _Errors = "return",
    ) -> Evaluation: ...
    def __call__(self, **values: Any) -> Evaluation: ...
    def closures(
        self,
        output: str,
        values: Mapping[str, Any] | None = None,
        **options: Unpack[_Evaluation],
    ) -> _Arrays: ...
    def gradient(
        self,
        wrt: _Names,
        *,
        of: _Names | None = None,
        mode: Literal["backward", "forward"] = "backward",
        rules: _Rules = "smooth",
        axes: Mapping[str, float] | None = None,
    ) -> Gradient: ...
    def value_and_grad(
        self,
        values: Mapping[str, Any] | None = None,
        **options: Unpack[_GradientEvaluation],
    ) -> tuple[_Arrays, _Arrays]: ...
    def grad(
        self,
        values: Mapping[str, Any] | None = None,
        **options: Unpack[_GradientEvaluation],
    ) -> _Arrays: ...
    def jvp(
        self,
        values: Mapping[str, Any] | None,
        tangents: Mapping[str, Any],
        *,
        of: _Names | None = None,
        **options: Unpack[_Evaluation],
    ) -> tuple[_Arrays, _Arrays]: ...

def compile(
    source: str,
    *,
    name: str = "<shader>",
    files: Mapping[str, str] | None = None,
    shader: str | None = None,
    globals: Mapping[str, str] | None = None,
    texture_slopes: bool = True,
) -> Program: ...
def check(
    source: str,
    *,
    name: str = "<shader>",
    files: Mapping[str, str] | None = None,
    globals: Mapping[str, str] | None = None,
    texture_slopes: bool = True,
) -> list[Diagnostic]: ...
def load(
    path: _Path,
    *,
    root: _Path | None = None,
    shader: str | None = None,
    globals: Mapping[str, str] | None = None,
    texture_slopes: bool = True,
) -> Program: ...
def read_image(path: _Path, *, color_space: _ColorSpace = "srgb") -> NDArray[np.float32]: ...
def write_image(path: _Path, image: ArrayLike) -> None: ...
def forked() -> None: ...
def run_adumbra(arguments: Sequence[str]) -> int: ...
def run_adumbra_render(arguments: Sequence[str]) -> int: ...
