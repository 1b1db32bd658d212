"""Shaders as functions of PyTorch's tensors.

>>> import adumbra, adumbra.torch, torch
>>> program = adumbra.compile("shader s(float k = 2.0, out float o) { o = k * k; }")
>>> k = torch.tensor(3.0, requires_grad=True)
>>> adumbra.torch.function(program)(k=k).backward()
>>> k.grad
tensor(6.)

Forward and backward keep nothing but tensors that were given: what a derivative needs is computed
again. So gradients can be taken twice, by any thread, and of gradients.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._adumbra import Dual, Program
from ._differentiable import Array, Differentiable, Options, Tangent, differentiable

try:
    import torch
    from torch import Tensor
except ImportError as error:
    raise ImportError("`adumbra.torch` needs PyTorch: `pip install torch`") from error

if TYPE_CHECKING:
    from ._adumbra import _Engine, _Errors, _Rules

__all__ = ["Function", "function"]


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
    errors: "_Errors" = "raise",
) -> "Function":
    """A shader as a function of tensors, for `torch.autograd` and `torch.func`.

    The function takes the program's values by name: inputs, globals, buffers, and textures as
    tensors of shape (height, width) or (height, width, channels). Shapes are those of
    `Program.evaluate`. Tensors have gradients, in their own dtype and shape; numbers, NumPy arrays
    and `Dual` are constants, except for the value of a `Dual` that is a tensor. Names with a prefix
    or a dot come as `**{"global:x": x, "ray.origin": origin}`. It computes with four-byte floats.

    `of` names the outputs: one name gives a tensor, several give a dict of tensors by name. If it
    is not given, a program with one output gives a tensor, any other the dict of all. Outputs of
    integers, and those to which nothing leads from a tensor, require no gradient.

    A gradient is computed by those tensors alone that require it; with `wrt` by those of these
    names alone, and that there is such a gradient is checked at once. With `rules` "pair" or "edge"
    it has what edges move, between neighbours along `axes`; then it is backward alone, and of first
    order. Derivatives by "smooth" are of any order, forward too.

    `textures` has images that are constants. `threads`, `engine`, `steps` and `errors` are those of
    `Program.evaluate`; faults are raised, unless `errors="return"` says that they do not matter.

    Raises `CompileError` if there is no such gradient, `KeyError` of unknown names.
    """
    options = Options(
        rules=rules,
        axes=axes,
        textures=dict(textures or {}),
        threads=threads,
        engine=engine,
        steps=steps,
        errors=errors,
    )
    made, chosen, is_single = differentiable(program, of, wrt, options)
    return Function(made, chosen, is_single)


class Function:
    """A shader as a function of tensors: `function` makes it. It can be pickled."""

    def __init__(
        self, differentiable: Differentiable, wrt: Sequence[str] | None, is_single: bool
    ) -> None:
        self._differentiable = differentiable
        self._wrt = wrt
        self._is_single = is_single

    def __call__(self, **values: Any) -> Any:
        """The outputs, with the points of globals along their first sides."""
        tensors: dict[str, Tensor] = {}
        constants: dict[str, Any] = {}
        changes: dict[str, tuple[Any, Any]] = {}
        for name, value in values.items():
            self._differentiable.parameter(name)
            if isinstance(value, Dual) and isinstance(value.value, Tensor):
                changes[name] = (_constant(name, value.ddx), _constant(name, value.ddy))
                value = value.value
            if not isinstance(value, Tensor):
                constants[name] = value
                continue
            _check_device(name, value)
            is_constant = self._wrt is not None and name not in self._wrt
            tensors[name] = value.detach() if is_constant else value
        call = _Call(self._differentiable, tuple(tensors), constants, changes)
        outputs = _Values.apply(call, *tensors.values())
        if self._is_single:
            return outputs[0]
        return dict(zip(self._differentiable.outputs, outputs))

    def __repr__(self) -> str:
        names = ", ".join(self._differentiable.outputs)
        return f"<adumbra.torch.Function {self._differentiable.program.name}: {names}>"


def _check_device(name: str, tensor: Tensor) -> None:
    if tensor.device.type != "cpu":
        device = tensor.device
        on = f"`{name}` is on the device {device}, and shaders run on the CPU"
        raise ValueError(f"{on}: give `{name}.cpu()`")
    if tensor.layout != torch.strided:
        layout = tensor.layout
        raise ValueError(f"`{name}` has the layout {layout}: give `{name}.to_dense()`")


def _constant(name: str, change: Any) -> Any:
    """What a value changes by from pixel to pixel, which has no gradient."""
    if not isinstance(change, Tensor):
        return change
    _check_device(name, change)
    if change.requires_grad:
        message = f"the changes of `{name}` per pixel have no gradient: give `ddx.detach()`"
        raise ValueError(message)
    return _array(change)


def _array(tensor: Tensor) -> Array:
    """A tensor's memory as an array; a new one if NumPy has no such numbers."""
    plain = tensor.detach().resolve_neg().resolve_conj()
    return (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy()


@dataclass(frozen=True, eq=False)
class _Call:
    """What is evaluated, but for the tensors."""

    function: Differentiable
    names: tuple[str, ...]
    """Of the tensors, in their order."""
    constants: Mapping[str, Any]
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Of tensors that are `Dual`: along x and y."""

    def values(self, tensors: Sequence[Tensor]) -> dict[str, Any]:
        """All values by name."""
        given = dict(self.constants)
        for name, tensor in zip(self.names, tensors):
            array = _array(tensor)
            given[name] = Dual(array, *self.changes[name]) if name in self.changes else array
        return given

    def is_float(self, name: str) -> bool:
        """Whether there are gradients by that one."""
        return self.function.parameter(name).is_float

    def leads(self) -> list[str]:
        """The outputs to which something leads from one of the tensors."""
        floats = [name for name in self.names if self.is_float(name)]
        return [path for path in self.function.floats() if self.function.leads(floats, path)]

    def along(
        self, outputs: Sequence[str], changes: Mapping[str, Tensor]
    ) -> tuple["_Call", list[Tensor], Tangent]:
        """The derivative of outputs along changes of tensors, and the tensors it has further."""
        tangent = self.function.tangent(changes, outputs)
        more: dict[str, Tensor] = {}
        for name, change in changes.items():
            more |= tangent.changes(self.function.parameter(name), change)
        names = (*self.names, *more)
        call = _Call(tangent.function, names, self.constants, self.changes)
        return call, list(more.values()), tangent

    def sides(self, tensors: Sequence[Tensor], in_dims: Sequence[int | None]) -> int:
        """How many sides points have, those of a batch aside."""
        most = 0
        shapes = {
            name: tuple(tensor.shape) if dim is None else _without(tensor.shape, dim)
            for name, tensor, dim in zip(self.names, tensors, in_dims)
        }
        for name, value in self.constants.items():
            parts = (value.value, value.ddx, value.ddy) if isinstance(value, Dual) else (value,)
            if self.function.parameter(name).kind == "global":
                sides = max(np.ndim(part) for part in parts)
                most = max(most, sides - len(self.function.parameter(name).shape))
        for name, (ddx, ddy) in self.changes.items():
            sides = max(np.ndim(ddx), np.ndim(ddy))
            most = max(most, sides - len(self.function.parameter(name).shape))
        for name, shape in shapes.items():
            parameter = self.function.parameter(name)
            if parameter.kind == "global":
                most = max(most, len(shape) - len(parameter.shape))
        return most

    def can_fold(self, in_dims: Sequence[int | None]) -> bool:
        """Whether a batch of tensors is more points: that of globals is, unless edges are sought,
        which are between neighbours."""
        batched = (name for name, dim in zip(self.names, in_dims) if dim is not None)
        return self.function.options.rules == "smooth" and all(
            self.function.parameter(name).kind == "global" for name in batched
        )


def _without(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    dim %= len(shape)
    return (*shape[:dim], *shape[dim + 1 :])


def _folded(tensor: Tensor, dim: int, value_sides: int, sides: int) -> Tensor:
    """A batch of arrays as one array with the batch along the first side of its points."""
    tensor = tensor.movedim(dim, 0)
    missing = sides - (tensor.dim() - 1 - value_sides)
    return tensor.reshape(tensor.shape[0], *(1,) * missing, *tensor.shape[1:])


def _one(tensor: Tensor | None, dim: int | None, at: int) -> Tensor | None:
    """One of a batch."""
    return tensor if tensor is None or dim is None else tensor.select(dim, at)


class _Values(torch.autograd.Function):
    """Outputs of tensors."""

    @staticmethod
    def forward(call: _Call, *tensors: Tensor) -> tuple[Tensor, ...]:
        outputs, _ = call.function.evaluate(call.values(tensors))
        return tuple(torch.from_numpy(outputs[path]) for path in call.function.outputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        call, *tensors = inputs
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)
        leads = call.leads()
        paths = zip(call.function.outputs, output)
        ctx.mark_non_differentiable(*(tensor for path, tensor in paths if path not in leads))

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        call: _Call = ctx.call
        paths = call.function.outputs
        seeds = {path: grad for path, grad in zip(paths, grads) if grad is not None}
        asked = [
            name
            for name, needs in zip(call.names, ctx.needs_input_grad[1:])
            if needs and call.is_float(name)
        ]
        found = _gradient(call, seeds, asked, ctx.saved_tensors)
        return (None, *(found.get(name) for name in call.names))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        call: _Call = ctx.call
        tensors = ctx.saved_tensors
        changes = _changes(call, tangents)
        leads = call.leads()
        if not leads or not changes:
            return (None,) * len(call.function.outputs)
        along, more, tangent = call.along(leads, changes)
        found = dict(zip(along.function.outputs, _Values.apply(along, *tensors, *more)))
        return tuple(found.get(tangent.outputs.get(path, "")) for path in call.function.outputs)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], call: _Call, *tensors: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        dims = in_dims[1:]
        if call.can_fold(dims):
            sides = call.sides(tensors, dims)
            folded = [
                tensor
                if dim is None
                else _folded(tensor, dim, len(call.function.parameter(name).shape), sides)
                for name, tensor, dim in zip(call.names, tensors, dims)
            ]
            outputs = _Values.apply(call, *folded)
        else:
            each = [
                _Values.apply(call, *(_one(own, dim, at) for own, dim in zip(tensors, dims)))
                for at in range(info.batch_size)
            ]
            outputs = tuple(torch.stack(own) for own in zip(*each))
        return outputs, (0,) * len(outputs)


def _changes(call: _Call, tangents: Sequence[Tensor | None]) -> dict[str, Tensor]:
    """The tangents that there are, by name."""
    return {
        name: tangent
        for name, tangent in zip(call.names, tangents)
        if tangent is not None and call.is_float(name)
    }


def _gradient(
    call: _Call, seeds: Mapping[str, Tensor], asked: Sequence[str], tensors: Sequence[Tensor]
) -> dict[str, Tensor]:
    """The gradient by those that are asked for, but for those by which it is 0 everywhere."""
    live = call.function.live(asked, seeds)
    wanted = tuple(name for name in asked if name in live)
    if not wanted:
        return {}
    found = _Gradient.apply(call, tuple(seeds), wanted, *seeds.values(), *tensors)
    return dict(zip(wanted, found))


class _Gradient(torch.autograd.Function):
    """The gradient of outputs, weighed by seeds, by some of the tensors."""

    @staticmethod
    def forward(
        call: _Call, outputs: tuple[str, ...], wanted: tuple[str, ...], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        seeds = dict(zip(outputs, map(_array, tensors)))
        own = dict(zip(call.names, tensors[len(outputs) :]))
        values = call.values(tensors[len(outputs) :])
        found, _ = call.function.gradient(values, wanted, seeds)
        return tuple(
            torch.from_numpy(found[name]).to(own[name].dtype).reshape(own[name].shape)
            for name in wanted
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.call, ctx.outputs, ctx.wanted, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        call: _Call = ctx.call
        count = len(ctx.outputs)
        seeds, tensors = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        changes = {name: grad for name, grad in zip(ctx.wanted, grads) if grad is not None}
        if not changes:
            return (None,) * (3 + len(ctx.saved_tensors))
        along, more, tangent = call.along(ctx.outputs, changes)
        needs = ctx.needs_input_grad[3:]
        by_seeds: dict[str, Tensor] = {}
        if any(needs[:count]):
            values = _Values.apply(along, *tensors, *more)
            by_seeds = dict(zip(along.function.outputs, values))
        asked = [
            name
            for name, needed in zip(call.names, needs[count:])
            if needed and call.is_float(name)
        ]
        again = {tangent.outputs[path]: seed for path, seed in zip(ctx.outputs, seeds)}
        found = _gradient(along, again, asked, (*tensors, *more))
        return (
            None,
            None,
            None,
            *(
                by_seeds.get(tangent.outputs[path]) if needed else None
                for path, needed in zip(ctx.outputs, needs)
            ),
            *(found.get(name) for name in call.names),
        )

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Tensor | None, ...]:
        call: _Call = ctx.call
        count = len(ctx.outputs)
        seeds, tensors = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
        of_seeds = dict(zip(ctx.outputs, tangents[3 : 3 + count]))
        of_seeds = {path: change for path, change in of_seeds.items() if change is not None}
        found: dict[str, Tensor] = {}
        if of_seeds:
            found = _gradient(call, of_seeds, ctx.wanted, tensors)
        changes = _changes(call, tangents[3 + count :])
        if changes:
            along, more, tangent = call.along(ctx.outputs, changes)
            again = {tangent.outputs[path]: seed for path, seed in zip(ctx.outputs, seeds)}
            for name, added in _gradient(along, again, ctx.wanted, (*tensors, *more)).items():
                found[name] = found[name] + added if name in found else added
        return tuple(found.get(name) for name in ctx.wanted)

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[Any, ...],
        call: _Call,
        outputs: tuple[str, ...],
        wanted: tuple[str, ...],
        *tensors: Tensor,
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        dims = in_dims[3:]
        count = len(outputs)
        of_values = dict(zip(call.names, zip(tensors[count:], dims[count:])))
        is_by_points = all(call.function.parameter(name).kind == "global" for name in wanted)
        if is_by_points and call.can_fold(dims[count:]):
            sides = call.sides(tensors[count:], dims[count:])
            value_sides = [len(call.function.outputs[path][0]) for path in outputs]
            value_sides += [len(call.function.parameter(name).shape) for name in call.names]
            # What a gradient is by has a place of its own for each of the batch.
            by = [None] * count + [name if name in wanted else None for name in call.names]
            folded = []
            for tensor, dim, own, name in zip(tensors, dims, value_sides, by):
                if dim is None and name is not None:
                    tensor, dim = tensor.expand(info.batch_size, *tensor.shape), 0
                folded.append(tensor if dim is None else _folded(tensor, dim, own, sides))
            found = _Gradient.apply(call, outputs, wanted, *folded)
            shapes = [
                of.shape if dim is None else _without(of.shape, dim)
                for of, dim in (of_values[name] for name in wanted)
            ]
            found = tuple(
                own.reshape(info.batch_size, *shape) for own, shape in zip(found, shapes)
            )
        else:
            each = [
                _Gradient.apply(
                    call, outputs, wanted, *(_one(own, dim, at) for own, dim in zip(tensors, dims))
                )
                for at in range(info.batch_size)
            ]
            found = tuple(torch.stack(own) for own in zip(*each))
        return found, (0,) * len(found)
