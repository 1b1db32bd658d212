"""Matrices as tuples of rows."""

import cmath
import math

from vectors import dot



def _on(m, v):
    return tuple(dot(row, v) for row in m)


def _det(m):
    # Leibniz by recursion on the first row.
    if len(m) == 1:
        return m[0][0]
    minors = ([row[:c] + row[c + 1 :] for row in m[1:]] for c in range(len(m)))
    return sum((-1) ** c * m[0][c] * _det(minor) for c, minor in enumerate(minors))


def _inverse(m):
    # Gauss and Jordan with pivots.
    n = len(m)
    rows = [list(row) + [float(i == j) for j in range(n)] for i, row in enumerate(m)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(n):
            if r != k:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k])]
    return tuple(tuple(row[n:]) for row in rows)


def rotations(a, b):
    c, s = math.cos(a + b), math.sin(a + b)
    return {"product": ((c, -s), (s, c)), "det": 1.0, "back": (3.0, -2.0)}


def inverse(u, v):
    m = ((u, 2, -1), (4, v, 1), (-2, 1, 3 * u))
    identity = tuple(tuple(float(i == j) for j in range(3)) for i in range(3))
    return {"inv": _inverse(m), "product": identity, "small": _inverse(((u, v), (v * v, 2)))}


def determinants(t):
    a = ((t, 1, 0), (2, -1, t), (0.5, 3, 1))
    b = ((1, 0, 2), (t, 1, 0), (0, t, -1))
    m = ((t, 1, 0, 2), (0.5, -1, 3, t), (2, t, 1, 0), (1, 0, -2, 1))
    return {"d2": t**3 + 6, "d3": _det(a), "d4": _det(m), "law": _det(a) * _det(b), "none": 0.0}


def transforms(p, angle):
    # In the plane of x and z, a rotation about y multiplies z + ix by e^(i·angle).
    turn = cmath.exp(1j * angle)
    w = complex(1.5 * p[2], 2 * p[0]) * turn
    d = 1.5 * turn
    return {
        "moved": (w.imag + 1, 0.5 * p[1] + 2, w.real - 3),
        "back": p,
        "direction": (d.imag, 0.0, d.real),
    }


def powers(stay):
    # F24; the chain settles where the flows are equal, p·(1 - s) = (1 - p)/2.
    p = 0.5 / (1.5 - stay)
    return {"f24": 46368.0, "settled": (p, 1 - p)}


def arithmetic(k):
    a, b = ((1, k), (3, 4)), ((k * k, 0.5), (-1, 2))
    each = lambda f: tuple(tuple(float(f(x, y)) for x, y in zip(p, q)) for p, q in zip(a, b))
    return {
        "sum": each(lambda x, y: x + y),
        "scaled": each(lambda x, y: k * x / 2),
        "less": each(lambda x, y: y - x),
        "divided": each(lambda x, y: 2 * (y / k + x)),
    }


def skinning(bend, w):
    # Bones as maps of the complex plane: z → e^(i·angle)·z + i·length.
    def bone(k, z):
        if k == 0:
            return cmath.exp(0.2j) * z
        return bone(k - 1, cmath.exp(1j * bend * k) * z + 1j)

    z = (1 - w) * bone(1, 0.5 + 0.25j) + w * bone(2, 0.5 + 0.25j)
    return {"place": (z.real, z.imag)}


def colour_matrix(c, hue):
    # About the grey axis: the part along it stays, the rest turns in its plane.
    def turn(c):
        grey = sum(c) / 3
        r, g, b = (x - grey for x in c)
        across = ((b - g) / math.sqrt(3), (r - b) / math.sqrt(3), (g - r) / math.sqrt(3))
        return tuple(grey + math.cos(hue) * x + math.sin(hue) * y for x, y in zip((r, g, b), across))

    def saturate(c, s):
        grey = dot(c, (0.2126, 0.7152, 0.0722))
        return tuple(grey + s * (x - grey) for x in c)

    return {"turned": turn(c), "grey": saturate(c, 0), "both": saturate(turn(c), 1.5)}


def jacobi(x, y):
    # Roots of the characteristic polynomial by the cosine of a third of an angle.
    m = ((4, x, y), (x, 2, -0.5), (y, -0.5, 1))
    q = 7 / 3
    p2 = (x * x + y * y + 0.25) * 2 + sum((m[i][i] - q) ** 2 for i in range(3))
    p = math.sqrt(p2 / 6)
    b = tuple(tuple((m[i][j] - q * (i == j)) / p for j in range(3)) for i in range(3))
    angle = math.acos(_det(b) / 2) / 3
    return {
        "greatest": q + 2 * p * math.cos(angle),
        "least": q + 2 * p * math.cos(angle + 2 * math.pi / 3),
        "trace": 7.0,
    }


def jacobian(uv, point):
    warp = lambda uv: (uv[0] ** 2, uv[0] * uv[1])
    j = tuple(zip(point.ddx(warp), point.ddy(warp)))
    return {"j": j, "steps": _inverse(j), "area": abs(_det(j))}


def cholesky(a, b):
    # The factor by its formula for three rows.
    p = math.sqrt(a)
    q, r = b / p, -0.6 / p
    s = math.sqrt(5 - q * q)
    t = (1 - r * q) / s
    l = ((p, 0.0, 0.0), (q, s, 0.0), (r, t, math.sqrt(3 - r * r - t * t)))
    m = ((a, b, -0.6), (b, 5, 1), (-0.6, 1, 3))
    return {"l": l, "x": _on(_inverse(m), (1, -2, 0.5))}


def perspective(p):
    f = 1 / math.tan(0.5)
    x, y, z = p
    depth = (20.5 * z + 20) / (19.5 * z)
    return {"ndc": (f * x / 1.5 / -z, f * y / -z, depth), "back": p}
