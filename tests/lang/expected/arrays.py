"""Arrays of arrays, arrays of structs, structs with arrays."""

import bisect
import collections
import math

from support import i32
from vectors import cross, det3, dot, scale, sub, unit


def _fold(values, base):
    packed = 0
    for v in values:
        packed = i32(packed * base + v)
    return packed


def linked_list():
    odd = [1, 3, 5, 7, 9]
    return {
        "sorted": _fold(range(1, 11), 11),
        "reversed": _fold(range(10, 0, -1), 11),
        "without_even": _fold(odd[::-1], 11),
        "length_": 5,
    }


def search_tree():
    keys = [50, 30, 70, 20, 40, 60, 80, 65, 35, 45, 62]

    def height(keys):
        if not keys:
            return 0
        root = keys[0]
        return 1 + max(height([k for k in keys if k < root]), height([k for k in keys if k > root]))

    ordered = sorted(keys)
    return {
        "in_order": _fold(ordered, 13),
        "high": height(keys),
        "above": ordered[bisect.bisect(ordered, 45)],
    }


def hash_table():
    words = [31, 15, 47, 31, 8, 15, 63, 31, 79, 8, 15, 31, 24, 40, 8, 31, 56, 47, 15, 8]
    counts = collections.Counter(words)
    word, count = counts.most_common(1)[0]
    return {"commonest": word, "count": count, "distinct": len(counts), "absent": 0}


def polynomials(x):
    # Multiplied out by hand: (1 - 2x + x³/2)(-1 + 3x + x²) = -1 + 5x - 5x² - 2.5x³ + 1.5x⁴ + 0.5x⁵.
    c = (-1, 5, -5, -2.5, 1.5, 0.5)
    slope = sum(i * c[i] * x ** (i - 1) for i in range(1, 6))
    return {"value": sum(c[i] * x**i for i in range(6)), "slope": slope, "law": slope}


def particles(x, y):
    place = [complex(x, y)] + [complex(i, i * i % 3) for i in range(1, 5)]
    speed = [0j] * 5
    mass = [1 + 0.5 * i for i in range(5)]
    for _ in range(8):
        pulls = [
            sum(mass[j] * (q - p) / (abs(q - p) ** 2 + 0.5) ** 1.5 for j, q in enumerate(place) if j != i)
            for i, p in enumerate(place)
        ]
        speed = [v + 0.05 * pull for v, pull in zip(speed, pulls)]
        place = [p + 0.05 * v for p, v in zip(place, speed)]
    centre = sum(m * p for m, p in zip(mass, place)) / sum(mass)
    return {
        "centre": (centre.real, centre.imag),
        "first": (place[0].real, place[0].imag),
        "energy": sum(m * abs(v) ** 2 for m, v in zip(mass, speed)) / 2,
    }


def mesh(px, py):
    triangles = (
        ((-1, -1, 4), (1, -1, 5), (0, 1, 4.5)),
        ((-1, -0.5, 3), (0, 1, 3.5), (-0.5, 0.75, 2)),
        ((-2, -2, 9), (3, -2, 9), (0, 4, 8)),
    )
    d = unit((px, py, 1))
    hits = []
    for i, (a, b, c) in enumerate(triangles):
        # Inside, where the ray has all three edges on one side.
        sides = [det3(d, p, q) for p, q in ((a, b), (b, c), (c, a))]
        if min(sides) >= 0 or max(sides) <= 0:
            n = cross(sub(b, a), sub(c, a))
            hits.append((dot(a, n) / dot(d, n), i, unit(n)))
    t, which, normal = min(hits)
    return {"which": which, "t": t, "normal": scale(1.0, normal)}


def convolution(x, y):
    def image(x, y):
        return math.sin(3 * x) * math.cos(2 * y) + 0.25 * x * y

    h = 0.125
    across = sum(k * (image(x + h, y + r * h) - image(x - h, y + r * h)) for r, k in ((-1, 1), (0, 2), (1, 1)))
    down = sum(k * (image(x + c * h, y + h) - image(x + c * h, y - h)) for c, k in ((-1, 1), (0, 2), (1, 1)))
    return {"across": across, "down": down, "strength": math.hypot(across, down)}
