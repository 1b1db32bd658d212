"""The ten materials of `examples`, at points where they are smooth.

The width of a pixel, by which they soften what is fine, is a number here: it is of differences
between pixels, which have no backward derivative.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

import adumbra

FOLDER = Path(__file__).parents[2] / "examples" / "materials"

NAMES = sorted(path.stem for path in FOLDER.glob("*.adu"))

POINTS = 3


def material(name: str) -> adumbra.Program:
    """The program of a material."""
    path = FOLDER / f"{name}.adu"
    text = re.sub(r"filterwidth\(\w+\.\w+\)", "0.03", path.read_text())
    return adumbra.compile(text, name=path.name)


def grey(program: adumbra.Program) -> dict[str, Any]:
    """Images for its textures: alike all over, so that places in them do not matter."""
    return {name: np.full((4, 4, 3), 0.6, np.float32) for name in program.texture_names}


def hits(program: adumbra.Program) -> dict[str, np.ndarray]:
    """Values of its globals at some points, away from kinks."""
    # The rays of this one meet edges at other points.
    rng = np.random.default_rng(5 if program.name == "sdf_scene" else 2)

    def about(middle: list[float]) -> np.ndarray:
        return np.float32(middle) + np.float32(0.1) * rng.uniform(-1, 1, (POINTS, 3)).astype("f4")

    globals_ = {
        "position": rng.uniform(0.02, 0.2, (POINTS, 3)).astype("f4"),
        "normal": about([0, 0, 1]),
        "I": about([0.1, 0.2, -1]),
        "uvw": rng.uniform(0.1, 0.9, (POINTS, 3)).astype("f4"),
        "tangent": np.float32([1, 0, 0]),
    }
    return {name: value for name, value in globals_.items() if name in program.globals}
