"""The programs of gradients: evaluated, differentiated again and pickled as any other."""

import pickle

import numpy as np
import pytest
import shaders

import adumbra


def test_program_of_a_gradient_computes_it() -> None:
    program, values = shaders.all_kinds()
    image = {"tex": values.pop("tex")}
    gradient = program.gradient(["all", "globals"], of="o")
    own = gradient.program
    assert gradient.seeds == {"o": ["global:d(o)"]}
    names = {name: f"d({name})" for name in ("r", "k", "a", "uv")}
    assert gradient.derivatives == names
    seed = np.float32([0.5, 1, 2, 4])
    found = own.evaluate({**values, "global:d(o)": seed}, textures=image)
    expected = gradient.evaluate(values, {"o": seed}, textures=image)
    assert np.array_equal(found["o"], expected.outputs["o"])
    assert np.array_equal(found["d(uv)"], expected.grads["uv"])
    # By inputs it has one for each point.
    assert np.allclose(found["d(k)"].sum(0), expected.grads["k"], rtol=1e-5)
    assert np.allclose(found["d(r).m"].sum(0), expected.grads["r.m"], rtol=1e-5)


def test_seeds_name_all_that_changes_a_parameter() -> None:
    program, _ = shaders.all_kinds()
    gradient = program.gradient(["all", "buffers", "textures"], mode="forward")
    seeds = gradient.seeds
    assert seeds["w"] == ["buffer:d(w)"] and seeds["tex"] == ["texture:d(tex)"]
    assert seeds["k"] == [f"global:d(k[{at}])" for at in range(3)]
    elements = ["t[0]", "t[1]", "m[0]", "m[1]"]
    assert seeds["r"] == [f"global:d(r.{own})" for own in ["o", *elements]]
    assert gradient.derivatives["moved"] == "d(moved)"
    own = gradient.program
    assert own.outputs["d(moved)"].arrays["d(moved).m"] == ((2, 2), np.dtype(np.float32))
    assert "d(w)" in own.buffers and "d(tex)" in own.textures


def test_programs_of_gradients_have_gradients() -> None:
    program = adumbra.compile("shader s(float a, out float o) { o = a * a * a; }")
    first = program.gradient("a")
    second = first.program.gradient("a", of=first.derivatives["a"])
    found = second.evaluate({"a": 2.0, "global:d(o)": 1.0})
    assert found.outputs["d(a)"] == 3 * 2.0**2 and found.grads["a"] == 6 * 2.0
    forward = program.gradient("a", mode="forward")
    mixed = forward.program.gradient("a", of=forward.derivatives["o"])
    assert mixed.evaluate({"a": 2.0, "global:d(a)": 0.5}).grads["a"] == 0.5 * 6 * 2.0


def test_programs_of_gradients_have_changes_per_pixel_and_pickles() -> None:
    program = shaders.of_x("shader s(float k, out float o) { o = k * k * global_value<x>; }")
    own = program.gradient("k").program
    values = {"k": 3.0, "x": adumbra.Dual(2.0, ddx=0.5), "global:d(o)": 1.0}
    for again in (own, pickle.loads(pickle.dumps(own))):
        done = again.evaluate(values, derivatives=True)
        assert done["d(k)"] == 2 * 3.0 * 2.0
        assert done.ddx is not None and done.ddx["d(k)"] == 2 * 3.0 * 0.5


def test_gradients_through_edges_are_no_programs() -> None:
    gradient = adumbra.compile(shaders.DISC).gradient("radius", rules="edge")
    with pytest.raises(ValueError, match="more than a program"):
        gradient.program
