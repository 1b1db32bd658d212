"""A material over a million points, with derivatives: ten lines, and what they cost."""

import time

import numpy as np

import adumbra

program = adumbra.compile(
    """
    shader marble(float scale = 4.0, color dark = color(0.1, 0.1, 0.2), out color c)
    {
        float3 p = scale * global_value<uvw>;
        float veins = sin(p.x + 3.0 * snoise(p) + snoise(2.0 * p));
        c = mix(dark, color(0.9, 0.9, 0.85), 0.5 + 0.5 * veins);
    }
    """
)
uvw = np.random.default_rng(0).random((1_000_000, 3), dtype=np.float32)
values = {"uvw": adumbra.Dual(uvw, ddx=(0.001, 0, 0), ddy=(0, 0.001, 0)), "scale": 6.0}
for _ in range(2):
    began = time.perf_counter()
    done = program.evaluate(values, derivatives=True, threads=0)
    seconds = time.perf_counter() - began
print(f"{seconds * 1e3:.0f} ms, mean {done['c'].mean():.4f}, ∂c/∂x {done.ddx['c'][0] if done.ddx else None}")
