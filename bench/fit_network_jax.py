"""The network of examples/fit_network.rs in JAX: the same weights, image and steps, on one thread.

python3 bench/fit_network_jax.py, with jax and numpy installed.
"""

import os
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax
import jax.numpy as jnp
import numpy as np

SIDE, STEPS = 64, 200


def weights():
    """The weights that the example begins with, by its generator."""
    state, found = 1, []
    for at in range(3 * 64 + 65 * 64 + 65 * 3):
        state = (state * 747796405 + 2891336453) & 0xFFFFFFFF
        most = np.float32(12.0) if at < 192 else np.sqrt(np.float32(6.0) / np.float32(64.0))
        between = np.float32(2.0) * np.float32(state >> 8) / np.float32(1 << 24) - np.float32(1.0)
        found.append(most * between)
    return np.array(found, dtype=np.float32)


def points():
    """Places from -1 to 1, and the colors of the image there."""
    at = (np.arange(SIDE) + 0.5) / SIDE
    x, y = np.meshgrid(at, at)
    near = np.cos(9.0 * np.hypot(x - 0.3, y - 0.4))
    far = np.cos(14.0 * np.hypot(x - 0.8, y - 0.9))
    color = [0.5 + 0.4 * near, 0.2 + 0.5 * y + 0.2 * far, 0.5 + 0.25 * near * far]
    place = np.stack([2.0 * x - 1.0, 2.0 * y - 1.0], -1)
    return (
        place.reshape(-1, 2).astype(np.float32),
        np.stack(color, -1).reshape(-1, 3).astype(np.float32),
    )


@jax.jit
@jax.value_and_grad
def loss(w, place, color):
    first, second, third = w[:192], w[192:4352], w[4352:]
    first, second, third = first.reshape(64, 3), second.reshape(64, 65), third.reshape(3, 65)
    inner = jnp.sin(place @ first[:, :2].T + first[:, 2])
    inner = jnp.sin(inner @ second[:, :64].T + second[:, 64])
    return jnp.mean((inner @ third[:, :64].T + third[:, 64] - color) ** 2)


w = weights()
place, color = points()
mean, square = np.zeros(w.shape), np.zeros(w.shape)
rate = np.where(np.arange(w.size) < 192, 0.05, 0.005)
for step in range(1, STEPS + 1):
    if step == 21:
        # It is compiled.
        begin = time.perf_counter()
    error, slope = loss(w, place, color)
    slope = np.array(slope, dtype=np.float64)
    mean += 0.1 * (slope - mean)
    square += 0.001 * (slope * slope - square)
    corrected = np.sqrt(square / (1.0 - 0.999**step)) + 1e-8
    w = w - (rate * (mean / (1.0 - 0.9**step)) / corrected).astype(np.float32)
    if step % 20 == 0:
        print(f"step {step}: {-10.0 * np.log10(float(error)):.2f} dB")
spent = time.perf_counter() - begin
print(f"{spent / (STEPS - 20) / SIDE**2 * 1e9:.0f} ns a point")
