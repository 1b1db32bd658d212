"""The rows of the derivative table: the functions by Python's own mathematics, the derivatives by differences."""

import cmath
import math

from vectors import add, clamp, cross, dot, length, mix, scale, smoothstep, sub, unit


def derivatives_of_arithmetic(a, b):
    v = (-a * a + b / 2 - a, -b * a + b / a - a, -a + b / b - a)
    return {"negated": -a, "sum": a + b, "difference": a - b, "product": a * b, "quotient": a / b, "all": v}


def derivatives_of_sine(t):
    return {"a": math.sin(t), "b": math.cos(t), "c": math.tan(t)}


def derivatives_of_arcs(t, y, x):
    angle = cmath.phase(complex(x, y))
    return {"a": math.asin(t), "b": math.acos(t), "c": math.atan(3 * t), "d": angle, "e": angle}


def derivatives_of_hyperbolics(t):
    return {"a": math.sinh(t), "b": math.cosh(t), "c": math.tanh(t)}


def derivatives_of_inverse_hyperbolics(t):
    return {"a": math.asinh(t), "b": math.acosh(2.5 + t), "c": math.atanh(t), "d": math.asinh(40 * t)}


def derivatives_of_reciprocals(a, b):
    sized = math.copysign(a, b)
    return {
        "r": 1 / a,
        "c": sized,
        "d": math.copysign(1.0, b) * a,
        "v": (1 / a, 1 / b, 1 / (a * b)),
        "w": (sized, -abs(b)),
    }


def derivatives_of_powers(t, e):
    return {
        "a": math.exp(t),
        "b": 2**t,
        "c": math.log(t),
        "d": math.log2(t),
        "e": math.log10(t),
        "f": math.sqrt(t),
        "g": 1 / math.sqrt(t),
        "h": -(t ** (1 / 3)),
        "i": t**e,
    }


def derivatives_of_steps(t, b):
    return {
        "a": abs(t),
        "b": float(math.floor(t)),
        "c": float(math.ceil(t)),
        "d": float(round(t)),
        "e": float(math.trunc(t)),
        "f": math.copysign(1.0, t),
        "g": float(t >= 0.5),
        "h": t - math.floor(t),
        "i": t % b,
        "j": math.fmod(t, b),
    }


def derivatives_of_choices(a, b, t):
    return {
        "c": min(a, b),
        "d": max(a, b),
        "e": clamp(t, a, 1.0),
        "f": clamp(t),
        "g": mix(a, b, t),
        "h": smoothstep(a - 1, b + 0.5, t),
        "i": a * t if a < b else b * t,
        "j": math.hypot(a, t),
    }


def derivatives_of_geometry(a, b):
    n, along = unit(b), unit(a)
    # Snell's law: what is across the normal shrinks by 0.7, the rest makes the length 1. The normal is -b.
    across = scale(0.7, sub(along, scale(dot(along, n), n)))
    depth = math.sqrt(1 - dot(across, across))
    return {
        "d": dot(a, b),
        "c": cross(a, b),
        "l": length(a),
        "far": length(sub(a, b)),
        "n": along,
        "m": sub(a, scale(2 * dot(a, n), n)),
        "r": add(across, scale(depth, n)),
        "f": a if dot(a, b) < 0 else scale(-1, a),
    }


def derivatives_through_branches(x, y):
    if x > 1:
        p = x * y
    else:
        # x, then x·y, then x, …: at (0.5, 2) the sum passes 2 after three terms.
        p = x + x * y + x + x * y
    return {"p": p, "d": 2 * p, "q": p * p}
