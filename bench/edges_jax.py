"""The gradient of examples/edges/disc.adu in JAX: the rules `pair` at every pixel, one thread.

python3 bench/edges_jax.py ADUMBRA, with jax and numpy installed; ADUMBRA is the command, whose
gradient is compared with first.
"""

import json
import os
import subprocess
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as missing:
    sys.exit(f"skipped: edges_jax.py needs {missing.name}")

SIDE, ROUNDS = 256, 50
GROUND = jnp.array([0.3, 0.3, 0.3])
PARAMETERS = ["r", "cx", "cy", "alpha", "paint"]
VALUES = [jnp.array(value) for value in [40.0, 128.3, 126.6, 0.8, [0.9, 0.4, 0.1]]]


def margin(x, y, r, cx, cy):
    return jnp.hypot(x - cx, y - cy) - r


def colour(inside, alpha, paint):
    return jnp.where(inside[..., None], GROUND + (paint - GROUND) * alpha, GROUND)


def gradient(r, cx, cy, alpha, paint, weights):
    """The sums over all pixels of the gradient of weights · colour."""
    y, x = jnp.mgrid[:SIDE, :SIDE].astype(jnp.float32)
    here, slopes = jax.vjp(lambda r, cx, cy: margin(x, y, r, cx, cy), r, cx, cy)
    inside = here < 0.0
    _, smooth = jax.vjp(lambda alpha, paint: colour(inside, alpha, paint), alpha, paint)
    jump = jnp.sum(weights * (paint - GROUND) * alpha, axis=-1)

    def kernel(dx, dy):
        """What reaches the margin of a pixel beside a neighbour, and how far both are apart."""
        there = margin(x + dx, y + dy, r, cx, cy)
        flips = inside != (there < 0.0)
        apart = jnp.abs(there - here)
        return jnp.where(flips, -0.5 * jump / apart, 0.0), jnp.where(flips, apart, jnp.inf)

    axes = []
    for step in [(1.0, 0.0), (0.0, 1.0)]:
        (one, first), (other, second) = kernel(-step[0], -step[1]), kernel(*step)
        least = jnp.minimum(first, second)
        axes.append((one + other, jnp.where(least == jnp.inf, -1.0, least)))
    (along_x, least_x), (along_y, least_y) = axes
    adjoint = jnp.where(least_y >= least_x, along_y, along_x)
    return slopes(adjoint) + smooth(weights)


def check(found, command):
    """Compares the sums with those of the command."""
    file, size = "examples/edges/disc.adu", f"{SIDE}x{SIDE}"
    arguments = [command, "grad", file, "--size", size, "--rules", "pair", "--json"]
    printed = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
    for name, sums in zip(PARAMETERS, found):
        known = printed["gradient"][name]
        assert np.allclose(np.array(sums), np.array(known), rtol=1e-3, atol=1e-2), (name, sums, known)


compiled = jax.jit(gradient)
weights = jnp.ones((SIDE, SIDE, 3))
check(jax.block_until_ready(compiled(*VALUES, weights)), sys.argv[1])
times = []
for _ in range(ROUNDS):
    begin = time.process_time()
    jax.block_until_ready(compiled(*VALUES, weights))
    times.append(time.process_time() - begin)
print(f"{min(times) / SIDE**2 * 1e9:.1f} ns a pixel")
