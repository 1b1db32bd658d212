"""Textures of arrays, files and functions."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import adumbra

SOURCE = (
    "texture2d t; shader s(out float4 c) { float2 p = global_value<uv>;"
    " c = float4(texture2d_sample<t>(p), texture2d_sample_alpha<t>(p)); }"
)
SAMPLE = adumbra.compile(SOURCE)
IMAGE = np.random.default_rng(0).random((8, 16, 3)).astype(np.float32)


def at_texels(height: int, width: int) -> np.ndarray:
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([(x + 0.5) / width, (y + 0.5) / height], axis=-1).astype(np.float32)


def test_arrays_are_read_at_their_texels() -> None:
    done = SAMPLE.evaluate({"uv": at_texels(8, 16)}, textures={"t": IMAGE})["c"]
    assert np.allclose(done[..., :3], IMAGE, atol=1e-6) and np.all(done[..., 3] == 1)
    grey = SAMPLE.evaluate({"uv": at_texels(8, 16)}, textures={"t": IMAGE[..., 0]})["c"]
    assert np.allclose(grey[..., :3], IMAGE[..., :1], atol=1e-6)


def test_derivatives_choose_the_level() -> None:
    texture = adumbra.Texture(IMAGE)
    assert (texture.shape, texture.levels) == ((8, 16, 3), 5)
    uv = adumbra.Dual(at_texels(4, 8), ddx=(2 / 16, 0), ddy=(0, 2 / 8))
    done = SAMPLE.evaluate({"uv": uv}, textures={"t": texture})["c"]
    assert np.allclose(done[..., :3], texture.level(1), atol=1e-6)
    with pytest.raises(ValueError, match="there are 5 levels"):
        texture.level(5)


def test_wrap_modes_say_what_is_beyond() -> None:
    for wrap, expected in [("repeat", 0.5), ("clamp", 3.5), ("mirror", 3.5), ("black", 0.0)]:
        image = np.tile(np.arange(4, dtype=np.float32) + 0.5, (4, 1))
        texture = adumbra.Texture(image, wrap=(wrap, "repeat"))
        assert SAMPLE.evaluate({"uv": (1.125, 0.5)}, textures={"t": texture})["c"][0] == expected


def test_integers_are_colours() -> None:
    image = np.full((2, 2, 3), 128, np.uint8)
    value = lambda **how: SAMPLE.evaluate(  # noqa: E731
        {"uv": (0.5, 0.5)}, textures={"t": adumbra.Texture(image, **how)}
    )["c"][0]
    assert np.isclose(value(color_space="linear"), 128 / 255)
    assert np.isclose(value(), 0.2158605)


def test_files_are_read_by_path_and_by_metadata(tmp_path: Path) -> None:
    adumbra.write_image(tmp_path / "wood.exr", IMAGE)
    assert np.array_equal(adumbra.read_image(tmp_path / "wood.exr"), IMAGE)
    by_path = SAMPLE.evaluate({"uv": at_texels(8, 16)}, textures={"t": tmp_path / "wood.exr"})["c"]
    named = SOURCE.replace("t;", 't <<< file = "wood.exr" >>>;', 1)
    (tmp_path / "s.adu").write_text(named)
    by_metadata = adumbra.load(tmp_path / "s.adu")(uv=at_texels(8, 16))["c"]
    assert np.array_equal(by_path, by_metadata) and np.allclose(by_path[..., :3], IMAGE, atol=1e-6)
    with pytest.raises(KeyError, match="the texture `t` has no image"):
        adumbra.compile(named)()
    with pytest.raises(OSError):
        SAMPLE.evaluate(textures={"t": tmp_path / "none.exr"})


def test_png_files_have_colours_of_eight_bits(tmp_path: Path) -> None:
    adumbra.write_image(tmp_path / "a.png", np.clip(IMAGE, 0, 1))
    assert np.allclose(adumbra.read_image(tmp_path / "a.png"), IMAGE, atol=0.01)
    with pytest.raises(ValueError, match="neither in .png nor in .exr"):
        adumbra.write_image(tmp_path / "a.gif", IMAGE)


def test_functions_get_chunks_of_requests() -> None:
    seen = []

    def ramp(requests: np.ndarray) -> np.ndarray:
        assert requests.dtype == np.float32 and requests.shape[1] == 6
        seen.append(len(requests))
        return np.stack([requests[:, 0], requests[:, 1], requests[:, 2], requests[:, 5]], axis=1)

    uv = adumbra.Dual(np.random.default_rng(1).random((5000, 2), np.float32), ddx=(0.25, 0), ddy=(0, 0.5))
    done = SAMPLE.evaluate({"uv": uv}, textures={"t": ramp})["c"]
    assert np.array_equal(done[:, :2], uv.value)
    assert np.all(done[:, 2] == 0.25) and np.all(done[:, 3] == 0.5)
    assert sum(seen) == 5000 and len(seen) < 200


def test_functions_give_slopes() -> None:
    slope = adumbra.compile("texture2d t; shader s(out float o) { o = ddx(texture2d_sample<t>(global_value<uv>.x, 0).x); }")

    def squares(requests: np.ndarray) -> np.ndarray:
        answer = np.zeros((len(requests), 12), np.float32)
        answer[:, 0], answer[:, 4] = requests[:, 0] ** 2, 2 * requests[:, 0]
        return answer

    uv = adumbra.Dual((3.0, 0.0), ddx=(0.5, 0.0))
    assert slope.evaluate({"uv": uv}, textures={"t": squares})["o"] == 3
    without = slope.evaluate({"uv": uv}, textures={"t": lambda at: squares(at)[:, :4]})
    assert without["o"] == 0 and without.faults[0].diagnostic.code.startswith("W")


def test_levels_come_by_name() -> None:
    program = adumbra.compile("texture2d t; shader s(out float o) { o = texture2d_sample_level<t>(float2(0.5, 0.5), 2.5).x; }")
    levels = []

    def answer(requests: np.ndarray, level: np.ndarray) -> np.ndarray:
        levels.append(level.copy())
        return np.zeros((len(requests), 4))

    program.evaluate(textures={"t": answer})
    assert levels == [2.5]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda requests: np.zeros((len(requests), 3)), ValueError),
        (lambda requests: np.zeros((len(requests) + 1, 4)), ValueError),
        (lambda requests: None, (TypeError, ValueError)),
        (lambda requests: "texels", (TypeError, ValueError)),
        (lambda: None, TypeError),
        (lambda requests: 1 / 0, ZeroDivisionError),
    ],
)
def test_wrong_answers_are_exceptions(answer: object, error: type) -> None:
    uv = np.zeros((20_000, 2), np.float32)
    for threads in (1, 4):
        with pytest.raises(error):
            SAMPLE.evaluate({"uv": uv}, textures={"t": answer}, threads=threads)


def test_functions_may_evaluate_themselves() -> None:
    other = adumbra.compile("shader s(out float4 c) { c = float4(global_value<uv>, 0, 1); }")
    inner = lambda requests: other(uv=requests[:, :2])["c"]  # noqa: E731
    uv = np.random.default_rng(2).random((3000, 2), np.float32)
    for threads in (1, 3):
        done = SAMPLE.evaluate({"uv": uv}, textures={"t": inner}, threads=threads)["c"]
        assert np.array_equal(done[:, :2], uv)


@pytest.mark.parametrize(
    "image", [np.zeros((2, 2, 5)), np.zeros(4), np.zeros((0, 4, 3)), np.zeros((2, 2), complex), np.zeros((2, 2), int)]
)
def test_what_is_no_image_is_refused(image: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError)):
        adumbra.Texture(image)


def test_unknown_settings_are_refused() -> None:
    for wrong in ({"wrap": "twice"}, {"color_space": "blue"}, {"wrap": ("clamp",)}):
        with pytest.raises(ValueError):
            adumbra.Texture(IMAGE, **wrong)


def test_pickles_of_textures_are_the_same() -> None:
    texture = pickle.loads(pickle.dumps(adumbra.Texture(IMAGE, wrap=("clamp", "black"))))
    for uv in [(0.3, 0.4), (1.2, -0.01)]:
        own, same = (
            SAMPLE.evaluate({"uv": uv}, textures={"t": one})["c"]
            for one in (adumbra.Texture(IMAGE, wrap=("clamp", "black")), texture)
        )
        assert np.array_equal(own, same)
