"""Functions in the style of public shader libraries, by GLSL's meaning: a matrix is a tuple of columns."""

import cmath
import math

from vectors import add, clamp, cross, dot, fract, length, mix, scale, sub, unit
from support import within


def _times_vector(m, v):
    """m * v: the columns, weighted."""
    return tuple(math.fsum(column[row] * part for column, part in zip(m, v)) for row in range(len(m[0])))


def _vector_times(v, m):
    """v * m."""
    return tuple(dot(v, column) for column in m)


def _times(a, b):
    """a * b."""
    return tuple(_times_vector(a, column) for column in b)


def _transposed(m):
    return tuple(zip(*m))


def _solve(m, v):
    """The vector that m takes to v, by Cramer's rule."""
    det = dot(m[0], cross(m[1], m[2]))
    swapped = (tuple(v if at == i else column for at, column in enumerate(m)) for i in range(3))
    return tuple(dot(s[0], cross(s[1], s[2])) / det for s in swapped)


def _turn(r):
    return ((math.cos(r), math.sin(r)), (-math.sin(r), math.cos(r)))


def _box(p, b):
    d = tuple(abs(x) - size for x, size in zip(p, b))
    return length(tuple(max(x, 0.0) for x in d)) + min(max(d), 0.0)


def _segment(p, a, b):
    pa, ba = sub(p, a), sub(b, a)
    return length(sub(pa, scale(clamp(dot(pa, ba) / dot(ba, ba)), ba)))


def distances(x, y):
    p = (x, y)
    disc, rect = length(p) - 0.3, _box(p, (0.25, 0.5))
    segment = _segment(p, (0.0, -0.5), (1.0, 1.5))
    hexagon = max(abs(x) * math.sqrt(3) / 2 + abs(y) / 2, abs(y)) - 0.4
    h = clamp(0.5 + 0.5 * (rect - disc) / 0.4)
    union = rect + (disc - rect) * h - 0.4 * h * (1 - h)
    rounded = _box(p, (0.4, 0.1)) - 0.1
    rhomb = abs(x) / 0.5 + abs(y) / 0.75 - 1.0
    return {"a": (disc, rect, segment, hexagon), "b": (rounded, rhomb, union, abs(segment) - 0.05)}


def solids(x, y):
    c, s = math.cos(0.7), math.sin(0.7)
    turned = _times_vector(((1.0, 0.0, 0.0), (0.0, c, s), (0.0, -s, c)), (x, y, 0.5))
    q = add(turned, (0.1, -0.2, 0.3))
    torus = length((math.hypot(q[0], q[2]) - 0.4, q[1])) - 0.1
    a = (length(q) - 0.5, _box(q, (0.4, 0.3, 0.2)), torus, _segment(q, (0.0, 0.0, 0.0), (0.0, 1.0, 0.5)) - 0.2)
    return {"turned": turned, "a": a, "b": (dot(q, (0.6, 0.8, 0.0)) - 0.25, 1.3)}


def frames(x, y):
    both = _times(_turn(x), ((2.0, 0.0), (0.0, y)))
    first, second = both
    shear = ((first[0], first[1] - 0.5), add(second, scale(0.5, first)))
    z = unit((x, y, 1.0))
    side = unit(cross(z, (0.0, 1.0, 0.0)))
    eye = (side, cross(side, z), z)
    c, s = math.cos(x), math.sin(x)
    around_y = ((c, 0.0, -s), (0.0, 1.0, 0.0), (s, 0.0, c))
    c, s = math.cos(y), math.sin(y)
    around_z = ((c, s, 0.0), (-s, c, 0.0), (0.0, 0.0, 1.0))
    seen = _times_vector(_times(eye, _times(around_z, around_y)), (1.0, 2.0, 3.0))
    p = _vector_times((x, -y, 2.0), eye)
    return {
        "both": both,
        "shear": shear,
        "eye": eye,
        "sizes": (length(first), length(second)),
        "seen": seen,
        "round": _times_vector(_transposed(eye), p),
    }


@within(3e-5)
def colours(x, y):
    c = (x, y, 0.25)
    to_yiq = ((0.300, 0.590, 0.110), (0.599, -0.278, -0.321), (0.215, -0.525, 0.310))
    weights = (0.2126, 0.7152, 0.0722)
    yiq = _times_vector(to_yiq, c)
    turned = _times_vector(_turn(0.6), yiq[1:])
    blend = (0.5, 0.6, 0.7)
    overlaid = tuple(2 * a * b if a < 0.5 else 1 - 2 * (1 - a) * (1 - b) for a, b in zip(c, blend))
    lifted = (max(0.0, (part - 0.5) * 1.2 + 0.55 - 0.004) for part in c)
    toned = tuple(v * (6.2 * v + 0.5) / (v * (6.2 * v + 1.7) + 0.06) for v in lifted)
    luma = dot(c, weights)
    return {
        "yiq": yiq,
        "back": c,
        "luma": (luma, dot(c[::-1], weights)),
        "shifted": _solve(to_yiq, (yiq[0], *turned)),
        "overlaid": overlaid,
        "toned": toned,
        "saturated": tuple(luma + 1.5 * (part - luma) for part in c),
    }


def _permute(n):
    return (34 * n + 1) * n % 289


def _lattice(i, j):
    return _permute(_permute(i % 289) + j % 289) / 289


def _value_noise(x, y):
    i, j = math.floor(x), math.floor(y)
    u, v = (t**3 * (t * (t * 6 - 15) + 10) for t in (fract(x), fract(y)))
    low = mix(_lattice(i, j), _lattice(i + 1, j), u)
    return mix(low, mix(_lattice(i, j + 1), _lattice(i + 1, j + 1), u), v)


@within(1e-4)
def noises(x, y):
    st = (2 * x, 2 * y)
    i, j = math.floor(st[0]), math.floor(st[1])
    value, sum_, p = _value_noise(*st), 0.0, complex(*st)
    for octave in range(3):
        sum_ += abs(2 * _value_noise(p.real, p.imag) - 1) / 2 ** (octave + 1)
        p = p * complex(0.8, 0.6) * 2 + complex(100, 100)
    centre = (_lattice(i, j), _lattice(i + 17, j + 17))
    return {"fixed": (11.5, float(_permute(41))), "value": value, "sum": sum_, "centre": centre}


@within(5e-5)
def spaces(x, y):
    p = complex(2 * x - 1, 2 * y - 1)
    gain = 0.5 * (2 * min(x, 1 - x)) ** 2.5
    t = abs(y - 0.5) / 0.4
    curves = (
        (4 * x * (1 - x)) ** 1.5,
        gain if x < 0.5 else 1 - gain,
        1 - t * t * (3 - 2 * t) if t <= 1 else 0.0,
        math.sin(13 * x * math.pi / 2) * 2 ** (10 * (x - 1)),
    )
    tiled = (fract(3 * y), fract(3 * x), float(math.floor(3 * y)), float(math.floor(3 * x)))
    return {"polar": (cmath.phase(p), abs(p)), "back": (p.real, p.imag), "tiled": tiled, "curves": curves}
