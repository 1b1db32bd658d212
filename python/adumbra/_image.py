"""Images of shaders: the globals of pixels, and all pixels of an output."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._adumbra import Dual, Program

Region = tuple[int, int, int, int]

# Pixels that are evaluated together: what they read and give takes some megabytes.
_STRIP = 1 << 18


def _sides(size: int | tuple[int, int]) -> tuple[int, int]:
    width, height = (size, size) if isinstance(size, int) else size
    if width < 1 or height < 1:
        raise ValueError(f"an image has at least one pixel, and {width}x{height} has none")
    return width, height


def _region(region: Region | None, width: int, height: int) -> Region:
    left, top, right, bottom = region or (0, 0, width, height)
    if not (0 <= left < right <= width and 0 <= top < bottom <= height):
        raise ValueError(
            f"the region {region} is not within the image of {width}x{height} pixels:"
            " give (left, top, right, bottom), half open"
        )
    return left, top, right, bottom


def pixels(
    size: int | tuple[int, int],
    *,
    region: Region | None = None,
    time: float = 0.0,
) -> dict[str, Any]:
    """The globals of an image at all its pixels, as values of `Program.evaluate`.

    `size` is (width, height), or the side of a square. Points are along the sides (height, width),
    or those of `region`, which is (left, top, right, bottom), half open. `uv` goes from 0 to 1 along
    both axes, `pixel` has the centres of pixels, `resolution` is the size; both vary by their changes
    per pixel. They are those of the command `adumbra image`, to the bit.

    >>> import adumbra
    >>> program = adumbra.compile("shader s(out float o) { o = global_value<uv>.x; }")
    >>> program(**adumbra.pixels((4, 2)))["o"]
    array([[0.125, 0.375, 0.625, 0.875],
           [0.125, 0.375, 0.625, 0.875]], dtype=float32)
    """
    width, height = _sides(size)
    left, top, right, bottom = _region(region, width, height)
    x = np.arange(left, right, dtype=np.float64) + 0.5
    y = np.arange(top, bottom, dtype=np.float64) + 0.5

    def moving(step_x: float, step_y: float) -> Dual:
        value = np.empty((bottom - top, right - left, 2), np.float32)
        value[..., 0] = x * step_x
        value[..., 1] = (y * step_y)[:, None]
        return Dual(value, ddx=(step_x, 0.0), ddy=(0.0, step_y))

    return {
        "uv": moving(1.0 / width, 1.0 / height),
        "pixel": moving(1.0, 1.0),
        "resolution": (float(width), float(height)),
        "time": time,
    }


def _shown_output(program: Program, output: str | None) -> str:
    """The output that an image shows: the one that is named, or as the command chooses it."""
    outputs = program.outputs
    shown = [
        name
        for name, of in outputs.items()
        if of.shape is not None and len(of.shape) <= 1 and "[" not in of.type
    ]
    if output is not None:
        if output not in outputs:
            raise KeyError(f"the program has no output `{output}`, only {', '.join(outputs)}")
        if output not in shown:
            raise ValueError(f"the output `{output}` is no number and no vector")
        return output
    if not shown:
        raise ValueError("the program has no output that is a number or a vector")
    return next((name for name in ("color", "c", "o") if name in shown), shown[0])


def image(
    program: Program,
    size: int | tuple[int, int] = 512,
    values: Mapping[str, Any] | None = None,
    *,
    output: str | None = None,
    region: Region | None = None,
    time: float = 0.0,
    **options: Any,
) -> NDArray[Any]:
    """Draws an output at all pixels: an array (height, width) of numbers, (height, width, n) of vectors.

    `size` is (width, height), or the side of a square, and `region` a part of it. `values` has
    inputs, buffers, and globals beside those of `pixels`. Without `output` it is `color`, `c` or `o`,
    else the first that can be shown. The other options are those of `Program.evaluate`.
    Pixels are the same, to the bit, as those of `adumbra image -o OUT.exr`.

    >>> import adumbra
    >>> program = adumbra.compile("shader s(out color c) { c = color(global_value<uv>, 0); }")
    >>> adumbra.image(program, (640, 480)).shape
    (480, 640, 3)
    """
    name = _shown_output(program, output)
    width, height = _sides(size)
    left, top, right, bottom = _region(region, width, height)
    lines = max(1, _STRIP // (right - left))
    read = program.globals.keys()
    given = dict(values or {})
    shape = program.outputs[name].shape or ()
    whole: NDArray[Any] = np.empty((bottom - top, right - left, *shape), program.outputs[name].dtype)
    for first in range(top, bottom, lines):
        last = min(bottom, first + lines)
        own = pixels((width, height), region=(left, first, right, last), time=time)
        own = {global_: value for global_, value in own.items() if global_ in read}
        done = program.evaluate({**own, **given}, outputs=[name], **options)
        whole[first - top : last - top] = done[name]
    return whole
