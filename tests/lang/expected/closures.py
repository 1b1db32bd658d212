"""Requests that closures' arguments make; the trees themselves are written by hand."""

import math


def with_textures(position):
    x, y, z = position
    return {"sample albedo": (2 * x + z, math.sin(y) * z)}
