"""A material over a million points with derivatives beside the Rust API, and requests of textures.

One thread each; the least of nine runs, in turn with the Rust example `million_points`.
"""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import adumbra

REPOSITORY = Path(__file__).resolve().parents[2]
POINTS = 1_000_000


def least(run: Callable[[], object]) -> float:
    """The least time of nine runs on this thread, in milliseconds."""
    times = []
    for _ in range(9):
        began = time.thread_time()
        run()
        times.append(time.thread_time() - began)
    return min(times) * 1e3


def of_rust() -> float:
    command = ["cargo", "run", "--quiet", "--release", "--example", "million_points"]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def main() -> None:
    program = adumbra.load(REPOSITORY / "python" / "bench" / "marble.adu")
    uvw = np.random.default_rng(0).random((POINTS, 3), dtype=np.float32)
    values = {"uvw": adumbra.Dual(uvw, ddx=(0.001, 0, 0), ddy=(0, 0.001, 0))}
    rust, python = [], []
    for _ in range(3):
        rust.append(of_rust())
        python.append(least(lambda: program.evaluate(values, derivatives=True, engine="native")))
    print(f"material: {min(python):.1f} ms, Rust {min(rust):.1f} ms, ratio {min(python) / min(rust):.3f}")

    source = "texture2d t; shader s(out float3 c) { c = texture2d_sample<t>(global_value<uvw>.xy); }"
    textured = adumbra.compile(source)
    texels = np.zeros((4096, 4), np.float32)
    flat = adumbra.Texture(np.ones((1, 1, 4), np.float32))

    def callback(requests: np.ndarray) -> np.ndarray:
        return texels[: len(requests)]

    without = least(lambda: adumbra.compile("shader s(out float3 c) { c = global_value<uvw>; }")(uvw=uvw))
    image = least(lambda: textured.evaluate({"uvw": uvw}, textures={"t": flat}))
    asked = least(lambda: textured.evaluate({"uvw": uvw}, textures={"t": callback}))
    requests = (asked - without) / POINTS * 1e6
    print(f"requests: a function {requests:.1f} ns, an image of one texel {(image - without) / POINTS * 1e6:.1f} ns")

    small = {"uvw": uvw[0]}
    began = time.perf_counter()
    for _ in range(10_000):
        textured.evaluate(small, textures={"t": flat})
    print(f"calls of one point: {(time.perf_counter() - began) / 10_000 * 1e6:.1f} µs")


if __name__ == "__main__":
    main()
