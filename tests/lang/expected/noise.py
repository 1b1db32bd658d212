"""Noise: lattices of hashed numbers, and functions of them, from their definitions."""

import itertools
import math

from support import within


def _fade(t):
    return 6 * t**5 - 15 * t**4 + 10 * t**3


def _blend(p, corner):
    """Σ over the corners of the cell of p of what `corner` gives for its place and the way from it, by fades."""
    cell = [math.floor(x) for x in p]
    total = 0.0
    for step in itertools.product((0, 1), repeat=len(p)):
        place = [c + s for c, s in zip(cell, step)]
        way = [x - c for x, c in zip(p, place)]
        weight = math.prod(_fade(1 - abs(w)) for w in way)
        total += weight * corner(place, way)
    return total


def _hash(salt, seed, place):
    h = salt
    for word in (seed, *place):
        h = (h ^ (word & 0xFFFFFFFF)) * 0x7FEB352D & 0xFFFFFFFF
        h ^= h >> 15
    h = h * 0x846CA68B & 0xFFFFFFFF
    return h ^ (h >> 16)


def _numbers(salt, seed, place, count):
    """`count` numbers from 0 to 1, each a share of the hash from the top."""
    bits = 24 if count == 1 else 32 // count
    h = _hash(salt, math.floor(seed), place)
    return [(h >> (32 - bits * (i + 1))) % 2**bits / 2**bits for i in range(count)], 2.0**-bits


def _slope(salt, seed, place):
    numbers, unit = _numbers(salt, seed, place, len(place))
    drawn = [2 * (x + unit / 2) - 1 for x in numbers]
    long = [u + 0.75 * u**3 for u in drawn]
    length = 1.75 if len(place) == 1 else math.hypot(*long)
    return [u / length for u in long]


def _inner(a, b):
    return sum(x * y for x, y in zip(a, b))


def w2_fbm(x, y):
    def gradient(place, way):
        h = (place[0] * 374761393 + place[1] * 668265263) % 2**32
        h = (h ^ (h >> 13)) * 1274126177 % 2**32
        h ^= h >> 16
        return _inner([(h % 65536) * 2 / 65535 - 1, (h >> 16) * 2 / 65535 - 1], way)

    return {"result": sum(0.5**i * _blend((8 * 2**i * x, 8 * 2**i * y), gradient) for i in range(5))}


def _each(f, p, seed):
    return {name: f(p[: n + 1], seed) for n, name in enumerate(("one", "two", "three", "four"))}


@within(2e-5)
def gradient_noise(p, seed):
    salt = 0x9E3779B9

    def noise(p, seed):
        corner = lambda place, way: _inner(_slope(salt, seed, place), way)
        return _blend(p, corner) * 2 / math.sqrt(len(p))

    return _each(noise, p, seed)


@within(5e-5)
def simplex_noise(p, seed):
    scales = (71.51, 99.20, 107.6, 108.5)

    def noise(p, seed):
        n = len(p)
        root = math.sqrt(n + 1)
        middle = [math.floor(x + sum(p) * (root - 1) / n) for x in p]
        total = 0.0
        # All lattice points near by; those that are no corners of the simplex are out of reach.
        for step in itertools.product((-1, 0, 1, 2), repeat=n):
            place = [c + s for c, s in zip(middle, step)]
            way = [x - c + sum(place) * (1 - 1 / root) / n for x, c in zip(p, place)]
            left = 0.5 - _inner(way, way)
            if left > 0:
                total += left**4 * _inner(_slope(0x1B873593, seed, place), way)
        return total * scales[n - 1]

    return _each(noise, p, seed)


@within(2e-5)
def value_noise(p, seed):
    number = lambda salt, place: _numbers(salt, seed, place, 1)[0][0]
    noise = lambda p, _: _blend(p, lambda place, way: number(0x3C6EF372, place))
    cells = tuple(number(0xDAA66D2B, [math.floor(x) for x in p[: n + 1]]) for n in range(4))
    return {**_each(noise, p, seed), "cells": cells}


def cellular_noise(p, seed):
    spread = (1, 0.875, 0.75, 0.625)
    nearest, second, number = [], [], []
    for n in range(1, 5):
        middle = [math.floor(x) for x in p[:n]]
        points = []
        for step in itertools.product(range(-2, 3), repeat=n):
            place = [c + s for c, s in zip(middle, step)]
            numbers, _ = _numbers(0x27D4EB2F, seed, place, n)
            point = [c + 0.5 + spread[n - 1] * (x - 0.5) for c, x in zip(place, numbers)]
            points.append((math.dist(p[:n], point), place))
        points.sort()
        nearest.append(points[0][0])
        second.append(points[1][0])
        number.append(_numbers(0x165667B1, seed, points[0][1], 1)[0][0])
    return {"nearest": tuple(nearest), "second": tuple(second), "number": tuple(number)}
