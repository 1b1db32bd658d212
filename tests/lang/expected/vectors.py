"""Vectors as tuples."""

import math


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def scale(k, a):
    return tuple(k * x for x in a)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def length(a):
    return math.hypot(*a)


def unit(a):
    return scale(1 / length(a), a)


def det3(a, b, c):
    return dot(a, cross(b, c))


def mix(a, b, t):
    if isinstance(a, tuple):
        return tuple(mix(x, y, t) for x, y in zip(a, b))
    return a + (b - a) * t


def clamp(x, low=0.0, high=1.0):
    return max(low, min(high, x))


def smoothstep(a, b, x):
    t = clamp((x - a) / (b - a))
    return t * t * (3 - 2 * t)


def fract(x):
    return x - math.floor(x)
