"""Gradients: by inputs, globals, buffers and textures, forward and backward, through edges."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adumbra

UV = np.random.default_rng(6).random((300, 2)).astype(np.float32)


def test_gradients_have_the_shapes_of_parameters(wave: adumbra.Program) -> None:
    values = {"uv": UV, "gain": 3.0}
    outputs, grads = wave.value_and_grad(values, wrt=["gain", "tint", "uv"])
    assert list(outputs) == ["o", "c"] and np.array_equal(outputs["o"], wave(**values)["o"])
    x = UV[:, 0].astype(np.float64)
    assert grads["gain"].shape == () and np.isclose(grads["gain"], np.sin(x).sum())
    assert np.allclose(grads["tint"], [x.sum()] * 3)
    expected = np.stack([3 * np.cos(UV[:, 0]) + 6, np.ones(300)], axis=1)
    assert grads["uv"].shape == (300, 2) and np.allclose(grads["uv"], expected, rtol=1e-5)


def test_seeds_weigh_outputs(wave: adumbra.Program) -> None:
    seed = np.random.default_rng(7).random(300).astype(np.float32)
    grads = wave.grad({"uv": UV}, wrt=["gain", "tint"], seeds={"o": seed})
    assert np.isclose(grads["gain"], (seed * np.sin(UV[:, 0])).sum())
    assert np.array_equal(grads["tint"], [0, 0, 0])
    one = wave.grad({"uv": UV}, wrt="tint", seeds={"c": (0, 1, 0)})
    assert np.isclose(one["tint"][1], UV[:, 0].sum()) and one["tint"][0] == 0
    spread = np.broadcast_to(np.float32(1), 300)
    all_ones = wave.grad({"uv": UV}, wrt="gain", of="o", seeds={"o": spread})
    assert all_ones["gain"] == wave.grad({"uv": UV}, wrt="gain", of="o")["gain"]
    with pytest.raises(KeyError, match="`oo` has no seed"):
        wave.grad({"uv": UV}, wrt="gain", seeds={"oo": 1})


def test_shared_globals_have_sums(wave: adumbra.Program) -> None:
    by_one = wave.grad({"uv": (0.5, 0.25)}, wrt="uv", of="o")["uv"]
    assert by_one.shape == (2,) and np.allclose(by_one, [2 * np.cos(0.5), 1])
    program = adumbra.compile(
        "shader s(out float o) { o = global_value<a> * global_value<b>; }",
        globals={"a": "float", "b": "float"},
    )
    a, b = np.arange(4, dtype=np.float32)[:, None], np.arange(3, dtype=np.float32)
    grads = program.grad({"a": a, "b": b}, wrt="globals")
    assert np.array_equal(grads["a"], np.full((4, 1), 3)) and np.array_equal(grads["b"], np.full(3, 6))


def test_structs_and_arrays_have_gradients() -> None:
    program = adumbra.compile(
        "struct lamp { float3 at; int n; float power; };"
        "shader s(lamp l, float w[3], out lamp o, out float p[2]) {"
        " o.at = l.at * l.power; o.power = w[1] * l.power; p[0] = w[0]; p[1] = w[2] * w[2]; }"
    )
    values = {"l": {"at": (1, 2, 3), "power": 10}, "w": [1, 2, 3]}
    outputs, grads = program.value_and_grad(values, wrt="all")
    assert np.array_equal(grads["l.at"], [10, 10, 10]) and grads["l.power"] == 6 + 2
    assert np.array_equal(grads["w"], [1, 10, 6])
    assert np.array_equal(outputs["p"], [1, 9]) and outputs["o.power"] == 20
    seeded = program.grad(values, wrt="w", of="p", seeds={"p": np.array([0, 2], np.float32)})
    assert np.array_equal(seeded["w"], [0, 0, 12])


def test_buffers_have_exact_sums() -> None:
    program = adumbra.compile(
        "buffer<float> w; buffer<float2> p; shader s(out float o) {"
        " int i = (int)(3 * global_value<uv>.x); o = w[i] * w[i] + dot(p[i], global_value<uv>); }"
    )
    w, p = np.array([1, 2, 3], np.float32), np.ones((3, 2), np.float32)
    grads = program.grad({"uv": UV, "w": w, "p": p}, wrt=["w", "buffer:p"])
    at = (np.float32(3) * UV[:, 0]).astype(int)
    assert np.allclose(grads["w"], [2 * w[i] * (at == i).sum() for i in range(3)])
    assert np.allclose(grads["p"], [UV[at == i].astype(np.float64).sum(axis=0) for i in range(3)])
    for threads in (2, 3):
        more = program.grad({"uv": UV, "w": w, "p": p}, wrt=["w", "p"], threads=threads)
        assert np.array_equal(more["p"], grads["p"])


@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
def test_textures_have_gradients_by_texels(channels: int | None) -> None:
    program = adumbra.compile(
        "texture2d t; shader s(out float o) {"
        " float2 p = global_value<uv>; float red = texture2d_sample<t>(p).x;"
        " o = red * red + texture2d_sample_alpha<t>(p); }"
    )
    shape = (4, 4) if channels is None else (4, 4, channels)
    texels = np.random.default_rng(8).random(shape).astype(np.float32)
    gradient = program.grad({"uv": UV}, wrt="t", textures={"t": texels})["t"]
    step = 1e-2
    for at in np.ndindex(*shape[:2], *((1,) if channels is None else (channels,))):
        moved = [texels.astype(np.float64).copy() for _ in range(2)]
        own = at[:2] if channels is None else at
        moved[0][own] += step
        moved[1][own] -= step
        sums = [program.evaluate({"uv": UV}, textures={"t": one})["o"].astype(float).sum() for one in moved]
        assert np.isclose(gradient[at], (sums[0] - sums[1]) / (2 * step), atol=0.05)


def test_textures_of_functions_have_no_texels() -> None:
    program = adumbra.compile("texture2d t; shader s(out float o) { o = texture2d_sample<t>(0.5, 0.5).x; }")
    flat = lambda requests: np.zeros((len(requests), 4), np.float32)  # noqa: E731
    with pytest.raises(ValueError, match="give an array"):
        program.grad(wrt="t", textures={"t": flat})


def test_forward_mode_is_the_transpose(wave: adumbra.Program) -> None:
    generator = np.random.default_rng(9)
    tangent = {"uv": generator.random((300, 2), np.float32), "gain": 0.5, "tint": (1.0, 0.0, 2.0)}
    seeds = {"o": generator.random(300, np.float32), "c": generator.random((300, 3), np.float32)}
    _, changes = wave.jvp({"uv": UV}, tangent)
    grads = wave.grad({"uv": UV}, wrt=["uv", "gain", "tint"], seeds=seeds)
    forward = sum((seeds[name].astype(float) * changes[name]).sum() for name in seeds)
    backward = sum((np.asarray(tangent[name]) * grads[name]).sum() for name in tangent)
    assert np.isclose(forward, backward, rtol=1e-5)
    program = adumbra.compile("buffer<float> w; shader s(out float o) { o = w[0] * w[1]; }")
    w = np.array([2, 3], np.float32)
    assert program.jvp({"w": w}, {"w": np.array([1, 10], np.float32)})[1]["o"] == 3 + 20


def test_gradients_do_not_depend_on_threads_or_engines(wave: adumbra.Program) -> None:
    uv = np.random.default_rng(10).random((50_000, 2)).astype(np.float32)
    first = wave.grad({"uv": uv}, wrt=["gain", "uv"])
    for options in ({"threads": 2}, {"threads": 8, "engine": "interpreter"}, {"engine": "native"}):
        other = wave.grad({"uv": uv}, wrt=["gain", "uv"], **options)
        assert other["gain"] == first["gain"] and np.array_equal(other["uv"], first["uv"])


def test_gradient_says_what_it_has(wave: adumbra.Program) -> None:
    gradient = wave.gradient(["tint", "gain"], of=["o"])
    assert gradient.parameters == ["gain", "tint"] and gradient.outputs == ["o"]
    assert gradient.zero == ["tint"]
    rounded = adumbra.compile("shader s(float k, out float o) { o = (int)(k * 3); }").gradient("k")
    assert [warning.code for warning in rounded.warnings] == ["W0518"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"wrt": "gian"}, KeyError),
        ({"wrt": "gain", "of": "n"}, adumbra.CompileError),
        ({"wrt": "gain", "rules": "soft"}, ValueError),
        ({"wrt": "gain", "rules": "edge", "axes": {"uv.q": 1}}, ValueError),
        ({"wrt": "gain", "rules": "edge", "axes": {}}, adumbra.CompileError),
    ],
)
def test_wrong_gradients_are_named(wave: adumbra.Program, options: dict, error: type) -> None:
    with pytest.raises(error):
        wave.value_and_grad({"uv": UV}, **options)


def test_no_names_are_all_inputs(wave: adumbra.Program) -> None:
    for options in ({}, {"wrt": []}, {"wrt": "all"}):
        assert wave.grad({"uv": UV}, **options).keys() == {"gain", "tint"}


DISC = """
shader disc(float radius = 0.3, float2 centre = float2(0.5, 0.4), out float c)
{
    c = length(global_value<uv> - centre) < radius ? 1.0 : 0.0;
}
"""


@pytest.mark.parametrize("rules", ["pair", "edge"])
def test_edges_have_gradients(rules: str) -> None:
    disc = adumbra.compile(DISC)
    values = {**adumbra.pixels((96, 64)), "radius": 0.3}
    assert disc.grad(values, wrt="radius")["radius"] == 0
    done = disc.gradient(["radius", "centre"], rules=rules).evaluate(values)
    # The area of the disc is π r² in pixels of 1/96 × 1/64.
    expected = 2 * np.pi * 0.3 * 96 * 64
    assert np.isclose(done.grads["radius"], expected, rtol=0.02 if rules == "edge" else 0.2)
    assert np.allclose(done.grads["centre"], 0, atol=0.02 * expected)
    assert done.edges is not None and done.edges["edge_points"] > 100
    for threads in (2, 3):
        more = disc.gradient(["radius", "centre"], rules=rules).evaluate(values, threads=threads)
        assert more.grads["radius"] == done.grads["radius"]


def test_gradients_are_those_of_the_command(tmp_path: Path) -> None:
    disc = adumbra.compile(DISC)
    (tmp_path / "disc.adu").write_text(DISC)
    for rules in ("smooth", "pair", "edge"):
        command = [sys.executable, "-m", "adumbra", "grad", str(tmp_path / "disc.adu")]
        command += ["--size", "48x32", "--rules", rules, "--json"]
        done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        own = disc.grad(adumbra.pixels((48, 32)), wrt="all", rules=rules)
        for name, number in done["gradient"].items():
            assert np.array_equal(np.float32(own[name]), np.float32(number)), (rules, name)


def test_edges_that_nothing_moves_are_refused() -> None:
    disc = adumbra.compile(DISC)
    uv = adumbra.pixels(16)["uv"].value
    with pytest.raises(ValueError, match="nothing moves along pixel.x and pixel.y"):
        disc.grad({"uv": uv, "radius": 0.3}, wrt="radius", rules="edge")
    by_axes = disc.grad({"uv": uv, "radius": 0.3}, wrt="radius", rules="edge", axes={"uv.x": 1 / 16, "uv.y": 1 / 16})
    by_pixels = disc.grad({**adumbra.pixels(16), "radius": 0.3}, wrt="radius", rules="edge")
    assert np.isclose(by_axes["radius"], by_pixels["radius"], rtol=1e-3)


def test_faults_of_gradients_are_warnings() -> None:
    program = adumbra.compile("texture2d t; shader s(float k, out float o) { o = texture2d_sample<t>(k, k).x; }")
    flat = lambda requests: np.zeros((len(requests), 4), np.float32)  # noqa: E731
    with pytest.warns(adumbra.FaultWarning, match="W0805"):
        program.grad({"k": 0.5}, wrt="k", textures={"t": flat})
    done = program.gradient("k").evaluate({"k": 0.5}, textures={"t": flat})
    assert [fault.diagnostic.code for fault in done.faults] == ["W0805"]


def test_points_count_once_with_edges() -> None:
    program = adumbra.compile(
        "texture2d t; shader s(float r = 0.3, out float c) { float2 u = global_value<uv>;"
        ' if (u.x + u.y < 0.1) printf("corner");'
        " c = texture2d_sample<t>(u).x * (length(u - 0.5) < r ? 1.0 : 0.5); }"
    )
    texels = np.random.default_rng(11).random((4, 4, 3)).astype(np.float32)
    done = {
        rules: program.gradient(["r", "t"], rules=rules).evaluate(
            adumbra.pixels(16), textures={"t": texels}
        )
        for rules in ("smooth", "edge")
    }
    # The disc's edge has no texel of its own: by texels both are the same.
    assert np.array_equal(done["edge"].grads["t"], done["smooth"].grads["t"])
    assert done["smooth"].messages == done["edge"].messages == [(0, "corner")]
