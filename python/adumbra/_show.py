"""Images and derivatives in a notebook."""

import os
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._adumbra import write_image


class Shown:
    """An image that a notebook shows. `save` writes it to a PNG file."""

    def __init__(self, linear: NDArray[np.float32], scale: float | None) -> None:
        self._linear = linear
        #: What white is, and black below 0, in a view of derivatives; else None.
        self.scale = scale

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the image to a file, .png or .exr."""
        write_image(path, self._linear)

    def _repr_png_(self) -> bytes:
        with tempfile.TemporaryDirectory(prefix="adumbra-") as folder:
            path = Path(folder) / "shown.png"
            self.save(path)
            return path.read_bytes()

    def __repr__(self) -> str:
        height, width = self._linear.shape[:2]
        scale = "" if self.scale is None else f", black -{self.scale:.6g}, grey 0, white {self.scale:.6g}"
        return f"<Shown {width}x{height}{scale}>"


def show(image: ArrayLike, view: Literal["colors", "signed"] = "colors") -> Shown:
    """An image for a notebook, of an array (height, width) or (height, width, channels).

    `"colors"` shows linear colours; two channels are red and green. `"signed"` shows derivatives,
    gradients and differences: 0 is grey, and the greatest number white, or black below 0.

    >>> import adumbra, numpy as np
    >>> adumbra.show(np.array([[-2.0, 0.5]]), "signed")
    <Shown 2x1, black -2, grey 0, white 2>
    """
    array: NDArray[Any] = np.asarray(image, np.float32)
    if array.ndim not in (2, 3):
        raise ValueError(f"an image has the shape (height, width) or (height, width, channels), not {array.shape}")
    if array.ndim == 3 and array.shape[2] == 2:
        array = np.concatenate([array, np.zeros_like(array[..., :1])], axis=2)
    if view == "colors":
        return Shown(np.clip(array, 0, 1), None)
    if view != "signed":
        raise ValueError(f'a view is "colors" or "signed", not {view!r}')
    finite = np.abs(array[np.isfinite(array)])
    scale = float(finite.max()) if finite.size else 0.0
    stored = 0.5 + 0.5 * np.nan_to_num(array / (scale or 1.0), nan=0.0, posinf=1.0, neginf=-1.0)
    # The file's curve is undone, so that what is stored is even.
    linear = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    return Shown(linear.astype(np.float32), scale)
