"""Values in: numbers and arrays of all kinds, shapes and strides, and what is no value."""

import tracemalloc

import numpy as np
import pytest

import adumbra

LINE = adumbra.compile("shader s(out float o) { o = 2 * global_value<x> + 1; }", globals={"x": "float"})
SUM = adumbra.compile("shader s(out float o) { float2 u = global_value<uv>; o = u.x + 10 * u.y; }")


def test_points_are_along_the_first_sides(wave: adumbra.Program) -> None:
    uv = np.random.default_rng(0).random((4, 5, 2), np.float32)
    done = wave(uv=uv, gain=3)
    assert done["o"].shape == (4, 5) and done["c"].shape == (4, 5, 3)
    assert done["o"].dtype == np.float32 and done["b"].dtype == np.bool_
    assert np.array_equal(done["c"], uv[..., :1] * np.array([1, 2, 3], np.float32))
    assert np.array_equal(done["b"], uv[..., 0] > uv[..., 1])
    assert np.array_equal(done["n"], (10 * uv[..., 0]).astype(np.int32))
    assert sorted(done) == ["b", "c", "n", "o"] and len(done) == 4 and "o" in done


def test_one_point_has_no_sides() -> None:
    assert LINE(x=3)["o"].shape == () and LINE(x=3)["o"] == 7
    assert LINE()["o"] == 1
    assert SUM(uv=(1, 2))["o"] == 21 and SUM(uv=[1, 2.0])["o"] == 21 and SUM(uv=3)["o"] == 33
    assert SUM(uv=np.float64(2))["o"] == 22


@pytest.mark.parametrize("count", [0, 1, 2, 511, 512, 513, 20_000])
def test_any_number_of_points(count: int) -> None:
    x = np.arange(count, dtype=np.float32)
    assert np.array_equal(LINE(x=x)["o"], 2 * x + 1)


def arrays_in_place() -> dict[str, np.ndarray]:
    whole = np.random.default_rng(3).random((1000, 4)).astype(np.float32)
    read_only = whole[:, :2].copy()
    read_only.flags.writeable = False
    return {
        "columns": whole[:, 1:3],
        "every third": whole[::3, :2],
        "reversed columns": whole[:, 1::-1],
        "one for all": np.broadcast_to(whole[7, :2], (1000, 2)),
        "fortran": np.asfortranarray(whole[:, :2]),
        "read only": read_only,
        "no points": whole[:0, :2],
        "a grid": whole.reshape(50, 20, 4)[..., :2],
        "a grid's column": np.broadcast_to(whole[:50, None, :2], (50, 1, 2)),
    }


@pytest.mark.parametrize("kind", arrays_in_place())
def test_arrays_are_read_in_place(kind: str) -> None:
    array = arrays_in_place()[kind]
    done = SUM.evaluate({"uv": array}, copy=False)
    assert not done.copied
    assert np.array_equal(done["o"], array[..., 0] + np.float32(10) * array[..., 1])


def arrays_that_are_copied() -> dict[str, tuple[np.ndarray, str]]:
    whole = np.random.default_rng(4).random((60, 4)).astype(np.float32)
    buffer = np.zeros(60 * 8 + 1, np.uint8)
    unaligned = buffer[1:].view(np.float32).reshape(60, 2)
    unaligned[:] = whole[:, :2]
    return {
        "float64": (whole[:, :2].astype(np.float64), "float64"),
        "float16": (whole[:, :2].astype(np.float16), "float16"),
        "big endian": (whole[:, :2].astype(">f4"), ">f4"),
        "integers": ((whole[:, :2] * 9).astype(np.int64), "int64"),
        "reversed": (whole[::-1, :2], "evenly apart"),
        "unaligned": (unaligned, "aligned"),
        "transposed grid": (whole.reshape(6, 10, 4).transpose(1, 0, 2)[..., :2], "evenly apart"),
    }


@pytest.mark.parametrize("kind", arrays_that_are_copied())
def test_other_arrays_are_copied_and_that_is_said(kind: str) -> None:
    array, reason = arrays_that_are_copied()[kind]
    done = SUM.evaluate({"uv": array})
    same = array.astype(np.float32)
    assert np.array_equal(done["o"], same[..., 0] + np.float32(10) * same[..., 1])
    assert reason in done.copied["uv"]
    with pytest.raises(ValueError, match="`uv` would be copied"):
        SUM.evaluate({"uv": array}, copy=False)


def test_points_are_broadcast() -> None:
    program = adumbra.compile(
        "shader s(out float o) { o = global_value<a> + global_value<b>; }",
        globals={"a": "float", "b": "float"},
    )
    a, b = np.arange(4, dtype=np.float32)[:, None], np.arange(3, dtype=np.float32)
    assert np.array_equal(program(a=a, b=b)["o"], a + b)
    with pytest.raises(ValueError, match="`a` and `b` have 4 and 3 points"):
        program(a=a[:, 0], b=b)


def test_strided_and_broadcast_arrays_take_no_memory() -> None:
    whole = np.zeros((400_000, 4), np.float32)
    for array in (whole[:, 1:3], np.broadcast_to(whole[0, :2], (400_000, 2))):
        SUM.evaluate({"uv": array[:1]})
        tracemalloc.start()
        SUM.evaluate({"uv": array})
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # What NumPy allocates is traced: the output is, a copy would be twice that.
        assert peak < 1.1 * 400_000 * 4


def test_huge_batches_end_in_an_error() -> None:
    huge = np.broadcast_to(np.float32(1), (1 << 20, 1 << 20, 1 << 10))
    with pytest.raises((MemoryError, ValueError)):
        LINE(x=huge)
    many = np.broadcast_to(np.float32(1), (1 << 31,))
    program = adumbra.compile("shader s(float k, out float3 c) { c = float3(k * global_value<x>); }", globals={"x": "float"})
    grown = np.broadcast_to(many[:, None], (1 << 31, 1 << 20))
    with pytest.raises((MemoryError, ValueError)):
        program(x=grown)


def test_derivatives_are_carried() -> None:
    program = adumbra.compile("shader s(out float o, out int n) { float2 u = global_value<uv>; o = u.x * u.y; }")
    uv = np.random.default_rng(5).random((50, 2), np.float32)
    ddx = np.ones((50, 2), np.float32)
    done = program.evaluate({"uv": adumbra.Dual(uv, ddx=ddx, ddy=(0.0, 0.5))}, derivatives=True)
    assert done.ddx is not None and done.ddy is not None and "n" not in done.ddx
    assert np.allclose(done.ddx["o"], uv[:, 0] + uv[:, 1])
    assert np.allclose(done.ddy["o"], 0.5 * uv[:, 0])
    assert program.evaluate({"uv": uv}).ddx is None


def test_inputs_of_every_type() -> None:
    program = adumbra.compile(
        "struct lamp { float3 at; float power; };"
        "shader s(lamp l, int n, uint k, bool b, float2x2 m, float w[3], out float o, out lamp out_lamp) {"
        " o = l.at.y + l.power + n + k + (b ? 1000 : 0) + m[0][1] + w[2]; out_lamp = l; }"
    )
    given = {"l": {"at": (1, 2, 3), "power": 10}, "n": -4, "k": 5, "b": True}
    done = program.evaluate({**given, "m": [[1, 100], [0, 0]], "w": np.array([0, 0, 0.5])})
    assert done["o"] == 2 + 10 - 4 + 5 + 1000 + 100 + 0.5
    assert np.array_equal(done["out_lamp.at"], [1, 2, 3]) and done["out_lamp.power"] == 10
    member = program.evaluate({**given, "l.power": 20}, outputs="out_lamp")
    assert member["out_lamp.power"] == 20


def test_buffers_have_their_elements_along_one_side() -> None:
    program = adumbra.compile(
        "buffer<float> w; buffer<int> n; buffer<float3> p;"
        "shader s(out float o) { o = w[1] + 10 * n[0] + 100 * p[1].z + 1000 * w.length(); }"
    )
    w, n = np.array([1, 2, 3, 4], np.float32)[::2], np.array([7], np.int64)
    p = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert program(w=w, n=n, p=p)["o"] == 3 + 70 + 500 + 2000
    for wrong in (1.0, p, np.float32(1)):
        with pytest.raises(ValueError, match="`w` is a buffer"):
            program(w=wrong)


def test_names_that_clash_are_settled() -> None:
    program = adumbra.compile("shader s(float uv = 1, out float o) { o = uv + 10 * global_value<uv>.x; }")
    assert program.evaluate({"uv": 2, "global:uv": (3, 0)})["o"] == 32


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"gani": 1}, KeyError, "did you mean `gain`"),
        ({"gain": "1"}, TypeError, "`gain`"),
        ({"gain": [1, 2]}, ValueError, "`gain` is an input"),
        ({"tint": (1, 2)}, ValueError, "`tint`"),
        ({"uv": np.zeros((4, 3), np.float32)}, ValueError, "does not end in that"),
        ({"uv": np.zeros((4, 2), complex)}, TypeError, "complex"),
        ({"uv": np.array([[object(), 1]])}, TypeError, "object"),
        ({"uv": None}, TypeError, "`uv`"),
        ({"gain": 1e300}, ValueError, "beyond them"),
        ({3: 1}, TypeError, "int"),
    ],
)
def test_wrong_values_are_named(wave: adumbra.Program, values: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        wave.evaluate(values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": "oo"}, "did you mean `o`"),
        ({"engine": "gpu"}, '"native"'),
        ({"errors": "ignore"}, '"raise"'),
        ({"textures": {"wood": 1}}, "no texture `wood`"),
    ],
)
def test_wrong_options_are_named(wave: adumbra.Program, options: dict, message: str) -> None:
    with pytest.raises((KeyError, ValueError), match=message):
        wave.evaluate(**options)


def test_faults_are_data_or_raised() -> None:
    program = adumbra.compile("shader s(out int o) { o = 1 / (int)global_value<uv>.x; }", name="s.adu")
    uv = np.array([[1, 0], [0, 0], [0, 0]], np.float32)
    done = program(uv=uv)
    (fault,) = done.faults
    assert (fault.points, fault.first, fault.stops) == (2, 1, False)
    assert (fault.diagnostic.line, fault.diagnostic.file) == (1, "s.adu")
    with pytest.raises(adumbra.FaultError) as caught:
        program.evaluate({"uv": uv}, errors="raise")
    assert len(caught.value.faults) == 1
    loop = adumbra.compile("shader s(out float o) { while (true) { o += 1; } }")
    (fault,) = loop.evaluate(steps=1000).faults
    assert fault.stops


def test_messages_are_data() -> None:
    program = adumbra.compile('shader s(out float o) { float x = global_value<uv>.x; if (x > 0) printf("%g", x); }')
    uv = np.zeros((5000, 2), np.float32)
    uv[[3, 4000], 0] = (0.5, 2)
    assert program(uv=uv).messages == [(3, "0.5"), (4000, "2")]
    done = program(uv=np.ones((5000, 2), np.float32))
    assert len(done.messages) == 1000 and done.more_messages == 4000


def test_closures_are_structured_arrays() -> None:
    program = adumbra.compile(
        "shader s(out closure c) { float x = global_value<uv>.x;"
        " c = x * make_closure<Lambert>(float3(0, x, 0)) + make_closure<Glow>(2, x > 1); }"
    )
    leaves = program.closures("c", {"uv": np.array([[1, 0], [3, 0]], np.float32)})
    lambert, glow = leaves["Lambert"], leaves["Glow"]
    assert np.array_equal(lambert["point"], [0, 1]) and np.array_equal(lambert["weight"][:, 0], [1, 3])
    assert np.array_equal(lambert["arg0"], [[0, 1, 0], [0, 3, 0]])
    assert np.array_equal(glow["arg1"], [0, 1])
    with pytest.raises(ValueError):
        program.closures("d")
