"""Requests of textures; the command's textures are checkers of eighths, light at (0, 0)."""

import math


def _checker(u, v):
    return float((math.floor(8 * u) + math.floor(8 * v)) % 2 == 0)


def in_a_loop(u, v):
    places = [(u + i * 0.05, v) for i in range(-2, 3)]
    light = sum(_checker(*p) for p in places) / 5
    return {"c": (light, light, light), **{f"sample film {i}": p for i, p in enumerate(places)}}


def dependent(u, v):
    # A texture's result is held: it has no derivative, whatever it is read at.
    shift = 0.25 * _checker(2 * 0.4, 0.3)
    return {
        "c": _checker(u + shift, v * v),
        "a": 1.0,
        "sample flow_ 1": (2 * u, v),
        "sample dye": (u + shift, v * v),
        "sample flow_ 2": (v, u),
    }


def in_branches(u, near):
    if near:
        return {"c": _checker(16 * u, u), "sample fine": (16 * u, u)}
    return {"c": _checker(u, 0.5), "sample coarse": (u, 0.5)}


def atlas(uv):
    u, v = ((3 * x) % 1 for x in uv)
    place = (0.25 + u / 4, 0.25 + v / 4)
    return {"c": _checker(*place), "sample atlas": place}
