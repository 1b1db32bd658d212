"""From text, files, groups and bytecode to programs, and what is wrong with them."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import adumbra

ADD_ONE = "float next(float x) { return x + 1; }"


def test_program_says_what_it_has(wave: adumbra.Program) -> None:
    assert wave.name == "wave"
    assert wave.inputs["gain"].default == 2.0
    assert (wave.inputs["tint"].type, wave.inputs["tint"].shape) == ("float3", (3,))
    assert list(wave.outputs) == ["o", "c", "n", "b"]
    assert wave.outputs["n"].dtype == np.int32 and wave.outputs["b"].dtype == np.bool_
    assert list(wave.globals) == ["uv"]
    assert wave.files == {"wave.adu": wave.source}


def test_metadata_are_python_values() -> None:
    program = adumbra.compile(
        'texture2d wood <<< file = "oak.png" >>>;'
        'shader s(float k = 0.5 <<< label = "K", max = 1.5, steps = 3, slider >>>, out float o) {'
        " o = k * texture2d_sample<wood>(0, 0).x; }"
    )
    assert program.inputs["k"].metadata == {"label": "K", "max": 1.5, "steps": 3, "slider": True}
    assert program.textures["wood"].metadata == {"file": "oak.png"}


def test_error_has_report_and_data() -> None:
    with pytest.raises(adumbra.CompileError) as caught:
        adumbra.compile("shader s(out float o) {\n    o = sine(1.0);\n}", name="s.adu")
    error = caught.value
    assert isinstance(error, ValueError)
    assert "s.adu:2:9" in str(error) and "did you mean `sin`?" in str(error)
    (found,) = error.diagnostics
    assert (found.code, found.severity, found.line, found.column) == ("E0202", "error", 2, 9)
    assert found.span == (32, 36) and found.file == "s.adu"
    assert found.labels[0].message == "not declared" and found.help == "did you mean `sin`?"


def test_check_finds_errors_and_warnings() -> None:
    found = adumbra.check("shader s(out float o) { o = 1 }\nshader t(out float o) { o = x; }")
    assert [one.code for one in found] == ["E0105", "E0201"]
    assert adumbra.check("float one() { return 1; }") == []


def test_includes_come_from_files() -> None:
    source = '#include "lib/next.adu"\nshader s(out float o) { o = next(1); }'
    program = adumbra.compile(source, files={"lib/next.adu": ADD_ONE})
    assert program()["o"] == 2
    with pytest.raises(adumbra.CompileError, match="not among `files`"):
        adumbra.compile(source)


def test_globals_are_typed_by_name() -> None:
    source = "shader s(out float o) { o = global_value<n> + dot(global_value<uv>, float3(1, 1, 1)); }"
    program = adumbra.compile(source, globals={"n": "int", "uv": "float3"})
    assert program(n=2, uv=(1, 2, 3))["o"] == 8
    with pytest.raises(ValueError, match='`n` cannot be of type "integer"'):
        adumbra.compile(source, globals={"n": "integer"})


def test_shaders_are_chosen_by_name() -> None:
    source = "shader a(out float o) { o = 1; } shader b(out float o) { o = 2; }"
    assert adumbra.compile(source, shader="b")()["o"] == 2
    with pytest.raises(adumbra.CompileError):
        adumbra.compile(source)


def test_files_are_loaded_from_their_folder(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "next.adu").write_text(ADD_ONE)
    (tmp_path / "s.adu").write_text('#include "lib/next.adu"\nshader s(out float o) { o = next(1); }')
    (tmp_path / "lib" / "t.adu").write_text('#include "next.adu"\nshader t(out float o) { o = next(2); }')
    assert adumbra.load(tmp_path / "s.adu")()["o"] == 2
    assert adumbra.load(str(tmp_path / "lib" / "t.adu"), root=tmp_path)()["o"] == 3
    with pytest.raises(OSError):
        adumbra.load(tmp_path / "none.adu")
    with pytest.raises(ValueError, match="is not in the folder"):
        adumbra.load(tmp_path / "s.adu", root=tmp_path / "lib")


def test_groups_and_bytecode_are_loaded(repository: Path, tmp_path: Path, wave: adumbra.Program) -> None:
    group = adumbra.load(repository / "examples" / "group" / "material.json")
    assert "surface" in group.outputs
    (tmp_path / "wave.adub").write_bytes(wave.to_bytecode())
    loaded = adumbra.load(tmp_path / "wave.adub")
    uv = np.random.default_rng(1).random((9, 2), np.float32)
    assert np.array_equal(loaded(uv=uv)["o"], wave(uv=uv)["o"])
    assert np.array_equal(pickle.loads(pickle.dumps(loaded))(uv=uv)["o"], wave(uv=uv)["o"])
    dual = adumbra.Dual(uv, ddx=(1.0, 0.0), ddy=(0.0, 1.0))
    programs = (loaded, wave)
    gradients = [program.grad({"uv": uv}, wrt="gain", of="o")["gain"] for program in programs]
    assert np.array_equal(*gradients)
    slopes = [program.evaluate({"uv": dual}, derivatives=True).ddx for program in programs]
    assert slopes[0] is not None and slopes[1] is not None
    assert np.array_equal(slopes[0]["o"], slopes[1]["o"])


def test_damaged_bytecode_is_refused(tmp_path: Path, wave: adumbra.Program) -> None:
    damaged = bytearray(wave.to_bytecode())
    damaged[40] ^= 0xFF
    (tmp_path / "damaged.adub").write_bytes(damaged)
    with pytest.raises(adumbra.CompileError):
        adumbra.load(tmp_path / "damaged.adub")


def test_pickles_are_small_and_make_the_same(wave: adumbra.Program, repository: Path) -> None:
    uv = np.random.default_rng(2).random((100, 2), np.float32)
    data = pickle.dumps(wave)
    assert len(data) < 1000
    for other in (pickle.loads(data), copy.deepcopy(wave)):
        for name in wave.outputs:
            assert np.array_equal(other(uv=uv)[name], wave(uv=uv)[name])
        own, same = (p.grad({"uv": uv}, wrt=["gain", "uv"], of="o") for p in (wave, other))
        assert own["gain"] == same["gain"] and np.array_equal(own["uv"], same["uv"])
    group = adumbra.load(repository / "examples" / "group" / "material.json")
    assert list(pickle.loads(pickle.dumps(group)).outputs) == list(group.outputs)
    gradient = pickle.loads(pickle.dumps(wave.gradient("gain", of="o")))
    assert gradient.evaluate({"uv": uv}).grads["gain"] == wave.grad({"uv": uv}, wrt="gain", of="o")["gain"]
    dual = pickle.loads(pickle.dumps(adumbra.Dual(1.0, ddx=2.0)))
    assert (dual.value, dual.ddx, dual.ddy) == (1.0, 2.0, 0.0)


def test_nothing_is_too_hostile() -> None:
    for source in ["", "\0", "(" * 100_000, "shader", "é" * 1000, "/*", "#include \"x\"\n" * 10]:
        with pytest.raises(adumbra.CompileError):
            adumbra.compile(source)
