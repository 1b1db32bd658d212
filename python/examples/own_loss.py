"""An own loss over an own image, fitted: colours by their logarithms, under a mask."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import adumbra

program = adumbra.compile(
    """
    shader sunset(float height = 0.3, float glow = 4.0, color low = color(1, 0.5, 0.2), color high = color(0.1, 0.2, 0.6), out color c)
    {
        float y = global_value<uv>.y;
        c = mix(high, low, exp(-glow * abs(y - height)));
    }
    """
)
target = adumbra.image(program, 128, {"height": 0.7, "glow": 2.5, "low": (0.9, 0.3, 0.3)})
mask = np.ones((128, 128, 1), np.float32)
mask[:, :40] = 0

names = ["height", "glow", "low", "high"]
values: dict[str, NDArray[Any]] = {name: np.array(program.inputs[name].default, np.float32) for name in names}
mean: dict[str, NDArray[Any]] = {name: np.zeros_like(values[name]) for name in names}
square: dict[str, NDArray[Any]] = {name: np.zeros_like(values[name]) for name in names}
pixels = adumbra.pixels(128)
for step in range(1, 601):
    c = program.evaluate({**pixels, **values})["c"]
    away = mask * (np.log1p(c) - np.log1p(target))
    seed = 2 * away / (1 + c) / away.size
    grads = program.grad({**pixels, **values}, wrt=names, seeds={"c": seed})
    for name in names:  # Adam
        mean[name] = 0.9 * mean[name] + 0.1 * grads[name]
        square[name] = 0.99 * square[name] + 0.01 * grads[name] ** 2
        deviation = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
        move = 0.02 * mean[name] / (1 - 0.9**step) / deviation
        values[name] = (values[name] - move).astype(np.float32)
    if step % 100 == 0:
        print(f"step {step}: loss {np.square(away).mean():.2e}")
print({name: np.round(value, 3).tolist() for name, value in values.items()})
assert np.square(away).mean() < 1e-5
