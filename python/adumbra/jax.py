"""Shaders as functions of JAX's arrays.

>>> import adumbra, adumbra.jax, jax
>>> program = adumbra.compile("shader s(float k = 2.0, out float o) { o = k * k; }")
>>> f = adumbra.jax.function(program)
>>> float(jax.jit(jax.grad(lambda k: f(k=k)))(3.0))
6.0

What can be wrong is found while a function is traced: names, shapes, dtypes, derivatives that do
not exist. An exception within a callback of XLA would be undefined, so what happens there, faults
of points among it, becomes NaN, and `Function.take_faults` has it.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ._adumbra import Dual, Fault, Program
from ._differentiable import Array, Differentiable, Options, Parameter, Tangent, differentiable

try:
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero
except ImportError as error:
    raise ImportError("`adumbra.jax` needs JAX: `pip install jax`") from error

if TYPE_CHECKING:
    from ._adumbra import _Engine, _Rules

__all__ = ["MAX_FAULTS", "Function", "function"]

MAX_FAULTS = 100
"""The most faults and exceptions that are kept until they are taken; the last ones count."""


def function(
    program: Program,
    *,
    of: str | Sequence[str] | None = None,
    wrt: str | Sequence[str] | None = None,
    rules: "_Rules" = "smooth",
    axes: Mapping[str, float] | None = None,
    textures: Mapping[str, Any] | None = None,
    threads: int = 1,
    engine: "_Engine" = "auto",
    steps: int | None = None,
) -> "Function":
    """A shader as a function of arrays, for `jax.jit`, `jax.grad` and `jax.vmap`.

    The function takes the program's values by name: inputs, globals, buffers, and textures as
    arrays of shape (height, width) or (height, width, channels). Shapes are those of
    `Program.evaluate`. Arrays of JAX have gradients; numbers, NumPy arrays and `Dual` are
    constants, except for the value of a `Dual` that is an array of JAX. Names with a prefix or a
    dot come as `**{"global:x": x, "ray.origin": origin}`. It computes with four-byte floats.

    `of` names the outputs: one name gives an array, several give a dict of arrays by name. If it is
    not given, a program with one output gives an array, any other the dict of all.

    A gradient is computed by those arrays alone that are differentiated; with `wrt` by those of
    these names alone, and that there is such a gradient is checked at once. With `rules` "pair" or
    "edge" it has what edges move, between neighbours along `axes`, and is of first order. Gradients
    by "smooth" are of any order. All are backward: there is no `jax.jvp`.

    `textures` has images that are constants. `threads`, `engine` and `steps` are those of
    `Program.evaluate`. If a point is stopped by a fault, or a texture's callback raises, all floats
    of that evaluation are NaN.

    Raises `CompileError` if there is no such gradient, `KeyError` of unknown names.
    """
    options = Options(
        rules=rules,
        axes=axes,
        textures=dict(textures or {}),
        threads=threads,
        engine=engine,
        steps=steps,
        errors="return",
    )
    made, chosen, is_single = differentiable(program, of, wrt, options)
    return Function(made, chosen, is_single)


class Function:
    """A shader as a function of arrays: `function` makes it. It can be pickled."""

    def __init__(
        self, differentiable: Differentiable, wrt: Sequence[str] | None, is_single: bool
    ) -> None:
        self._differentiable = differentiable
        self._wrt = wrt
        self._is_single = is_single
        self._faults: deque[Fault | Exception] = deque(maxlen=MAX_FAULTS)

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self._differentiable, self._wrt, self._is_single)

    def __call__(self, **values: Any) -> Any:
        """The outputs, with the points of globals along their first sides."""
        arrays: dict[str, Any] = {}
        changes: dict[str, tuple[Any, Any]] = {}
        constants: dict[str, Any] = {}
        for name, value in values.items():
            parameter = self._differentiable.parameter(name)
            if isinstance(value, Dual) and isinstance(value.value, jax.Array):
                numbers = (jnp.asarray(value.ddx), jnp.asarray(value.ddy))
                along_x, along_y = (part.astype(parameter.dtype) for part in numbers)
                changes[name] = (jax.lax.stop_gradient(along_x), jax.lax.stop_gradient(along_y))
                value = value.value
            if not isinstance(value, jax.Array):
                constants[name] = value
                continue
            array = _of_dtype(name, value, parameter.dtype)
            is_constant = self._wrt is not None and name not in self._wrt
            arrays[name] = jax.lax.stop_gradient(array) if is_constant else array
        operands = (*arrays.values(), *(part for pair in changes.values() for part in pair))
        call = _Call(
            self._differentiable,
            (*arrays, *(f"{name}'{part}" for name in changes for part in ("ddx", "ddy"))),
            tuple(operand.shape for operand in operands),
            constants,
            self._faults,
        )
        outputs = _values(call, operands)
        if self._is_single:
            return outputs[0]
        return dict(zip(self._differentiable.outputs, outputs))

    def take_faults(self) -> list[Fault | Exception]:
        """What has gone wrong since this was called last: faults of points, and exceptions that
        callbacks of textures raised. At most `MAX_FAULTS`.

        Evaluations are asynchronous: wait for the result first (`jax.block_until_ready`).
        """
        taken = []
        while self._faults:
            taken.append(self._faults.popleft())
        return taken

    def __repr__(self) -> str:
        names = ", ".join(self._differentiable.outputs)
        return f"<adumbra.jax.Function {self._differentiable.program.name}: {names}>"


def _of_dtype(name: str, array: Any, dtype: np.dtype[Any]) -> Any:
    """An array with the numbers that a parameter has; `TypeError` if it has others."""
    floats, integers = jnp.floating, jnp.integer
    kinds = {"f": (floats, integers, jnp.bool_), "b": (jnp.bool_,)}
    wanted = kinds.get(dtype.kind, (integers, jnp.bool_))
    if not any(jnp.issubdtype(array.dtype, kind) for kind in wanted):
        raise TypeError(f"`{name}` has numbers of type {dtype}, not {array.dtype}")
    return array.astype(dtype)


@dataclass(frozen=True, eq=False)
class _Call:
    """What is evaluated, but for the arrays. Every shape is checked as it is made."""

    function: Differentiable
    names: tuple[str, ...]
    """Of the arrays, in their order; `x'ddx` and `x'ddy` are the changes of a global per pixel."""
    shapes: tuple[tuple[int, ...], ...]
    constants: Mapping[str, Any]
    faults: deque[Fault | Exception]

    def __post_init__(self) -> None:
        self.points()
        self._check_textures()

    def points(self) -> tuple[int, ...]:
        """The sides of the points. Raises `ValueError` if shapes do not go together."""
        shapes = list(zip(self.names, self.shapes))
        for name, value in self.constants.items():
            parts = (value.value, value.ddx, value.ddy) if isinstance(value, Dual) else (value,)
            if self.function.parameter(name).kind == "global":
                # A number is any value with that number throughout.
                shapes += [(name, np.shape(part)) for part in parts if np.ndim(part) > 0]
        sides = [(name, self._parameter(name).points(shape)) for name, shape in shapes]
        try:
            return np.broadcast_shapes(*(own for _, own in sides))
        except ValueError:
            have = ", ".join(f"`{name}` {own}" for name, own in sides if own)
            raise ValueError(f"points do not have the same sides: {have}") from None

    def _parameter(self, name: str) -> Parameter:
        return self.function.parameter(name.partition("'")[0])

    def _check_textures(self) -> None:
        """Raises `KeyError` if a texture has no image."""
        given = {self._parameter(name).key for name in (*self.names, *self.constants)}
        for name, texture in self.function.program.textures.items():
            has_image = name in self.function.options.textures or "file" in texture.metadata
            if not has_image and f"texture:{name}" not in given:
                raise KeyError(f"the texture `{name}` has no image: give an array `{name}`")

    def values(self, arrays: Sequence[Array]) -> dict[str, Any]:
        """All values by name."""
        given = dict(self.constants)
        own = dict(zip(self.names, arrays))
        for name, array in own.items():
            if "'" not in name:
                is_dual = f"{name}'ddx" in own
                given[name] = (
                    Dual(array, own[f"{name}'ddx"], own[f"{name}'ddy"]) if is_dual else array
                )
        return given

    def is_float(self, name: str) -> bool:
        """Whether there are gradients by that one."""
        return "'" not in name and self._parameter(name).is_float

    def outputs(self) -> list[jax.ShapeDtypeStruct]:
        """The shapes of the outputs."""
        points = self.points()
        own = self.function.outputs.values()
        return [jax.ShapeDtypeStruct((*points, *shape), dtype) for shape, dtype in own]

    def along(
        self, outputs: Sequence[str], changes: Mapping[str, Any]
    ) -> tuple["_Call", list[Any], Tangent]:
        """The derivative of outputs along changes of arrays, and the arrays that it has further."""
        tangent = self.function.tangent(changes, outputs)
        more: dict[str, Any] = {}
        for name, change in changes.items():
            more |= tangent.changes(self.function.parameter(name), change)
        names = (*self.names, *more)
        shapes = (*self.shapes, *(change.shape for change in more.values()))
        call = _Call(tangent.function, names, shapes, self.constants, self.faults)
        return call, list(more.values()), tangent

    def callback(
        self,
        evaluate: Callable[..., tuple[list[Array], list[Fault]]],
        results: Sequence[jax.ShapeDtypeStruct],
        kept: Sequence[str],
        seeds: Sequence[Any],
        arrays: Sequence[Any],
    ) -> Any:
        """The results of an evaluation of seeds and arrays.

        A batch is more points if what is not the same for all of it has points; so has each result
        then, those that are named `kept` by having places of their own. Another batch is evaluated
        one by one.
        """
        points = len(self.points())
        own_sides = [seed.ndim - points for seed in seeds]
        own_sides += [len(self._parameter(name).shape) for name in self.names]
        of_points = [True] * len(seeds)
        of_points += [self._parameter(name).kind == "global" for name in self.names]
        is_kept = [False] * len(seeds) + [name in kept for name in self.names]
        sides_alone = [operand.ndim for operand in (*seeds, *arrays)]
        can_fold = self.function.options.rules == "smooth" and all(
            self._parameter(name).kind == "global" for name in kept
        )

        def folded(operands: Sequence[Array], batch: tuple[int, ...]) -> list[Array]:
            """All operands with the batch along the first sides of the points."""
            found = []
            for array, value, alone, keeps in zip(operands, own_sides, sides_alone, is_kept):
                sides, own = array.shape[: len(batch)], array.shape[len(batch) :]
                if keeps:
                    array, sides = np.broadcast_to(array, (*batch, *own)), batch
                if all(side == 1 for side in sides):
                    found.append(array.reshape(own))
                else:
                    found.append(array.reshape(*sides, *(1,) * (points - alone + value), *own))
            return found

        def run(operands: Sequence[Array]) -> list[Array]:
            found, faults = evaluate(operands[: len(seeds)], self.values(operands[len(seeds) :]))
            self.faults.extend(faults)
            if any(fault.stops for fault in faults):
                return [_nan(array) for array in found]
            return found

        def host(*given: Any) -> list[Array]:
            operands = [np.asarray(array) for array in given]
            batched = operands[0].ndim - sides_alone[0] if operands else 0
            batch = np.broadcast_shapes(*(array.shape[:batched] for array in operands))
            shapes = [(*batch, *result.shape) for result in results]
            try:
                if not batch:
                    found = run(operands)
                elif can_fold and all(
                    of or all(side == 1 for side in array.shape[:batched])
                    for of, array in zip(of_points, operands)
                ):
                    found = run(folded(operands, batch))
                else:
                    wide = [
                        np.broadcast_to(array, (*batch, *array.shape[batched:]))
                        for array in operands
                    ]
                    each = [run([array[at] for array in wide]) for at in np.ndindex(batch)]
                    found = [np.stack(own) for own in zip(*each)]
                return [
                    np.ascontiguousarray(array, result.dtype).reshape(shape)
                    for array, result, shape in zip(found, results, shapes)
                ]
            except Exception as error:
                self.faults.append(error)
                dtypes = (result.dtype for result in results)
                return [_nan(np.zeros(shape, dtype)) for shape, dtype in zip(shapes, dtypes)]

        operands = (*seeds, *arrays)
        return jax.pure_callback(host, list(results), *operands, vmap_method="expand_dims")


def _nan(array: Array) -> Array:
    """An array like another one, all of whose floats are NaN."""
    return np.full_like(array, np.nan) if array.dtype.kind == "f" else array


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Names:
    """Names that a backward derivative needs of the forward evaluation."""

    names: tuple[str, ...]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _values(call: _Call, arrays: tuple[Any, ...]) -> list[Any]:
    """Outputs of arrays."""

    def evaluate(_: Sequence[Array], values: Mapping[str, Any]) -> tuple[list[Array], list[Fault]]:
        found, faults = call.function.evaluate(values)
        return [found[path] for path in call.function.outputs], faults

    found: list[Any] = call.callback(evaluate, call.outputs(), (), (), arrays)
    return found


def _values_forward(call: _Call, arrays: tuple[Any, ...]) -> tuple[list[Any], Any]:
    # Not all that is differentiated by is to have a gradient.
    own = zip(call.names, arrays)
    asked = tuple(name for name, array in own if array.perturbed and call.is_float(name))
    plain = tuple(array.value for array in arrays)
    return _values(call, plain), (_Names(asked), plain)


def _values_backward(call: _Call, kept: Any, grads: Sequence[Any]) -> tuple[Any]:
    asked, arrays = kept
    floats = call.function.floats()
    seeds = {
        path: grad
        for path, grad in zip(call.function.outputs, grads)
        if path in floats and not isinstance(grad, SymbolicZero)
    }
    found = _live_gradient(call, seeds, asked.names, arrays)
    return (tuple(found.get(name) for name in call.names),)


_values.defvjp(_values_forward, _values_backward, symbolic_zeros=True)


def _live_gradient(
    call: _Call, seeds: Mapping[str, Any], asked: Sequence[str], arrays: tuple[Any, ...]
) -> dict[str, Any]:
    """The gradient by those that are asked for, but for those by which it is 0 everywhere."""
    live = call.function.live(asked, seeds)
    wanted = tuple(name for name in asked if name in live)
    if not wanted:
        return {}
    found = _gradient(call, tuple(seeds), wanted, tuple(seeds.values()), arrays)
    return dict(zip(wanted, found))


@partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _gradient(
    call: _Call,
    outputs: tuple[str, ...],
    wanted: tuple[str, ...],
    seeds: tuple[Any, ...],
    arrays: tuple[Any, ...],
) -> list[Any]:
    """The gradient of outputs, weighed by seeds, by some of the arrays."""

    def evaluate(
        seeds: Sequence[Array], values: Mapping[str, Any]
    ) -> tuple[list[Array], list[Fault]]:
        found, faults = call.function.gradient(values, wanted, dict(zip(outputs, seeds)))
        return [found[name] for name in wanted], faults

    shapes = dict(zip(call.names, call.shapes))
    results = [jax.ShapeDtypeStruct(shapes[name], np.float32) for name in wanted]
    found: list[Any] = call.callback(evaluate, results, wanted, seeds, arrays)
    return found


def _gradient_forward(
    call: _Call,
    outputs: tuple[str, ...],
    wanted: tuple[str, ...],
    seeds: tuple[Any, ...],
    arrays: tuple[Any, ...],
) -> tuple[list[Any], Any]:
    own = zip(call.names, arrays)
    asked = tuple(name for name, array in own if array.perturbed and call.is_float(name))
    of_seeds = tuple(path for path, seed in zip(outputs, seeds) if seed.perturbed)
    plain = (tuple(seed.value for seed in seeds), tuple(array.value for array in arrays))
    return _gradient(call, outputs, wanted, *plain), (_Names(of_seeds), _Names(asked), plain)


def _gradient_backward(
    call: _Call, outputs: tuple[str, ...], wanted: tuple[str, ...], kept: Any, grads: Sequence[Any]
) -> tuple[Any, Any]:
    of_seeds, asked, (seeds, arrays) = kept
    changes = {
        name: grad for name, grad in zip(wanted, grads) if not isinstance(grad, SymbolicZero)
    }
    by_seeds: dict[str, Any] = {}
    found: dict[str, Any] = {}
    if changes:
        along, more, tangent = call.along(outputs, changes)
        wide = (*arrays, *more)
        if of_seeds.names:
            own = dict(zip(along.function.outputs, _values(along, wide)))
            by_seeds = {path: own[tangent.outputs[path]] for path in of_seeds.names}
        again = {tangent.outputs[path]: seed for path, seed in zip(outputs, seeds)}
        found = _live_gradient(along, again, asked.names, wide)
    return tuple(by_seeds.get(path) for path in outputs), tuple(map(found.get, call.names))


_gradient.defvjp(_gradient_forward, _gradient_backward, symbolic_zeros=True)
