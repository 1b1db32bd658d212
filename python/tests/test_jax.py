"""`adumbra.jax`: values and backward derivatives of any order, under `jit` and `vmap`, equal to
those of the command; wrong usage, found while tracing; faults."""

import doctest
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

import adumbra
import adumbra.jax
import jax.numpy as jnp
import shaders
from jax.test_util import check_grads
from shaders import BACKWARD_ALONE, CHANGING, DISC, NAMES, PRODUCT, SUM, TEXTURED, WAVE
from shaders import grey, hits, material, of_x


def wave() -> Any:
    return of_x(WAVE)


def all_kinds() -> tuple[Any, dict[str, Any]]:
    program, values = shaders.all_kinds()
    return adumbra.jax.function(program), {name: jnp.asarray(own) for name, own in values.items()}


def squares(function: Any, values: dict[str, Any]) -> Any:
    found = function(**values)
    floats = [own for own in found.values() if own.dtype == np.float32]
    return sum((own**2).sum() for own in floats)


def test_all_kinds_of_parameters_have_gradients_of_second_order() -> None:
    function, values = all_kinds()

    def outputs(*arrays: Any) -> list[Any]:
        found = function(**dict(zip(values, arrays)))
        return [own for own in found.values() if own.dtype == np.float32]

    given = tuple(values.values())
    check_grads(outputs, given, order=2, modes=["rev"], eps=1e-3, atol=1e-2, rtol=1e-2)
    assert function.take_faults() == []


@pytest.mark.parametrize("name", NAMES)
def test_materials_have_gradients(name: str) -> None:
    program = material(name)
    function = adumbra.jax.function(program, textures=grey(program))
    inputs = {name: jnp.float32(own.default) for name, own in program.inputs.items()}
    points = hits(program)

    def outputs(inputs: dict[str, Any]) -> Any:
        return function(**points, **inputs)

    check_grads(outputs, (inputs,), order=1, modes=["rev"], eps=1e-3, atol=1e-2, rtol=1e-2)
    assert function.take_faults() == []


def test_a_wrong_gradient_does_not_pass() -> None:
    function = adumbra.jax.function(wave())
    with pytest.raises(AssertionError):
        wrong = lambda k: function(k=k, x=0.5) + 0.1 * jax.lax.stop_gradient(k)
        check_grads(wrong, (0.7,), order=1, modes=["rev"], eps=1e-3, atol=1e-2, rtol=1e-2)


def test_gradients_are_those_of_the_command_to_the_bit(tmp_path: Path) -> None:
    source = """
shader disc(float radius = 0.3, float2 centre = float2(0.5, 0.4), float soft = 0.05,
            color tint = color(1, 0.5, 0.2), out color c)
{
    float2 d = global_value<uv> - centre;
    c = tint * smoothstep(radius + soft, radius - soft, length(d));
}
"""
    file = tmp_path / "disc.adu"
    file.write_text(source)
    command = [sys.executable, "-m", "adumbra", "grad", str(file), "--size", "64x48", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = json.loads(done.stdout)["gradient"]
    program = adumbra.load(file)
    function = adumbra.jax.function(program)
    y, x = np.mgrid[:48, :64].astype(np.float32) + np.float32(0.5)
    uv = np.stack([x / np.float32(64), y / np.float32(48)], -1)
    inputs = {name: jnp.float32(own.default) for name, own in program.inputs.items()}
    found = jax.jit(jax.grad(lambda inputs: function(uv=uv, **inputs).sum()))(inputs)
    assert set(found) == set(expected)
    for name, own in found.items():
        assert np.array_equal(own, np.float32(expected[name])), name
    # Points that are traced, too, and the other order of the two.
    both = jax.jit(lambda inputs, uv: function(uv=uv, **inputs).sum())
    again = jax.grad(both)(inputs, jnp.asarray(uv))
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_only_what_is_differentiated_is_computed() -> None:
    function = adumbra.jax.function(wave())
    x = jnp.ones(3)
    jax.grad(lambda k: function(k=k, gain=jnp.float32(2), x=x).sum())(0.7)
    *_, (asked, _) = function._differentiable._live
    assert asked == {"k"}
    chosen = adumbra.jax.function(wave(), wrt="k")
    both = jax.grad(lambda k, gain: chosen(k=k, gain=gain, x=x).sum(), (0, 1))(0.7, 2.0)
    assert both[0] != 0 and both[1] == 0


def test_batches_are_those_of_single_calls() -> None:
    function, values = all_kinds()
    rng = np.random.default_rng(2)
    k = jnp.asarray(rng.uniform(0.2, 0.9, (5, 3)), np.float32)
    uv = jnp.asarray(rng.uniform(0.2, 0.9, (5, 4, 2)), np.float32)

    def o(k: Any, uv: Any) -> Any:
        return function(**(values | {"k": k, "uv": uv}))["o"]

    def total(k: Any, uv: Any) -> Any:
        return (o(k, uv) ** 2).sum()

    for batched in (o, jax.grad(total), jax.grad(total, 1), jax.jit(jax.grad(total, 1))):
        for dims in ((0, None), (None, 0), (0, 0)):
            at = lambda which, own, of: own if dims[which] == 0 else of
            found = jax.vmap(batched, dims)(at(0, k, k[0]), at(1, uv, uv[0]))
            each = [batched(at(0, k[i], k[0]), at(1, uv[i], uv[0])) for i in range(5)]
            assert np.array_equal(found, jnp.stack(each)), dims
    # One point for each of the batch; batches of batches; along other axes.
    single = jax.vmap(o, (None, 0))(k[0], uv[:, 0])
    assert np.array_equal(single, jnp.stack([o(k[0], own) for own in uv[:, 0]]))
    nested = jax.vmap(jax.vmap(o, (None, 0)), (0, None))(k, uv)
    assert np.array_equal(nested[1, 2], o(k[1], uv[2]))
    turned = jax.vmap(o, (1, 2))(k.T, uv.transpose(1, 2, 0))
    assert np.array_equal(turned, jax.vmap(o)(k, uv))
    assert function.take_faults() == []


def test_globals_that_a_batch_shares_have_a_gradient_for_each() -> None:
    function = adumbra.jax.function(of_x(PRODUCT))
    slope = jax.grad(lambda x, y: function(x=x, y=y).sum())
    rng = np.random.default_rng(3)
    x, y = jnp.float32(rng.random(4)), jnp.float32(rng.random((5, 4)))
    found = jax.vmap(slope, (None, 0))(x, y)
    assert np.array_equal(found, y)
    # One number for all points, too.
    assert np.allclose(jax.vmap(slope, (None, 0))(jnp.float32(2), y), y.sum(1))
    assert function.take_faults() == []


def test_hessians_are_symmetric_and_right() -> None:
    function, values = all_kinds()
    k = values["k"]
    twice = jax.jacrev(jax.grad(lambda k: squares(function, values | {"k": k})))(k)
    assert np.allclose(twice, twice.T, atol=1e-5)
    a = adumbra.jax.function(adumbra.compile("shader s(float a, out float o) { o = a * a * a; }"))
    slope = jax.grad(lambda v: a(a=v))
    assert jax.jit(jax.grad(slope))(1.5) == 9.0
    assert jax.grad(jax.grad(slope))(1.5) == 6.0


def test_gradients_have_the_dtype_of_what_they_are_by() -> None:
    function = adumbra.jax.function(wave())
    for dtype in (jnp.float16, jnp.bfloat16, jnp.float32):
        k = jnp.asarray(0.5, dtype)
        assert jax.grad(lambda k: function(k=k, x=jnp.ones(3)).sum())(k).dtype == dtype


def test_duals_have_gradients_by_their_values() -> None:
    function = adumbra.jax.function(of_x(CHANGING))

    @jax.jit
    def total(k: Any, x: Any, change: Any) -> Any:
        return function(k=k, x=adumbra.Dual(x, ddx=change)).sum()

    x = jnp.float32([1, 2, 3])
    by_k, by_x, by_change = jax.grad(total, (0, 1, 2))(2.0, x, 0.5)
    assert by_k == 3.0 and by_change == 0.0
    assert np.array_equal(by_x, np.ones(3))
    slopes = jax.vmap(jax.grad(total), (None, 0, 0))(2.0, jnp.stack([x, x]), jnp.float32([0.5, 1]))
    assert np.array_equal(slopes, [3.0, 6.0])


def test_edges_have_gradients() -> None:
    program, pixel = adumbra.compile(DISC), shaders.pixels(9)
    function = adumbra.jax.function(program, rules="edge")
    slope = jax.jit(jax.grad(lambda radius: function(radius=radius, pixel=pixel).sum()))
    _, grads = program.value_and_grad({"radius": 2.7, "pixel": pixel}, rules="edge")
    assert slope(2.7) == np.float32(grads["radius"]) > 5
    # Each of a batch has neighbours of its own.
    assert np.array_equal(jax.vmap(slope)(jnp.float32([2.7, 2.2])), [slope(2.7), slope(2.2)])
    with pytest.raises(NotImplementedError, match="rules='edge'"):
        jax.grad(slope)(2.7)


def test_wrong_usage_is_found_while_tracing() -> None:
    function = adumbra.jax.function(wave())
    traced = lambda **shapes: jax.eval_shape(function, **shapes)
    array = jax.ShapeDtypeStruct
    with pytest.raises(KeyError, match="`gian`; did you mean `gain`"):
        traced(gian=array((), np.float32))
    with pytest.raises(ValueError, match="`k` is given an array of shape .*all points share"):
        traced(k=array((3,), np.float32))
    with pytest.raises(TypeError, match="`x` has numbers of type float32, not complex64"):
        traced(x=array((3,), np.complex64))
    both = adumbra.jax.function(of_x(SUM))
    with pytest.raises(ValueError, match=r"same sides: `x` \(3,\), `y` \(4,\)"):
        jax.jit(both)(x=jnp.ones(3), y=jnp.ones(4))
    with pytest.raises(ValueError, match="same sides"):
        jax.jit(both)(x=jnp.ones(3), y=np.ones(4))
    textured = adumbra.jax.function(adumbra.compile(TEXTURED))
    with pytest.raises(KeyError, match="the texture `t` has no image"):
        jax.eval_shape(textured)
    with pytest.raises(ValueError, match=r"\(height, width\)"):
        jax.eval_shape(textured, t=array((3,), np.float32))
    backward = adumbra.jax.function(adumbra.compile(BACKWARD_ALONE))
    slope = jax.grad(lambda k: backward(k=k))
    assert slope(3.0) == 6.0
    with pytest.raises(adumbra.CompileError, match="E0559"):
        jax.eval_shape(jax.grad(slope), array((), np.float32))
    with pytest.raises(KeyError, match="no output that is an array is named `p`"):
        adumbra.jax.function(wave(), of="p")
    with pytest.raises(KeyError, match="no texture of the program is named `wood`"):
        adumbra.jax.function(wave(), textures={"wood": np.ones((2, 2))})
    assert function.take_faults() == []


def test_faults_become_nan_and_can_be_read() -> None:
    source = "shader s(float k, out float o, out int n) { n = 1; o = k; while (k > 1) o += k; }"
    function = adumbra.jax.function(adumbra.compile(source), steps=1000)
    fine = jax.jit(function)(k=0.5)
    assert fine["o"] == 0.5 and function.take_faults() == []
    found = jax.block_until_ready(jax.jit(function)(k=2.0))
    assert np.isnan(found["o"]) and found["n"].dtype == np.int32
    [fault] = function.take_faults()
    assert fault.stops and fault.points == 1
    assert function.take_faults() == []
    # One of a batch does not spoil the others.
    batch = jax.vmap(lambda k: function(k=k)["o"])(jnp.float32([0.5, 2.0, 0.25]))
    assert np.array_equal(np.isnan(batch), [False, True, False])
    assert len(function.take_faults()) == 1


def test_exceptions_of_callbacks_become_nan_and_can_be_read() -> None:
    def refuses(_: np.ndarray) -> np.ndarray:
        raise LookupError("no texel")

    function = adumbra.jax.function(adumbra.compile(TEXTURED), textures={"t": refuses})
    assert np.isnan(jax.block_until_ready(jax.jit(lambda k: function(k=k))(0.5)))
    [error] = function.take_faults()
    assert isinstance(error, LookupError)
    for _ in range(adumbra.jax.MAX_FAULTS + 5):
        function(k=jnp.float32(0.5))
    assert len(function.take_faults()) == adumbra.jax.MAX_FAULTS


def test_functions_are_pickled() -> None:
    function, values = all_kinds()
    again = pickle.loads(pickle.dumps(function))
    found, here = again(**values), function(**values)
    assert all(np.array_equal(found[name], here[name]) for name in here)


def test_the_example_of_the_module_does_what_it_says() -> None:
    assert doctest.testmod(adumbra.jax).attempted > 3
    assert doctest.testmod(adumbra.jax).failed == 0
