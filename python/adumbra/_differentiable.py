"""A program as a function of named arrays, with its derivatives and those of these.

What `adumbra.torch` and `adumbra.jax` share. Invariant: a derivative is of functions again. The
backward derivative by the parameters p with the seeds w is g = Σ Jᵀw. What depends on it with the
cotangent v asks for ∂⟨v, g⟩/∂w = J v and for ∂⟨v, g⟩/∂p = ∂⟨w, J v⟩/∂p: for J v, which the program
of the derivative in forward mode computes, and for a backward derivative of that program. So all
orders come of two rules, and nothing is kept from one evaluation to the next.
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._adumbra import Fault, Gradient, Program, Texture

if TYPE_CHECKING:
    from ._adumbra import _Engine, _Errors, _Rules, _Wrap

Array = NDArray[Any]

Parts = Mapping[str, list[tuple[str, tuple[int, ...]]]]
"""By path of a value, the parameters of a gradient's program that it is given as: those of the
elements that these indices have, one of all if there are none."""

_Mode = Literal["backward", "forward"]
# Parameters, outputs, and the mode of a derivative.
_Key = tuple[frozenset[str], frozenset[str], _Mode]


@dataclass(frozen=True)
class Parameter:
    """What a value of some name is."""

    key: str
    """Its name for programs and gradients, with a prefix where one settles a clash."""
    kind: str
    """`"input"`, `"global"`, `"buffer"` or `"texture"`."""
    path: str
    """Its own name; of a member of a struct the path."""
    shape: tuple[int, ...]
    """The sides of one value, of a buffer those of an element; none of a texture."""
    dtype: np.dtype[Any]
    """What its numbers are."""

    @property
    def root(self) -> str:
        """The name of the parameter that a gradient is by: of a member, that of the struct."""
        return self.path.partition(".")[0] if self.kind == "input" else self.path

    @property
    def root_key(self) -> str:
        """The same with the prefix that `key` has."""
        return self.key.removesuffix(self.path) + self.root

    @property
    def is_float(self) -> bool:
        """Whether there are gradients by it."""
        return self.dtype.kind == "f"

    def points(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The sides of the points of an array that is given for it; none if all points share it.

        Raises `ValueError` if no array of that shape can be given for it.
        """
        within = len(shape) - len(self.shape)
        fits = within >= 0 and shape[within:] == self.shape
        match self.kind:
            case "texture":
                expected = "(height, width) or (height, width, channels) with 1 to 4 channels"
                fits = len(shape) == 2 or (len(shape) == 3 and 1 <= shape[2] <= 4)
            case "buffer":
                expected = str(("n", *self.shape)).replace("'", "")
                fits = fits and within == 1
            case "input":
                expected = f"{self.shape}, which all points share"
                fits = shape == self.shape
            case _:
                expected = f"(…, {', '.join(map(str, self.shape))})"
        if not fits:
            message = f"`{self.path}` is given an array of shape {expected}, not {shape}"
            raise ValueError(message)
        return shape[:within] if self.kind == "global" else ()


@dataclass(frozen=True)
class Options:
    """How a function is evaluated and differentiated, as `Program.value_and_grad` has it."""

    rules: "_Rules" = "smooth"
    axes: Mapping[str, float] | None = None
    textures: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    engine: "_Engine" = "auto"
    steps: int | None = None
    errors: "_Errors" = "raise"

    @property
    def of_evaluation(self) -> dict[str, Any]:
        """Those of an evaluation."""
        names = ("threads", "engine", "steps", "errors")
        return {name: getattr(self, name) for name in names}


class Differentiable:
    """A program as a function of arrays by name, of which all derivatives are.

    It does not change, and threads share it. A pickle has the program, names and options.
    """

    def __init__(
        self,
        program: Program,
        of: Sequence[str] | None,
        options: Options,
        wraps: "Mapping[str, tuple[_Wrap, _Wrap]] | None" = None,
    ) -> None:
        self.program = program
        self.options = options
        arrays = {path: of for out in program.outputs.values() for path, of in out.arrays.items()}
        self.outputs: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = arrays
        """The arrays of the outputs it is of, by path: the shape of one value, and the dtype."""
        if of is not None:
            self.outputs = {}
            for name in of:
                within = (path for path in arrays if f"{path}.".startswith(f"{name}."))
                own = {path: arrays[path] for path in within}
                if not own:
                    raise KeyError(unknown(name, arrays, "no output that is an array"))
                self.outputs |= own
        if not self.outputs:
            raise ValueError("the program has no output that is an array")
        self._parameters = dict(_parameters(program))
        known = program.textures
        self._textures = {name: of for name, of in options.textures.items() if name in known}
        # Of textures that are changes of others: how these continue beyond their images.
        self._wraps = dict(wraps or {})
        self._gradients: dict[_Key, tuple[Gradient, Parts]] = {}
        self._live: dict[tuple[frozenset[str], frozenset[str]], frozenset[str]] = {}
        self._tangents: dict[tuple[frozenset[str], frozenset[str]], Tangent] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Differentiable, (self.program, list(self.outputs), self.options, self._wraps)

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name. Raises `KeyError` if there is none that is read."""
        found = self._parameters.get(name)
        if found is None:
            what = "nothing that the program reads"
            raise KeyError(unknown(name, self._parameters, what))
        return found

    def has(self, name: str) -> bool:
        """Whether there is a parameter of that name that is read."""
        return name in self._parameters

    def _sorted(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values for a program, and images for its textures."""
        given: dict[str, Any] = {}
        textures = dict(self._textures)
        for name, value in values.items():
            parameter = self.parameter(name)
            if parameter.kind == "texture":
                wrap = self._wraps.get(parameter.path)
                image = value if wrap is None else Texture(value, wrap=wrap)
                textures[parameter.path] = image
            elif parameter.key in given:
                raise ValueError(f"`{parameter.key}` is given twice")
            else:
                given[parameter.key] = value
        return given, textures

    def evaluate(self, values: Mapping[str, Any]) -> tuple[dict[str, Array], list[Fault]]:
        """The outputs by path, with the points along their first sides, and faults of points."""
        given, textures = self._sorted(values)
        options = self.options.of_evaluation
        wanted = list(self.outputs)
        done = self.program.evaluate(given, textures=textures, outputs=wanted, **options)
        return dict(done), done.faults

    def gradient(
        self, values: Mapping[str, Any], wanted: Iterable[str], seeds: Mapping[str, Any]
    ) -> tuple[dict[str, Array], list[Fault]]:
        """The gradient of Σ seed · output by the parameters that are wanted, by their names."""
        own = {name: self.parameter(name) for name in wanted}
        if len({parameter.path for parameter in own.values()}) < len(own):
            clash = ", ".join(f"`{parameter.key}`" for parameter in own.values())
            raise ValueError(f"parameters of one name have no gradient together: {clash}")
        gradient, parts_of = self._gradient(frozenset(own), frozenset(seeds))
        given, textures = self._sorted(values)
        # Those that have no seed count with 0.
        for path, parts in parts_of.items():
            if path in seeds:
                for name, at in parts:
                    given[name] = seeds[path][(..., *at, *_whole(self.outputs[path][0], at))]
        options = self.options.of_evaluation
        done = gradient.evaluate(given, {}, textures=textures, **options)
        return {name: done.grads[own[name].path] for name in own}, done.faults

    def _gradient(
        self, wanted: frozenset[str], outputs: frozenset[str], mode: _Mode = "backward"
    ) -> tuple[Gradient, Parts]:
        """The gradient of outputs by parameters, and what its seeds are given as."""
        key = (wanted, outputs, mode)
        known = self._gradients.get(key)
        if known is None:
            by = sorted({self.parameter(name).root_key for name in wanted})
            of = sorted({path.partition(".")[0] for path in outputs})
            axes = None if self.options.axes is None else dict(self.options.axes)
            rules = self.options.rules
            if mode == "forward":
                made = self.program.gradient(by, of=of, mode=mode)
            else:
                made = self.program.gradient(by, of=of, rules=rules, axes=axes)
            known = self._gradients.setdefault(key, (made, _parts(made.seeds)))
        return known

    def live(self, wanted: Iterable[str], outputs: Iterable[str]) -> frozenset[str]:
        """Those parameters by which the outputs' backward derivative is not 0 everywhere.

        Raises `CompileError` if there is none.
        """
        key = (frozenset(wanted), frozenset(outputs))
        if not all(key):
            return frozenset()
        known = self._live.get(key)
        if known is None:
            zero = self._gradient(*key)[0].zero
            live = (name for name in key[0] if self.parameter(name).root not in zero)
            known = self._live.setdefault(key, frozenset(live))
        return known

    def leads(self, wanted: Iterable[str], output: str) -> bool:
        """Whether an output has a derivative by one of the parameters that is not 0 everywhere."""
        return bool(self.live(wanted, [output]))

    def floats(self) -> list[str]:
        """The paths of the outputs that have derivatives."""
        return [path for path, (_, dtype) in self.outputs.items() if dtype.kind == "f"]

    def tangent(self, wanted: Iterable[str], outputs: Iterable[str]) -> "Tangent":
        """The derivative of outputs along changes of the parameters that are wanted.

        Raises `NotImplementedError` of a derivative through edges.
        """
        if self.options.rules != "smooth":
            rules = self.options.rules
            only = "is backward, and is not differentiated again"
            raise NotImplementedError(f"a derivative by rules={rules!r} {only}")
        by, of = frozenset(wanted), frozenset(outputs)
        known = self._tangents.get((by, of))
        if known is None:
            gradient, parts = self._gradient(by, of, "forward")
            roots = {path: path.partition(".")[0] for path in self.floats()}
            changes = {
                path: gradient.derivatives[root] + path[len(root) :]
                for path, root in roots.items()
                if root in gradient.derivatives
            }
            wraps = dict(self._wraps)
            for parameter in map(self.parameter, by):
                if parameter.kind == "texture":
                    [(change, _)] = parts[parameter.path]
                    wraps[change.partition(":")[2]] = self._wrap(parameter.path)
            of_changes = list(changes.values())
            function = Differentiable(gradient.program, of_changes, self.options, wraps)
            known = self._tangents.setdefault((by, of), Tangent(function, parts, changes))
        return known

    def _wrap(self, texture: str) -> "tuple[_Wrap, _Wrap]":
        """How a texture that is given as an array continues beyond it, along u and v."""
        metadata: Mapping[str, Any] = self.program.textures[texture].metadata
        own = (metadata.get("wrap_u", "repeat"), metadata.get("wrap_v", "repeat"))
        return self._wraps.get(texture, own)


@dataclass(frozen=True)
class Tangent:
    """A derivative in forward mode."""

    function: Differentiable
    """Its outputs are the changes of outputs. It has the parameters of what it is the derivative
    of, and their changes."""
    parts: Parts
    """By path of a parameter, the parameters of `function` that are its change."""
    outputs: Mapping[str, str]
    """By path of an output, that of its change."""

    def changes(self, parameter: Parameter, change: Any) -> dict[str, Any]:
        """The values of `function` by which a parameter changes. What is not read is left out."""
        given = {}
        for name, at in self.parts[parameter.path]:
            if self.function.has(name):
                given[name] = change[(..., *at, *_whole(parameter.shape, at))] if at else change
        return given


def differentiable(
    program: Program,
    of: str | Sequence[str] | None,
    wrt: str | Sequence[str] | None,
    options: Options,
) -> tuple[Differentiable, Sequence[str] | None, bool]:
    """A function of these outputs; the names of what it has gradients by, if that is said; and
    whether it gives one array, not several by name.

    Raises `KeyError` of unknown names, `CompileError` if there is no gradient that is asked for.
    """
    made = Differentiable(program, [of] if isinstance(of, str) else of, options)
    for name in options.textures:
        if name not in program.textures:
            raise KeyError(unknown(name, program.textures, "no texture of the program"))
    by = [wrt] if isinstance(wrt, str) else wrt
    if by is not None:
        made.live(by, made.floats())
    is_single = (of is None or isinstance(of, str)) and len(made.outputs) == 1
    return made, by, is_single


def _whole(shape: tuple[int, ...], at: tuple[int, ...]) -> tuple[slice, ...]:
    """What comes after indices of elements: all numbers of these."""
    return (slice(None),) * (len(shape) - len(at))


def _parts(seeds: Mapping[str, list[str]]) -> Parts:
    """What seeds are given as: `d(r.t[1])` is that of the element 1 of `r.t`."""
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for name in (name for names in seeds.values() for name in names):
        inner = name[name.index("(") + 1 : -1]
        indices = re.search(r"(\[\d+\])*$", inner)
        assert indices is not None
        at = tuple(int(index) for index in re.findall(r"\d+", indices.group()))
        found.setdefault(inner[: indices.start()], []).append((name, at))
    return found


def _parameters(program: Program) -> Iterable[tuple[str, Parameter]]:
    """All parameters that are read: by name, unless one of another kind has it, and with prefix."""
    seen = set()
    kinds = (("input", program.inputs), ("global", program.globals), ("buffer", program.buffers))
    for kind, variables in kinds:
        for variable in variables.values():
            for path, (shape, dtype) in variable.arrays.items():
                key = path if kind == "input" else f"{kind}:{path}"
                parameter = Parameter(key, kind, path, shape, dtype)
                if path not in seen:
                    yield path, parameter
                if key != path:
                    yield key, parameter
                seen.add(path)
    for path in program.textures:
        parameter = Parameter(f"texture:{path}", "texture", path, (), np.dtype(np.float32))
        if path not in seen:
            yield path, parameter
        yield parameter.key, parameter


def unknown(name: str, known: Iterable[str], what: str) -> str:
    """What is said of a name that there is none of: of what, and which one may have been meant."""
    near = difflib.get_close_matches(name, list(known), 1)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    return f"{what} is named `{name}`{meant}"
