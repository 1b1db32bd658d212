"""Images and sweeps on many machines, as arrays of Dask.

Blocks are evaluated by the workers, from programs that travel as their sources. A block has the same
bits wherever it is evaluated, and again if a worker is lost. Needs `dask[array]`; a scheduler of many
machines is `dask.distributed`'s.
"""

import itertools
import math
import time as _time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._adumbra import Program
from ._image import _shown_output, _sides
from ._image import image as _image

try:
    import dask.array as _dask_array
except ImportError as error:
    raise ImportError("adumbra.dask needs Dask: pip install 'dask[array]'") from error

__all__ = ["image", "sweep"]

# It has no types of its own.
da: Any = _dask_array

# The least work of a block in seconds: what a task costs its scheduler is a hundredth of it.
_WORK = 0.1
# The sides of blocks, in pixels, between which one is chosen by measuring.
_LEAST, _MOST = 256, 2048
# The side of the part of the image that is measured.
_PROBE = 64


def _block_side(program: Program, size: tuple[int, int], options: Mapping[str, Any]) -> int:
    """The side of blocks that take as long as they should, by a part in the middle of the image."""
    width, height = size
    left, top = max(0, (width - _PROBE) // 2), max(0, (height - _PROBE) // 2)
    region = (left, top, min(width, left + _PROBE), min(height, top + _PROBE))
    _image(program, size, region=region, **options)
    began = _time.perf_counter()
    _image(program, size, region=region, **options)
    seconds = _time.perf_counter() - began
    pixels = (region[2] - region[0]) * (region[3] - region[1])
    side = math.sqrt(_WORK * pixels / max(seconds, 1e-9))
    return min(max(_LEAST, 1 << math.ceil(math.log2(side))), _MOST)


def _block(
    program: Program,
    size: tuple[int, int],
    options: Mapping[str, Any],
    block_info: Mapping[Any, Mapping[str, Any]],
) -> np.ndarray[Any, Any]:
    (top, bottom), (left, right), *_ = block_info[None]["array-location"]
    return _image(program, size, region=(left, top, right, bottom), **options)


def _chunks(side: int, whole: int) -> tuple[int, ...]:
    return tuple(min(side, whole - first) for first in range(0, whole, side))


def image(
    program: Program,
    size: int | tuple[int, int],
    values: Mapping[str, Any] | None = None,
    *,
    chunks: int | None = None,
    output: str | None = None,
    **options: Any,
) -> Any:
    """An image as a Dask array (height, width) or (height, width, n), whose blocks workers draw.

    `chunks` is the side of blocks in pixels; without it they take 0.1 s or more, by
    measuring a small part of the image here. The rest is as for `adumbra.image`; textures that are
    given as arrays travel with each task, so paths that all machines can read are better.
    """
    width, height = _sides(size)
    name = _shown_output(program, output)
    own = {"values": dict(values or {}), "output": name, **options}
    side = chunks or _block_side(program, (width, height), own)
    shape = program.outputs[name].shape or ()
    dtype = program.outputs[name].dtype
    return da.map_blocks(
        _block,
        program=program,
        size=(width, height),
        options=own,
        chunks=(_chunks(side, height), _chunks(side, width), *((n,) for n in shape)),
        dtype=dtype,
        meta=np.empty((0,) * (2 + len(shape)), dtype),
    )


def sweep(
    program: Program,
    size: int | tuple[int, int],
    over: Mapping[str, Sequence[Any]],
    values: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Images for all combinations of inputs: a Dask array with a side for each of `over` first.

    `over` has values by input: `{"gain": [1, 2, 3], "radius": [0.1, 0.2]}` gives an array
    (3, 2, height, width, …). The rest is as for `image`.
    """
    unknown = [name for name in over if name not in program.inputs and name not in program.globals]
    if unknown:
        raise KeyError(f"the program has no input or global `{unknown[0]}`")
    lists = [list(own) for own in over.values()]
    if not all(lists):
        raise ValueError("a sweep has one value of each input at least")
    images = [
        image(program, size, {**(values or {}), **dict(zip(over, own))}, **options)
        for own in itertools.product(*lists)
    ]
    stacked = da.stack(images)
    return stacked.reshape((*map(len, lists), *images[0].shape))
