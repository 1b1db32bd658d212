"""Fully connected networks and their gradients, beside PyTorch and JAX: nanoseconds a point.

Networks 2-16-16-1 (337 weights) and 3-64-64-1 (4,481 weights; the third input is x·y), `max(s, 0)`
after each hidden layer. The value, the gradient of the sum over all points by the points, and that
by the weights; one thread each, the least of some runs, after all have given the same numbers.
PyTorch and JAX each run by themselves, and with the shader as one of their functions. Skipped by
name where a library is not there.
"""

import os
import time
from collections.abc import Callable
from typing import Any

# Before XLA is loaded.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import adumbra

POINTS = 8192
RUNS = 5

Array = np.ndarray[Any, Any]
# By what is computed, a function that does it.
Contender = dict[str, Callable[[], Any]]


def shader(inputs: int, width: int) -> str:
    """The network with that many inputs, and that many neurons in each of two layers."""
    third = "a[2] = global_value<x> * global_value<y>;" if inputs == 3 else ""
    second = inputs * width + width
    last = second + width * width + width
    return f"""
    buffer<float> w;
    shader network(out float o)
    {{
        float a[{inputs}], b[{width}], c[{width}];
        a[0] = global_value<x>;
        a[1] = global_value<y>;
        {third}
        for (int i = 0; i < {width}; i++) {{
            float s = w[{inputs * width} + i];
            for (int j = 0; j < {inputs}; j++) s += w[{inputs} * i + j] * a[j];
            b[i] = max(s, 0.0);
        }}
        for (int i = 0; i < {width}; i++) {{
            float s = w[{second + width * width} + i];
            for (int j = 0; j < {width}; j++) s += w[{second} + {width} * i + j] * b[j];
            c[i] = max(s, 0.0);
        }}
        o = w[{last + width}];
        for (int i = 0; i < {width}; i++) o += w[{last} + i] * c[i];
    }}"""


def weights(inputs: int, width: int) -> Array:
    """Weights that are alike in size, and differ."""
    count = inputs * width + width + width * width + width + width + 1
    found: Array = 0.5 * np.sin(0.42 + 0.42 * np.arange(count))
    return found.astype(np.float32)


def layers(w: Any, inputs: int, width: int) -> list[tuple[Any, Any]]:
    """The matrix and the offsets of each layer."""
    found, at = [], 0
    for outputs, own_inputs in ((width, inputs), (width, width), (1, width)):
        matrix = w[at : at + outputs * own_inputs].reshape(outputs, own_inputs)
        at += outputs * own_inputs
        found.append((matrix, w[at : at + outputs]))
        at += outputs
    return found


def of_program(program: adumbra.Program, x: Array, y: Array, w: Array) -> Contender:
    """By the package alone."""
    values = {"x": x, "y": y, "w": w}
    by_points, by_weights = program.gradient(["x", "y"]), program.gradient("w")
    return {
        "value": lambda: program.evaluate(values)["o"],
        "by points": lambda: by_points.evaluate(values).grads["x"],
        "by weights": lambda: by_weights.evaluate(values).grads["w"],
    }


def of_torch(
    program: adumbra.Program, x: Array, y: Array, w: Array, sizes: tuple[int, int]
) -> dict[str, Contender]:
    """By PyTorch."""
    import torch

    import adumbra.torch

    torch.set_num_threads(1)
    function = adumbra.torch.function(program)
    own = {name: torch.from_numpy(array) for name, array in (("x", x), ("y", y), ("w", w))}

    def plain(x: Any, y: Any, w: Any) -> Any:
        at = torch.stack([x, y, x * y][: sizes[0]], -1)
        for matrix, offsets in layers(w, *sizes)[:2]:
            at = torch.relu(torch.nn.functional.linear(at, matrix, offsets))
        return torch.nn.functional.linear(at, *layers(w, *sizes)[2])[..., 0]

    def contender(network: Callable[..., Any]) -> Contender:
        def grad(*names: str) -> Any:
            asking = {name: own[name].clone().requires_grad_() for name in names}
            sum_ = network(**(own | asking)).sum()
            return torch.autograd.grad(sum_, list(asking.values()))[0].numpy()

        return {
            "value": lambda: network(**own).numpy(),
            "by points": lambda: grad("x", "y"),
            "by weights": lambda: grad("w"),
        }

    return {"PyTorch": contender(plain), "adumbra.torch": contender(function)}


def of_jax(
    program: adumbra.Program, x: Array, y: Array, w: Array, sizes: tuple[int, int]
) -> dict[str, Contender]:
    """By JAX, compiled."""
    import jax
    import jax.numpy as jnp

    import adumbra.jax

    function = adumbra.jax.function(program)
    own = [jnp.asarray(array) for array in (x, y, w)]

    def plain(x: Any, y: Any, w: Any) -> Any:
        at = jnp.stack([x, y, x * y][: sizes[0]], -1)
        for matrix, offsets in layers(w, *sizes)[:2]:
            at = jnp.maximum(at @ matrix.T + offsets, 0)
        matrix, offsets = layers(w, *sizes)[2]
        return (at @ matrix.T + offsets)[..., 0]

    def contender(network: Callable[..., Any]) -> Contender:
        value = jax.jit(network)
        by_points = jax.jit(jax.grad(lambda *all_: network(*all_).sum(), (0, 1)))
        by_weights = jax.jit(jax.grad(lambda *all_: network(*all_).sum(), 2))
        return {
            "value": lambda: np.asarray(value(*own)),
            "by points": lambda: np.asarray(by_points(*own)[0]),
            "by weights": lambda: np.asarray(by_weights(*own)),
        }

    return {
        "JAX": contender(plain),
        "adumbra.jax": contender(lambda x, y, w: function(x=x, y=y, w=w)),
    }


def least(run: Callable[[], Any]) -> float:
    """The least time of a run, in nanoseconds a point."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e9 * min(times) / POINTS


def main() -> None:
    """Prints a table of each network."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, POINTS)).astype(np.float32)
    for sizes in ((2, 16), (3, 64)):
        w = weights(*sizes)
        program = adumbra.compile(shader(*sizes), globals={"x": "float", "y": "float"})
        contenders = {"adumbra": of_program(program, x, y, w)}
        for library, of in (("torch", of_torch), ("jax", of_jax)):
            try:
                contenders |= of(program, x, y, w, sizes)
            except ImportError as error:
                print(f"skipped: {library}: {error}")
        for what, run in contenders["adumbra"].items():
            expected = run()
            scale = np.abs(expected).max()
            for name, contender in contenders.items():
                away = np.abs(contender[what]() - expected).max() / scale
                assert away < 1e-4, f"{name}, {what}: {away} away"
        print(f"{sizes[0]}-{sizes[1]}-{sizes[1]}-1, ns a point")
        print(f"{'':14}" + "".join(f"{what:>12}" for what in contenders["adumbra"]))
        for name, contender in contenders.items():
            times = (least(run) for run in contender.values())
            print(f"{name:14}" + "".join(f"{time_:12.1f}" for time_ in times), flush=True)


if __name__ == "__main__":
    main()
