"""What pickles of `Texture`, `Gradient` and the programs of gradients are made by."""

from typing import Any, Literal

from ._adumbra import Gradient, Program, Texture


def texture(kind: type[Texture], arguments: tuple[Any, ...], options: dict[str, Any]) -> Texture:
    """The texture of a pickle."""
    return kind(*arguments, **options)


def gradient(
    program: Program,
    by: list[str],
    of: list[str],
    mode: Literal["backward", "forward"],
    rules: Literal["smooth", "pair", "edge"],
    axes: list[tuple[str, float]],
) -> Gradient:
    """The gradient of a pickle."""
    return program.gradient(by, of=of or None, mode=mode, rules=rules, axes=dict(axes) or None)


def gradient_program(of: Gradient) -> Program:
    """The program of a gradient."""
    return of.program
