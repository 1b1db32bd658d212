"""The programs W1 to W3 in Dr.Jit and in JAX beside the command, on one thread.

python3 bench/baselines.py ADUMBRA, with numpy installed, and drjit (with LLVM) or jax or both; ADUMBRA
is the command, by which results are checked first. Prints nanoseconds a point: the value, the value
with both derivatives in forward mode, and the value with its gradient in reverse mode. Of Dr.Jit
the time of kernels alone counts, of JAX that of the compiled call.
"""

import json
import os
import subprocess
import sys
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

try:
    import numpy as np
except ImportError as missing:
    sys.exit(f"skipped: baselines.py needs {missing.name}")

SIDE, ROUNDS = 512, 30
FOLDER = "cli/src/benchmarks/programs"
# The distance between the lines of the grid that a program runs on, as in `adumbra bench`.
STEPS = {"w1": 1, "w2": 4, "w3": 16}


def grid(step):
    at = (np.arange(SIDE, dtype=np.float32) + 0.5) / SIDE
    y, x = np.meshgrid(at[::step], at, indexing="ij")
    return x.ravel(), y.ravel()


class Operations:
    """What the programs need that the libraries name differently."""

    def __init__(self, module, select, uint, integer, real):
        self.module, self.select = module, select
        self.uint, self.integer, self.real = uint, integer, real


def w1(of, x, y):
    m = of.module
    x1, x2 = x + 0.5, y + 0.25
    u = x1 * x2 / (x1 + 1.0)
    return (m.sin(u) + m.log(1.0 + u) - m.exp(x2)) * (u - m.tanh(x2))


def noise(of, x, y):
    left, top = of.module.floor(x), of.module.floor(y)
    px, py = x - left, y - top
    ix, iy = of.uint(of.integer(left)), of.uint(of.integer(top))

    def corner(dx, dy):
        h = (ix + of.uint(dx)) * of.uint(374761393) + (iy + of.uint(dy)) * of.uint(668265263)
        h = (h ^ (h >> of.uint(13))) * of.uint(1274126177)
        h = h ^ (h >> of.uint(16))
        gx = of.real(h & of.uint(0xFFFF)) * (2.0 / 65535.0) - 1.0
        gy = of.real(h >> of.uint(16)) * (2.0 / 65535.0) - 1.0
        return gx * (px - dx) + gy * (py - dy)

    def fade(t):
        return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)

    a, b, c, d = corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)
    u = fade(px)
    above, below = a + (b - a) * u, c + (d - c) * u
    return above + (below - above) * fade(py)


def w2(of, x, y):
    x, y = 8.0 * x, 8.0 * y
    total, gain = 0.0, 1.0
    for _ in range(5):
        total = total + gain * noise(of, x, y)
        x, y, gain = x * 2.0, y * 2.0, gain * 0.5
    return total


def scene(of, x, y, z):
    """The distance to the scene of W3."""
    m = of.module

    def ball(cx, cy, cz, r):
        return m.sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy) + (z - cz) * (z - cz)) - r

    def blend(a, b):
        overlap = 0.3 - m.abs(a - b)
        h = of.select(overlap > 0.0, overlap, 0.0) / 0.3
        return of.select(a < b, a, b) - h * h * (0.3 / 4.0)

    return blend(blend(ball(-0.5, 0.0, 1.0, 0.8), ball(0.6, 0.3, 0.5, 0.6)), y + 1.0)


def direction(m, x, y):
    dx, dy = (x - 0.5) * 1.6, (y - 0.5) * 1.6
    scale = 1.0 / m.sqrt(dx * dx + dy * dy + 1.0)
    return dx * scale, dy * scale, scale


def march(of, t, along):
    """A step: the distance, and whether it is the last one."""
    d = scene(of, t * along[0], t * along[1], t * along[2] - 3.0)
    return d, d < 1e-3


def in_drjit():
    """Times each program in Dr.Jit's LLVM mode, and yields its results."""
    import drjit as dr
    from drjit.llvm.ad import Bool, Float, Int, UInt

    dr.set_thread_count(1)
    dr.set_flag(dr.JitFlag.KernelHistory, True)
    of = Operations(dr, dr.select, UInt, Int, Float)

    def w3(of, x, y):
        along = direction(dr, x, y)

        def body(t, step, active):
            d, is_hit = march(of, t, along)
            there = dr.select(active & ~is_hit, t + d, t)
            step = step + 1
            return there, step, active & ~is_hit & (there <= 20.0) & (step < 64)

        start = (Float(0.0) + dr.zeros(Float, dr.width(x)), UInt(0), dr.full(Bool, True, dr.width(x)))
        return dr.while_loop(start, lambda t, step, active: active, body, mode="symbolic")[0]

    def run(program, kind, planes):
        x, y = Float(planes[0]), Float(planes[1])
        if kind == "value":
            found = [program(of, x, y)]
        elif kind == "dual":
            found = []
            for along in (x, y):
                dr.enable_grad(along)
                dr.set_grad(along, 1.0)
                f = program(of, x, y)
                found += [dr.detach(f), dr.forward_to(f)]
                dr.disable_grad(x, y)
        else:
            dr.enable_grad(x, y)
            f = program(of, x, y)
            dr.backward(f)
            found = [dr.detach(f), dr.grad(x), dr.grad(y)]
        dr.eval(*found)
        dr.sync_thread()
        return found

    for name, program in [("w1", w1), ("w2", w2), ("w3", w3)]:
        planes = grid(STEPS[name])
        for kind in ["value", "dual", "reverse"]:
            if (name, kind) == ("w3", "reverse"):
                continue
            least = np.inf
            for _ in range(ROUNDS):
                found = run(program, kind, planes)
                kernels = [entry["execution_time"] for entry in dr.kernel_history()]
                least = min(least, sum(kernels))
            found = [np.array(plane) for plane in found]
            yield name, kind, least * 1e6 / planes[0].size, found if kind != "dual" else found[:2] + found[3:]


def in_jax():
    """Times each program in JAX, and yields its results."""
    import jax
    import jax.numpy as jnp

    of = Operations(jnp, jnp.where, jnp.uint32, jnp.int32, jnp.float32)

    def w3(of, x, y):
        along = direction(jnp, x, y)

        def body(state):
            t, step, active = state
            d, is_hit = march(of, t, along)
            there = jnp.where(active & ~is_hit, t + d, t)
            return there, step + 1, active & ~is_hit & (there <= 20.0)

        start = (jnp.zeros_like(x), 0, jnp.ones_like(x, dtype=bool))
        return jax.lax.while_loop(lambda s: jnp.any(s[2]) & (s[1] < 64), body, start)[0]

    def of_kind(program, kind):
        def f(x, y):
            return program(of, x, y)

        def value(x, y):
            return [f(x, y)]

        def dual(x, y):
            ones, zeros = jnp.ones_like(x), jnp.zeros_like(x)
            result, dx = jax.jvp(f, (x, y), (ones, zeros))
            return [result, dx, jax.jvp(f, (x, y), (zeros, ones))[1]]

        def reverse(x, y):
            result, back = jax.vjp(f, x, y)
            return [result, *back(jnp.ones_like(result))]

        return jax.jit({"value": value, "dual": dual, "reverse": reverse}[kind])

    for name, program in [("w1", w1), ("w2", w2), ("w3", w3)]:
        planes = [jnp.array(plane) for plane in grid(STEPS[name])]
        for kind in ["value", "dual", "reverse"]:
            if (name, kind) == ("w3", "reverse"):
                continue
            compiled = of_kind(program, kind)
            least = np.inf
            for _ in range(ROUNDS):
                begin = time.process_time()
                found = jax.block_until_ready(compiled(*planes))
                least = min(least, time.process_time() - begin)
            yield name, kind, least * 1e9 / planes[0].size, [np.array(plane) for plane in found]


def check(command, name, found):
    """Compares results at some points with those of the command."""
    x, y = grid(STEPS[name])
    for point in range(5, x.size, x.size // 7):
        given = ["-g", f"x={x[point]}:1:0", "-g", f"y={y[point]}:0:1"]
        arguments = [command, "run", f"{FOLDER}/{name}.adu", *given, "--derivs", "--json"]
        printed = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
        output = printed["outputs"]["f"]
        known = [output[part] for part in ["value", "ddx", "ddy"]]
        for plane, expected in zip(found, known):
            assert np.isclose(plane[point], expected, rtol=1e-3, atol=1e-3), (name, point, known)


def ours(command):
    """Our times: those of machine code at the best level."""
    arguments = [command, "bench", "--rounds", "9", "--json"]
    printed = json.loads(subprocess.run(arguments, check=True, capture_output=True).stdout)
    level = "avx512" if "w1_avx512_value_native_min_ns" in printed else "avx2"
    for name in STEPS:
        for kind in ["value", "dual", "reverse"]:
            of_reverse = f"gradient_{name}_{level}_reverse_native_min_ns"
            yield name, kind, printed[of_reverse if kind == "reverse" else f"{name}_{level}_{kind}_native_min_ns"]


def main():
    command = sys.argv[1]
    times = {(name, kind): ns for name, kind, ns in ours(command)}
    for baseline, measure in [("drjit", in_drjit), ("jax", in_jax)]:
        try:
            for name, kind, ns, found in measure():
                check(command, name, found)
                own = times[name, kind]
                print(f"{name} {kind:7} {baseline:5} {ns:7.2f} ns, ours {own:7.2f} ns, {ns / own:5.2f} x")
        except ImportError as missing:
            print(f"skipped: {missing}")


main()
