"""Numerical methods: roots, integrals, series, linear systems."""

import cmath
import math

from support import Held, f32, within


def newton(a, b):
    x = 2.0
    for _ in range(50):
        x -= (x**3 - a * x - b) / (3 * x * x - a)
    return {"root": x, "residue": 0.0}


def secant(k):
    # Bisection, with far more steps than a double needs; the root moves as the implicit function says.
    low, high = 0.0, 1.0
    for _ in range(80):
        mid = (low + high) / 2
        low, high = (mid, high) if math.exp(-k * mid) > mid else (low, mid)
    return {"root": low}


def halley(x):
    return {"root": x ** (1 / 3), "built_in": x ** (1 / 3), "difference": 0.0}


def fixed_point(a):
    x = 0.5
    for _ in range(500):
        x += 0.6 * (math.cos(a * x) - x)
    return {"x": x, "converged": True}


def kepler(m, e):
    x = m
    for _ in range(200):
        x = m + e * math.sin(x)
    true_anomaly = math.atan2(math.sqrt(1 - e * e) * math.sin(x), math.cos(x) - e)
    return {"eccentric": x, "true_anomaly": true_anomaly, "radius": (1 - e * e) / (1 + e * math.cos(true_anomaly))}


def simpson(a, b):
    return {"integral": (a - math.exp(-b) * (math.sin(a * b) + a * math.cos(a * b))) / (1 + a * a)}


def romberg(k):
    return {"integral": math.atan(k) / k, "closed_form": math.atan(k) / k}


def gauss_legendre(a, b):
    def antiderivative(t):
        return t**8 / 8 - 2 * t**7 / 7 + 0.5 * t**5 / 5 + t * t / 2

    return {"integral": antiderivative(b) - antiderivative(a)}


def runge_kutta(damping, stiffness):
    # The closed form; 20 steps of 0.1 are that exact to some 1e-5.
    w = cmath.sqrt(stiffness - damping * damping / 4)
    t = 2.0
    decay = math.exp(-damping * t / 2)
    x = decay * (cmath.cos(w * t) + damping / 2 / w * cmath.sin(w * t)).real
    v = -decay * (stiffness / w * cmath.sin(w * t)).real
    return {"x": x, "v": v}


runge_kutta.tolerance = 1e-4


@within(2e-5)
def leapfrog(speed, mass):
    p, v, h = 1 + 0j, 1j * speed, 0.05
    for _ in range(40):
        v -= mass * p / abs(p) ** 3 * h / 2
        p += v * h
        v -= mass * p / abs(p) ** 3 * h / 2
    return {"position": (p.real, p.imag), "energy": abs(v) ** 2 / 2 - mass / abs(p)}


def horner(t):
    c = (2, -1, 0.5, 3, -0.25, 0.125)
    slope = sum(i * c[i] * t ** (i - 1) for i in range(1, 6))
    # The last two are derivatives themselves, so theirs are 0.
    return {
        "value": sum(c[i] * t**i for i in range(6)),
        "slope": slope,
        "by_ddx": Held(slope),
        "by_ddy": Held(slope),
    }


def chebyshev(theta):
    c = (0.5, -1, 2, 0.25, -0.75)
    return {
        "t7": math.cos(7 * theta),
        "cos7": math.cos(7 * theta),
        "sum": sum(c[n] * math.cos(n * theta) for n in range(5)),
    }


def legendre(x):
    # Rodrigues's polynomials, by powers.
    p = (
        1.0,
        x,
        (3 * x**2 - 1) / 2,
        (5 * x**3 - 3 * x) / 2,
        (35 * x**4 - 30 * x**2 + 3) / 8,
    )
    return {"p3": p[3], "p6": (231 * x**6 - 315 * x**4 + 105 * x**2 - 5) / 16, "sum": sum(p)}


def lagrange(t):
    # Newton's divided differences.
    x, c = (0, 1, 2.5, 3, 4), [1, -2, 0.5, 4, 3]
    for n in range(1, 5):
        for i in range(4, n - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - n])
    value = 0.0
    for i in range(4, -1, -1):
        value = value * (t - x[i]) + c[i]
    return {"a": value, "b": value}


def table_lookup(t):
    x, y = (0, 0.5, 1, 2.5, 4, 6), (1, 2, -1, 3, 3.5, 0)
    value = y[0] + 0.0
    for i in range(5):
        value += (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (max(t, x[i]) - x[i] - max(t - x[i + 1], 0))
    return {"value": value}


def exponential_series(x):
    terms, term = 1, 1.0
    while term > 1e-4:
        term, terms = term * x / terms, terms + 1
    return {"e": math.exp(x), "s": math.sin(x), "terms": terms}


exponential_series.tolerance = 1e-4


def arithmetic_geometric_mean(angle, len):
    # The series in θ: 1 + θ²/16 + 11 θ⁴/3072 + …, as Legendre's polynomials at 0 give its terms.
    k = math.sin(angle / 2) ** 2
    sum_ = sum((math.comb(2 * n, n) / 4**n) ** 2 * k**n for n in range(60))
    small = 2 * math.pi * math.sqrt(len / 9.81)
    return {"period": small * sum_, "small_angle": small}


def gamma(x, y):
    beta = math.gamma(x) * math.gamma(y) / math.gamma(x + y)
    return {"g": math.gamma(x), "reflected": math.gamma(y), "beta": beta}


gamma.tolerance = 3e-5


def error_function(x):
    return {"value": math.erf(x)}


def bessel(x):
    def j(n, x):
        # Bessel's integral by the trapezoid rule, which converges geometrically on a period.
        steps = 64
        return sum(math.cos(n * t - x * math.sin(t)) for t in (math.pi * (i + 0.5) / steps for i in range(steps))) / steps

    return {"j0": j(0, x), "j1": j(1, x), "law": True}


def elimination(u, v):
    rows = ((u, 2, -1), (4, v, 1), (-2, 1, 3 * u))
    right = (3, u * v, 1)

    def det(m):
        return (
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
        )

    def with_column(k):
        return [[right[r] if c == k else rows[r][c] for c in range(3)] for r in range(3)]

    d = det(rows)
    return {"x": tuple(det(with_column(k)) / d for k in range(3)), "determinant_": d}


def power_iteration(a, b):
    value = (a + 1) / 2 + math.sqrt((a - 1) ** 2 / 4 + b * b)
    length = math.hypot(b, value - a)
    return {"eigenvalue": value, "formula": value, "vector_": (b / length, (value - a) / length)}


def least_squares(y):
    points = list(zip((0, 1, 2, 3, 4, 6), (1.1, 1.9, y, 4.2, 4.8, 7.1)))
    mx, my = (sum(p[i] for p in points) / 6 for i in (0, 1))
    xx = sum((p[0] - mx) ** 2 for p in points)
    xy = sum((p[0] - mx) * (p[1] - my) for p in points)
    yy = sum((p[1] - my) ** 2 for p in points)
    return {"slope": xy / xx, "offset": my - xy / xx * mx, "correlation": xy / math.sqrt(xx * yy)}


def fourier(phase, amplitude):
    return {"second": 4 * amplitude * math.cos(phase), "third": -2.0, "parseval": 0.0}


def logistic_map(x, r):
    def step(x):
        return r * x * (1 - x)

    orbit = [x]
    for _ in range(10):
        orbit.append(step(orbit[-1]))
    return {"tenth": orbit[10], "product": math.prod(r * (1 - 2 * o) for o in orbit[:10])}


def mandelbrot(cx, cy):
    def turns(c, most=100, bound=2.0):
        z, n = 0j, 0
        while n < most and abs(z) <= bound:
            z, n = z * z + c, n + 1
        return n, z

    n, z = turns(complex(cx, cy), 10**6, 100.0)
    return {
        "inside": turns(-1)[0],
        "edge": turns(-0.75 + 0.1j)[0],
        "outside": turns(1 + 1j)[0] * 100 + turns(0.5)[0],
        "smooth": n + 1 - math.log2(math.log(abs(z))),
    }


def newton_fractal(px, py):
    z = start = complex(px, py)
    for _ in range(2):
        start -= (start**3 - 1) / (3 * start**2)
    for _ in range(60):
        z -= (z**3 - 1) / (3 * z**2)
    root = 0 if z.real > 0 else 1 if z.imag > 0 else 2
    return {"root": root, "after_two_re": start.real, "after_two_im": start.imag}


@within(0)
def kahan():
    tenth = f32(0.1)
    plain = 0.0
    for _ in range(1000):
        plain = f32(plain + tenth)

    def halves(n):
        return tenth if n == 1 else f32(halves(n // 2) + halves(n - n // 2))

    # Compensated, the sum is the float nearest to the exact one.
    return {"plain": plain, "compensated": f32(1000 * tenth), "halves": halves(1000)}


def softmax(a, b):
    scores = (a, b, 98, 100)
    weights = tuple(1 / sum(math.exp(t - s) for t in scores) for s in scores)
    return {
        "weights": weights,
        "smooth_maximum": 98 + math.log(sum(math.exp(s - 98) for s in scores)),
        "entropy": -sum(w * math.log(w) for w in weights),
    }


def statistics(x):
    w = (2, 3.5, x, 8, 1.25, 6, 5)
    mean = sum(w) / 7
    m2 = sum((v - mean) ** 2 for v in w)
    return {
        "mean": mean,
        "variance": m2 / 6,
        "geometric": math.prod(w) ** (1 / 7),
        "harmonic": 7 / sum(1 / v for v in w),
        "skewness": sum((v - mean) ** 3 for v in w) / 7 / (m2 / 7) ** 1.5,
    }


def monte_carlo(k):
    def mirrored(i, base):
        digits = []
        while i:
            digits.append(i % base)
            i //= base
        return sum(d / base ** (n + 1) for n, d in enumerate(digits))

    points = [(mirrored(i, 2), mirrored(i, 3)) for i in range(1, 101)]
    return {
        "estimate": math.fsum(math.exp(-k * x * y) for x, y in points) / 100,
        "inside": sum(x * x + y * y < 1 for x, y in points),
    }


def powers(x, y):
    return {
        "p": x**y,
        "tower": y ** math.sqrt(x),
        "self_": x**x + y**y,
        "by_log": 0.0,
        "square": (x - y) ** 2,
    }


def gradient_descent(x, y):
    # The gradient of Rosenbrock's valley, by hand.
    slope_x = -2 * (1 - x) - 8 * x * (y - x * x)
    slope_y = 4 * (y - x * x)
    return {
        "value": (1 - x) ** 2 + 2 * (y - x * x) ** 2,
        "slope_x": slope_x,
        "slope_y": slope_y,
        "steepest": math.hypot(slope_x, slope_y),
    }
