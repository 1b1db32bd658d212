"""What tests share: shaders, and where the repository is."""

from pathlib import Path

import pytest

import adumbra

REPOSITORY = Path(__file__).resolve().parents[2]

WAVE = """
shader wave(float gain = 2.0, float3 tint = float3(1, 2, 3), out float o, out float3 c, out int n, out bool b)
{
    float2 u = global_value<uv>;
    o = gain * sin(u.x) + u.y;
    c = tint * u.x;
    n = (int)(10 * u.x);
    b = u.x > u.y;
}
"""


@pytest.fixture(scope="session")
def wave() -> adumbra.Program:
    return adumbra.compile(WAVE, name="wave.adu")


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY
