"""Images, fits, scenes, and the commands of the package."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adumbra

RINGS = """
shader rings(float count = 8.0, out color c)
{
    float2 p = global_value<uv> - 0.5;
    c = color(0.5 + 0.5 * sin(count * length(p)), 2 * global_value<pixel>.x / global_value<resolution>.x, global_value<time>);
}
"""
DISC = """
shader disc(float radius = 0.2 <<< min = 0.05, max = 0.5 >>>, float grey = 1.0, out float c)
{
    c = length(global_value<uv> - 0.5) < radius ? grey : 0.0;
}
"""


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    run = [sys.executable, "-m", "adumbra", *map(str, arguments)]
    return subprocess.run(run, capture_output=True, text=True)


def test_images_are_those_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "rings.adu").write_text(RINGS)
    out = tmp_path / "rings.exr"
    done = command("image", tmp_path / "rings.adu", "--size", "70x40", "-o", out)
    assert done.returncode == 0, done.stderr
    image = adumbra.image(adumbra.compile(RINGS), (70, 40))
    assert image.shape == (40, 70, 3) and np.array_equal(image, adumbra.read_image(out))


def test_regions_are_parts_of_the_image() -> None:
    program = adumbra.compile(RINGS)
    whole = adumbra.image(program, (37, 23), {"count": 20}, time=0.25)
    assert np.all(whole[..., 2] == 0.25)
    part = adumbra.image(program, (37, 23), {"count": 20}, time=0.25, region=(5, 7, 30, 20))
    assert np.array_equal(part, whole[7:20, 5:30])
    for wrong in [(0, 0, 38, 1), (5, 5, 5, 6), (-1, 0, 2, 2)]:
        with pytest.raises(ValueError, match="is not within the image"):
            adumbra.image(program, (37, 23), region=wrong)
    with pytest.raises(ValueError, match="at least one pixel"):
        adumbra.image(program, 0)


def test_images_of_many_strips_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    program = adumbra.compile(RINGS)
    whole = adumbra.image(program, (60, 50))
    monkeypatch.setattr("adumbra._image._STRIP", 7 * 60)
    assert np.array_equal(adumbra.image(program, (60, 50)), whole)


def test_output_of_an_image_is_chosen_as_by_the_command() -> None:
    program = adumbra.compile("shader s(out float a, out float o, out float m[3]) { a = 1; o = 2; m[0] = 3; }")
    assert np.all(adumbra.image(program, 4) == 2)
    assert np.all(adumbra.image(program, 4, output="a") == 1)
    with pytest.raises(KeyError):
        adumbra.image(program, 4, output="b")
    with pytest.raises(ValueError):
        adumbra.image(program, 4, output="m")


def test_fit_finds_what_drew_an_image() -> None:
    disc = adumbra.compile(DISC)
    target = adumbra.image(disc, (32, 24), {"radius": 0.37})
    reports = []
    found = adumbra.fit(disc, target, wrt="radius", progress=reports.append)
    assert repr(found).startswith("<FitResult loss")
    assert abs(found.inputs["radius"] - 0.37) < 0.01 and found.loss < 1e-3
    assert found.image.shape == (24, 32)
    assert found.program.inputs["radius"].default == pytest.approx(found.inputs["radius"])
    assert "min = 0.05" in found.source
    assert all(report.loss >= 0 for report in reports)


def test_fits_that_cannot_be_say_why(tmp_path: Path) -> None:
    disc = adumbra.compile(DISC)
    target = np.zeros((8, 8), np.float32)
    with pytest.raises(ValueError, match="`rules` is one of edge"):
        adumbra.fit(disc, target, rules="sharp")
    with pytest.raises(ValueError, match="the mask is for"):
        adumbra.fit(disc, target, mask=np.ones((4, 4)))
    with pytest.raises(ValueError, match="`radius` starts at 0.9"):
        adumbra.fit(disc, target, start={"radius": 0.9})
    with pytest.raises(ValueError, match="not 2"):
        adumbra.fit(disc, np.zeros((8, 8, 2), np.float32))
    with pytest.raises(KeyError, match="no input `radios`"):
        adumbra.fit(disc, target, wrt=["radios"])
    with pytest.raises(adumbra.FitError):
        adumbra.fit(disc, tmp_path / "none.png")
    (tmp_path / "disc.adub").write_bytes(disc.to_bytecode())
    with pytest.raises(adumbra.FitError, match="load its source"):
        adumbra.fit(adumbra.load(tmp_path / "disc.adub"), target)

    def interrupted(_: adumbra.FitProgress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        adumbra.fit(disc, adumbra.image(disc, 128, {"radius": 0.4}), restarts=50, progress=interrupted)


def test_scenes_become_arrays(tmp_path: Path) -> None:
    (tmp_path / "plain.adu").write_text("shader plain(out closure surface) { surface = make_closure<emission>(color(1, 2, 3)); }")
    try:
        found = adumbra.render(tmp_path / "plain.adu", views=["beauty", "level"], size=(24, 16), samples=1, alpha=True)
    except adumbra.RenderError as error:
        pytest.fail(str(error))
    assert found["beauty"].shape == (16, 24, 4) and found["level"].shape[:2] == (16, 24)
    with pytest.raises(adumbra.RenderError, match="none.json"):
        adumbra.render(tmp_path / "none.json")
    with pytest.raises(adumbra.RenderError):
        adumbra.render({"camera": 3}, root=tmp_path)
    assert not list(tmp_path.glob("*.json"))


def test_commands_are_those_of_the_library() -> None:
    done = command("eval", "2 + 3")
    assert (done.returncode, done.stdout) == (0, "value  5\n")
    assert command("run", "none.adu").returncode == 2
    assert command("eval", "nosuch").returncode == 1
    assert "adumbra" in command("--version").stdout
