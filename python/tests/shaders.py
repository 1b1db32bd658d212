"""Shaders that the tests of `adumbra.torch` and `adumbra.jax` differentiate.

The ten materials of `examples` are taken at points where they are smooth. The width of a pixel, by
which they soften what is fine, is a number here: it is of differences between pixels, which have no
backward derivative.
"""

from pathlib import Path
from typing import Any

import numpy as np

import adumbra

FOLDER = Path(__file__).parents[2] / "examples" / "materials"

NAMES = sorted(path.stem for path in FOLDER.glob("*.adu"))

POINTS = 3

WAVE = """
shader wave(float k = 2.0, float gain = 1.0, out float o) {
    o = gain * sin(k * global_value<x>);
}"""

# Structs, arrays, buffers, textures, an output of integers, and one that nothing leads to.
ALL_KINDS = """
struct ray { float3 o; float t[2]; float2 m[2]; };
buffer<float> w;
texture2d tex <<< wrap_u = "clamp", wrap_v = "clamp" >>>;
shader s(ray r, float k[3] = {1, 2, 3}, float a = 1.0,
         out float o, out ray moved, out int i, out float fixed)
{
    float2 uv = global_value<uv>;
    float read = texture2d_sample<tex>(0.9, 0.6).x;
    o = a * sin(r.o.x * k[0]) * exp(w[0] * uv.x) * r.t[1] * k[2] + w[1] * w[1] * read * read * a;
    moved = r;
    moved.o *= a * a;
    moved.t[0] = k[1] * k[0] * uv.y;
    moved.m[1] = r.m[0] * r.m[1] * a;
    i = 1;
    fixed = floor(a);
}"""

# A hard edge.
DISC = """
shader disc(float radius, out float o) {
    float2 away = global_value<pixel> - 4.3;
    o = dot(away, away) < radius * radius ? 1.0 : 0.0;
}"""

# What changes from pixel to pixel is a constant.
CHANGING = """
shader s(float k, out float o) {
    o = k * global_value<x> * no_diff ddx(global_value<x>);
}"""

# Depends on an input by a shadow.
SCREEN = "shader s(float k, out float o) { o = k * ddx(k * global_value<uv>.x); }"

# Has a backward derivative, and no forward one.
BACKWARD_ALONE = """
[BackwardDerivative(f_back)] float f(float x) { return x * x; }
void f_back(inout DifferentialPair<float> x, float cotangent) { x = diffPair(x.p, 2 * x.p * cotangent); }
shader s(float k, out float o) { o = f(k); }"""

PRODUCT = "shader s(out float o) { o = global_value<x> * global_value<y>; }"

SUM = "shader s(out float o) { o = global_value<x> + global_value<y>; }"

TEXTURED = """
texture2d t;
shader s(float k, out float o) { o = k * texture2d_sample<t>(k, k).x; }"""


def of_x(text: str) -> adumbra.Program:
    """The program of a text with the globals `x` and `y`."""
    return adumbra.compile(text, globals={"x": "float", "y": "float"})


def all_kinds() -> tuple[adumbra.Program, dict[str, np.ndarray]]:
    """The program of `ALL_KINDS`, and values for all that its outputs have derivatives by."""
    rng = np.random.default_rng(1)
    sides = {"uv": (4, 2), "w": (2,), "tex": (3, 3), "k": (3,), "a": ()}
    sides |= {"r.o": (3,), "r.t": (2,), "r.m": (2, 2)}
    values = {name: np.float32(rng.uniform(0.2, 0.9, shape)) for name, shape in sides.items()}
    return adumbra.compile(ALL_KINDS), values


def pixels(side: int) -> np.ndarray:
    """The middles of the pixels of a square."""
    y, x = np.mgrid[:side, :side].astype(np.float32) + np.float32(0.5)
    return np.stack([x, y], -1)


def material(name: str) -> adumbra.Program:
    """The program of a material."""
    return adumbra.load(FOLDER / f"{name}.adu")


def grey(program: adumbra.Program) -> dict[str, Any]:
    """Images for its textures: alike all over, so that places in them do not matter."""
    return {name: np.full((4, 4, 3), 0.6, np.float32) for name in program.textures}


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
