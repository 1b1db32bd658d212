"""A step of a fit of an image of 128² by four parameters, beside Dr.Jit.

One thread each, LLVM mode, every contender warm, the gradients checked against each other first.
Skipped by name without Dr.Jit or libLLVM.
"""

import time
from collections.abc import Callable


import numpy as np

import adumbra

SIDE = 128
SOURCE = """
shader rings(float count = 20.0, float gain = 0.8, float bend = 0.3, float phase = 0.1, out float c)
{
    float2 p = global_value<uv> - 0.5;
    float r = sqrt(dot(p, p) + 0.01);
    c = gain * sin(count * r + bend * p.x * p.y + phase);
}
"""
NAMES = ["count", "gain", "bend", "phase"]
START = {"count": 20.0, "gain": 0.8, "bend": 0.3, "phase": 0.1}
GOAL = {"count": 22.0, "gain": 0.9, "bend": 0.5, "phase": 0.2}


LOSS = SOURCE.replace("out float c)", "out float error)").replace("    c = gain", "    float c = gain").replace(
    "phase);", "phase);\n    error = (c - global_value<target>) * (c - global_value<target>);"
)


def of_adumbra() -> Callable[[], tuple[float, list[float]]]:
    """The loss in the shader: one pass."""
    program = adumbra.compile(LOSS, globals={"target": "float"})
    values = {**adumbra.pixels(SIDE), **START}
    values["target"] = adumbra.image(adumbra.compile(SOURCE), SIDE, GOAL)
    by = program.gradient(NAMES)

    def step() -> tuple[float, list[float]]:
        done = by.evaluate(values, {"error": 1 / SIDE**2})
        return float(done.outputs["error"].mean()), [float(done.grads[name]) for name in NAMES]

    return step


def of_numpy() -> Callable[[], tuple[float, list[float]]]:
    """The loss by NumPy: its derivative is the seed."""
    program = adumbra.compile(SOURCE)
    values = {**adumbra.pixels(SIDE), **START}
    target = adumbra.image(program, SIDE, GOAL)
    by = program.gradient(NAMES)

    def step() -> tuple[float, list[float]]:
        away = program.evaluate(values)["c"] - target
        grads = by.evaluate(values, {"c": (2 / away.size) * away}).grads
        return float(np.square(away).mean()), [float(grads[name]) for name in NAMES]

    return step


def of_drjit() -> Callable[[], tuple[float, list[float]]]:
    import drjit as dr
    from drjit.llvm.ad import Float

    dr.set_thread_count(1)
    at = (np.arange(SIDE) + 0.5) / SIDE - 0.5
    x, y = (Float(plane.astype(np.float32).ravel()) for plane in np.meshgrid(at, at))

    def draw(values: dict[str, object]) -> object:
        r = dr.sqrt(x * x + y * y + 0.01)
        return values["gain"] * dr.sin(values["count"] * r + values["bend"] * x * y + values["phase"])

    target = draw({name: Float(value) for name, value in GOAL.items()})
    dr.eval(target)

    def step() -> tuple[float, list[float]]:
        values = {name: dr.opaque(Float, value) for name, value in START.items()}
        for value in values.values():
            dr.enable_grad(value)
        away = draw(values) - target
        loss = dr.mean(away * away)
        dr.backward(loss)
        found = [dr.grad(values[name]) for name in NAMES]
        dr.eval(loss, *found)
        dr.sync_thread()
        return float(loss[0]), [float(slope[0]) for slope in found]

    return step


def least(step: Callable[[], object], count: int = 200) -> float:
    """The least time of a step in seconds, over many."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    own, by_numpy = of_adumbra(), of_numpy()
    for _ in range(20):
        own()
        by_numpy()
    print(f"adumbra   {least(own) * 1e3:.3f} ms a step, {least(by_numpy) * 1e3:.3f} ms with a loss by NumPy")
    try:
        other = of_drjit()
        for _ in range(20):
            other()
    except Exception as error:  # what is missing has many types there
        print(f"skipped: Dr.Jit does not run here ({type(error).__name__}: {error})")
        return
    for step in (own, by_numpy):
        (loss, slopes), (same, others) = step(), other()
        assert np.isclose(loss, same, rtol=1e-4)
        assert np.allclose(slopes, others, rtol=1e-3, atol=1e-6), (slopes, others)
    seconds = [least(step) for _ in range(4) for step in (own, by_numpy, other)]
    ours, numpys, theirs = (min(seconds[at::3]) for at in range(3))
    print(f"Dr.Jit    {theirs * 1e3:.3f} ms; adumbra's over it {ours / theirs:.2f}, by NumPy {numpys / theirs:.2f}")


if __name__ == "__main__":
    main()
