"""Scenes, drawn by the command `adumbra-render`."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._adumbra import read_image


class RenderError(RuntimeError):
    """A scene that could not be drawn. Its text is what the command reports."""


def render(
    scene: Mapping[str, Any] | str | os.PathLike[str],
    *,
    views: Sequence[str] = ("beauty",),
    size: tuple[int, int] | None = None,
    samples: int | None = None,
    alpha: bool = False,
    seed: int | None = None,
    time: float = 0.0,
    threads: int = 0,
    materials: Mapping[str, str | os.PathLike[str]] | None = None,
    root: str | os.PathLike[str] | None = None,
) -> dict[str, NDArray[np.float32]]:
    """Draws a scene: for each view an array (height, width, channels) of linear floats.

    `scene` is a file (.json, .gltf, .glb, .obj, .adu), or what a .json file has, as a dict, whose
    files are found from the folder `root`. The views are `"beauty"`, with its alpha if that is
    asked for, `"level"`, the mip levels that textures are read at, `"footprint"`, and
    `"derivative=uvw"` or `"derivative-y=uvw"` of a global. `size` is (width, height), `samples` those
    of each pixel. `materials` has shaders in place of materials of the scene, by name. It runs in a
    process of its own.

    Raises `RenderError` with the report of the command.
    """
    with ExitStack() as files:
        folder = Path(files.enter_context(tempfile.TemporaryDirectory(prefix="adumbra-")))
        if isinstance(scene, Mapping):
            # Beside the files that it names.
            file = tempfile.NamedTemporaryFile("w", suffix=".json", dir=Path(root or "."))
            written = files.enter_context(file)
            json.dump(scene, written)
            written.flush()
            scene = written.name
        options = {
            "size": None if size is None else f"{size[0]}x{size[1]}",
            "spp": samples,
            "seed": seed,
            "time": time,
            "threads": threads or None,
        }
        common = [f"--{option}={value}" for option, value in options.items() if value is not None]
        for material, shader in (materials or {}).items():
            common.append(f"--material={material}={os.fspath(shader)}")
        images: dict[str, NDArray[np.float32]] = {}
        for number, view in enumerate(views):
            out = folder / f"{number}.exr"
            own = ["--alpha"] if alpha and view == "beauty" else []
            start = "from adumbra._command import adumbra_render; adumbra_render()"
            command = [sys.executable, "-c", start, os.fspath(scene), "-o", str(out)]
            command += [f"--view={view}", *own, *common]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                raise RenderError(done.stderr.strip() or f"the command ended with {done.returncode}")
            images[view] = read_image(out)
        return images
