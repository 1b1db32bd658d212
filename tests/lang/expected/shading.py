"""Shading: reflection, colour, patterns, textures."""

import cmath
import colorsys
import math

from support import i32, u32, within
from vectors import add, clamp, cross, dot, fract, length, mix, scale, smoothstep, sub, unit


def fresnel(c):
    def reflectance(n):
        # Complex amplitudes; the index may have an imaginary part, and total reflection needs no case.
        t = cmath.sqrt(1 - (1 - c * c) / (n * n))
        across, parallel = (c - n * t) / (c + n * t), (n * c - t) / (n * c + t)
        return (abs(across) ** 2 + abs(parallel) ** 2) / 2

    n, k = 0.27, 2.95
    m = n * n + k * k
    # The program's form for conductors leaves out what is small against n² + k².
    across = ((n - c) ** 2 + k * k) / ((n + c) ** 2 + k * k)
    parallel = ((n - 1 / c) ** 2 + k * k) / ((n + 1 / c) ** 2 + k * k)
    assert m > 8
    return {
        "approximate": 0.04 + 0.96 * (1 - c) ** 5,
        "glass": reflectance(1.5),
        "from_inside": reflectance(1 / 1.5),
        "gold": (across + parallel) / 2,
    }


def ggx(n, roughness):
    n, v, l = unit(n), unit((0.3, 0, 1)), unit((-0.5, 0.8, 0.6))
    h = unit(add(v, l))
    a = roughness**2
    # By tangents: D = 1/(π a² cos⁴ (1 + tan²/a²)²), G1 = 2/(1 + √(1 + a² tan²)).
    tan2 = lambda c: 1 / (c * c) - 1
    nh, nv, nl = dot(n, h), dot(n, v), dot(n, l)
    d = 1 / (math.pi * a * a * nh**4 * (1 + tan2(nh) / a**2) ** 2)
    g = math.prod(2 / (1 + math.sqrt(1 + a * a * tan2(c))) for c in (nv, nl))
    f = 0.04 + 0.96 * (1 - dot(v, h)) ** 5
    return {"d": d, "g": g, "specular": d * g * f / (4 * nv * nl)}


def phong(n):
    n, l, v = unit(n), unit((0.5, 0.25, 1)), (0, 0, 1)
    c = dot(n, l)
    mirrored = 2 * c * n[2] - l[2]
    lit = c > 0
    return {
        "diffuse": c if lit else 0.0,
        "specular": mirrored**20 if lit else 0.0,
        "blinn": dot(n, unit(add(l, v))) ** 40 if lit else 0.0,
        "rim": (1 - abs(n[2])) ** 3,
    }


def srgb(c):
    def display(x):
        return 12.92 * x if x <= 0.0031308 else 1.055 * x ** (1 / 2.4) - 0.055

    def linear(x):
        return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4

    return {"display": tuple(map(display, c)), "linear": tuple(map(linear, c)), "back": c}


def hsv(c):
    h, s, v = colorsys.rgb_to_hsv(*c)
    return {"hsv": (h, s, v), "turned": colorsys.hsv_to_rgb((h + 0.4) % 1, s, v), "back": c}


def tone_mapping(c, stops):
    def hable(x):
        return ((x * (0.15 * x + 0.05) + 0.004) / (x * (0.15 * x + 0.5) + 0.06)) - 0.02 / 0.3

    x = scale(2**stops, c)
    return {
        "reinhard": tuple(v * (1 + v / 16) / (1 + v) for v in x),
        "filmic": tuple(hable(2 * v) / hable(11.2) for v in x),
        "aces": tuple(clamp((v * (2.51 * v + 0.03)) / (v * (2.43 * v + 0.59) + 0.14)) for v in x),
    }


@within(2e-5)
def colour_spaces(c):
    r, g, b = c
    x = 0.4124 * r + 0.3576 * g + 0.1805 * b
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = 0.0193 * r + 0.1192 * g + 0.9505 * b
    fx, fy, fz = ((v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116) for v in (x / 0.9505, y, z / 1.089))
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    return {
        "xyz": (x, y, z),
        "lab": (116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)),
        "ycc": (luma, (b - luma) * 0.564, (r - luma) * 0.713),
    }


def blend_modes(a):
    alpha, b, under = a[3], (0.7, 0.2, 0.4), 0.6
    a = a[:3]

    def overlay(b, a):
        return 2 * a * b if b < 0.5 else 2 * (a + b - a * b) - 1

    def soft(b, a):
        return b + (2 * a - 1) * (b - b * b if a < 0.5 else math.sqrt(b) - b)

    whole = 1 - (1 - alpha) * (1 - under)
    return {
        "screened": tuple(x + y - x * y for x, y in zip(a, b)),
        "overlaid": tuple(map(overlay, b, a)),
        "softened": tuple(map(soft, b, a)),
        "composed": (*((x * alpha + y * (whole - alpha)) / whole for x, y in zip(a, b)), whole),
    }


def easing(t):
    def bounce(t):
        for end, middle, height in ((1, 0, 0), (2, 1.5, 0.75), (2.5, 2.25, 0.9375), (9, 2.625, 0.984375)):
            if t * 2.75 < end:
                return 7.5625 * (t - middle / 2.75) ** 2 + height

    return {
        "quadratic": 2 * t * t if t < 0.5 else 1 - 2 * (1 - t) ** 2,
        "cubic": 1 - (1 - t) ** 3,
        "back": t * t * (2.70158 * t - 1.70158),
        "elastic": 1 + 2 ** (-10 * t) * math.sin((10 * t - 0.75) * 2 * math.pi / 3),
        "bounced": bounce(t),
    }


def colour_ramp(t):
    place = (0, 0.2, 0.45, 0.7, 1)
    c = ((0.1, 0.0, 0.2), (0.8, 0.1, 0.0), (1.0, 0.7, 0.1), (0.6, 0.9, 0.8), (1.0, 1.0, 1.0))
    if t >= 1:
        return {"linear": c[4], "constant": c[4], "smooth": c[4]}
    i = max(k for k in range(5) if place[k] <= t)
    f = (t - place[i]) / (place[i + 1] - place[i])
    return {
        "linear": mix(c[i], c[i + 1], f),
        "constant": c[i],
        "smooth": mix(c[i], c[i + 1], smoothstep(0, 1, f)),
    }


@within(1e-4)  # The fifth octave's coordinates are near 1000.
def value_noise(p):
    def hash_(x, y):
        h = u32(x * 374761393 + y * 668265263)
        h = u32((h ^ h >> 13) * 1274126177)
        return ((h ^ h >> 16) & 0xFFFF) / 65535

    def noise(p):
        x, y = math.floor(p[0]), math.floor(p[1])
        f = [smoothstep(0, 1, fract(v)) for v in p]
        weights = {(i, j): (f[0] if i else 1 - f[0]) * (f[1] if j else 1 - f[1]) for i in (0, 1) for j in (0, 1)}
        return sum(w * hash_(x + i, y + j) for (i, j), w in weights.items())

    def fbm(p, octaves, gain):
        if octaves == 0:
            return 0.0
        return noise(p) + gain * fbm((2 * p[0] + 17, 2 * p[1] + 59), octaves - 1, gain)

    return {"one": noise(p), "five": fbm(p, 5, 0.5), "two_sharp": fbm(p, 2, 0.8)}


def gradient_noise(p):
    def direction(x, y):
        h = u32(x * 1619 + y * 31337)
        h = u32((h ^ h >> 15) * 0x2C1B3C6D)
        return cmath.rect(1, (h ^ h >> 12) % 12 * math.pi / 6)

    def fade(t):
        return 6 * t**5 - 15 * t**4 + 10 * t**3

    def noise(z):
        x, y = math.floor(z.real), math.floor(z.imag)
        f = z - complex(x, y)
        total = 0.0
        for i in (0, 1):
            for j in (0, 1):
                w = (fade(f.real) if i else 1 - fade(f.real)) * (fade(f.imag) if j else 1 - fade(f.imag))
                total += w * (direction(x + i, y + j).conjugate() * (f - complex(i, j))).real
        return total

    z = complex(*p)
    turbulence = sum(abs(noise(z * s)) / s for s in (1, 2, 4, 8))
    return {"n": noise(z), "turbulence": turbulence, "marble": 0.5 + 0.5 * math.sin(3 * p[0] + 4 * turbulence)}


def worley(p):
    def scattered(x, y):
        h = u32(i32(x * 73856093) ^ i32(y * 19349663))
        h = u32(h * 747796405 + 2891336453)
        h = u32((h >> ((h >> 28) + 4) ^ h) * 277803737)
        h ^= h >> 22
        return (x + (h & 0xFFFF) / 65536, y + (h >> 16) / 65536)

    cx, cy = math.floor(p[0]), math.floor(p[1])
    cells = [(x, y) for x in range(cx - 3, cx + 4) for y in range(cy - 3, cy + 4)]
    cells.sort(key=lambda c: math.dist(p, scattered(*c)))
    first, second = (math.dist(p, scattered(*c)) for c in cells[:2])
    return {
        "nearest": first,
        "second": second,
        "edge": smoothstep(0, 0.5, second - first),
        "cell": cells[0][0] * 100 + cells[0][1],
    }


def bricks(uv):
    u, v = uv[0] * 4, uv[1] * 8
    row = math.floor(v)
    u += 0.5 * (row % 2)
    column = math.floor(u)
    edge = min(2 * min(fract(u), 1 - fract(u)), fract(v), 1 - fract(v))
    mortar = 1 - smoothstep(0.05, 0.25, edge)
    number = column * 16 + row
    brick = scale(0.75 + number % 7 / 24, (0.6, 0.2, 0.1))
    return {"mortar": mortar, "number": number, "c": mix(brick, (0.8, 0.8, 0.8), mortar)}


def filtered_checker(u, v, point):
    def share(x, w):
        # The share of the footprint where floor(x) is odd, interval by interval.
        low, high = x - w / 2, x + w / 2
        odd = (k for k in range(math.floor(low), math.ceil(high) + 1) if k % 2)
        return sum(max(0, min(high, k + 1) - max(low, k)) for k in odd) / w

    dudx, dudy = point.ddx(lambda u: u), point.ddy(lambda u: u)
    dvdx, dvdy = point.ddx(lambda v: v), point.ddy(lambda v: v)
    a, b = share(u, math.hypot(dudx, dudy)), share(v, abs(dvdx) + abs(dvdy))
    return {"grey": a * (1 - b) + b * (1 - a), "sharp": float((math.floor(u) + math.floor(v)) % 2)}


def wood(p):
    x, y, z = p
    r = 6 * math.hypot(x - 0.2 * math.sin(1.5 * y), z - 0.15 * math.cos(2.3 * y))
    r += 0.3 * math.sin(4 * cmath.phase(complex(x, z)) + y)
    ring = smoothstep(0, 0.8, fract(r)) - smoothstep(0.83, 1, fract(r))
    grain = 0.5 + 0.25 * (math.sin(40 * x + 3 * y) + math.sin(40 * x - 3 * y))
    return {
        "ring": ring,
        "grain": grain,
        "c": mix((0.65, 0.4, 0.2), (0.3, 0.15, 0.05), ring * (0.8 + 0.2 * grain)),
    }


def mip_level(uv):
    # The steps of the run in texels.
    x, y = complex(0.004 * 512, 0.001 * 256), complex(-0.002 * 512, 0.012 * 256)
    ratio = abs(y) / abs(x)
    return {
        "level": math.log2(abs(y)),
        "by_area": math.log2((x.conjugate() * y).imag) / 2,
        "anisotropy": ratio,
        "samples": math.ceil(ratio),
    }


def planar_texture(position):
    x, y, z = position
    w = complex(x, z) * cmath.rect(0.8, 0.5)
    u, v = w.real + 2 * y, w.imag - 3 * y * y
    # The command's texture is a checker of eighths.
    light = float((math.floor(8 * u) + math.floor(8 * v)) % 2 == 0)
    return {"c": (light, light, light), "uv": (u, v), "sample wood": (u, v)}


def polar_texture(p):
    w = cmath.log(complex(*p))
    uv = (w.imag / (2 * math.pi), w.real)
    lit = float((math.floor(8 * uv[0]) + math.floor(8 * uv[1])) % 2 == 0)
    return {"uv": uv, "lit": lit, "sample rings": uv}


def triplanar(position, normal):
    x, y, z = position
    w = [n**4 for n in normal]
    checker = lambda u, v: (math.floor(8 * u) + math.floor(8 * v)) % 2 == 0
    lit = (checker(y, z), checker(z, x), checker(x, y))
    grey = sum(a for a, l in zip(w, lit) if l) / sum(w)
    samples = {"sample stone 1": (y, z), "sample stone 2": (z, x), "sample stone 3": (x, y)}
    return {"c": (grey, grey, grey), "weights": tuple(a / sum(w) for a in w), **samples}


def dither():
    # The matrix of order 4, as in every textbook.
    rows = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))
    packed = [sum(b * 16 ** (3 - i) for i, b in enumerate(row)) for row in rows]
    lit = sum(0.4 > (b + 0.5) / 16 for row in rows for b in row)
    return {"row0": packed[0], "row1": packed[1], "lit": lit, "all_there": True}


def fog(depth, height):
    optical = [0.25 * depth * k * math.exp(-0.8 * height) for k in (0.9, 1, 1.3)]
    through = tuple(math.exp(-d) for d in optical)
    q = (depth / 8 - 0.5) ** 2 + (height / 4 - 0.5) ** 2
    return {
        "c": tuple(mix(far, near, t) for far, near, t in zip((0.5, 0.6, 0.7), (0.8, 0.3, 0.2), through)),
        "transmittance": dot((0.2126, 0.7152, 0.0722), through),
        "vignette": 1 - 0.75 * smoothstep(0.1, 0.6, q),
    }


def thin_film(c, thickness):
    inside = math.cos(math.asin(math.sin(math.acos(c)) / 1.33))
    path = 1.33 * inside * thickness
    return {"reflected": tuple(math.sin(2 * math.pi * path / w) ** 2 for w in (650, 532, 450))}


def spherical_harmonics(n):
    x, y, z = unit(n)
    l = (0.79, 0.39, -0.34, -0.29, -0.11, -0.26, -0.16, 0.56, 0.21)
    # The same as a quadratic form of (x, y, z, 1), equation 12 of their paper.
    c1, c2, c3, c4, c5 = 0.429043, 0.511664, 0.743125, 0.886227, 0.247708
    m = (
        (c1 * l[8], c1 * l[4], c1 * l[7], c2 * l[3]),
        (c1 * l[4], -c1 * l[8], c1 * l[5], c2 * l[1]),
        (c1 * l[7], c1 * l[5], c3 * l[6], c2 * l[2]),
        (c2 * l[3], c2 * l[1], c2 * l[2], c4 * l[0] - c5 * l[6]),
    )
    v = (x, y, z, 1)
    return {"e": dot(v, tuple(dot(row, v) for row in m))}


@within(2e-5)
def blackbody(kelvin):
    def relative(micrometres):
        # Against the peak, in x = hc/λkT: (x/x₀)⁵ (e^x₀ - 1)/(e^x - 1).
        peak = 2897.772 / kelvin
        x, x0 = 14387.77 / (micrometres * kelvin), 14387.77 / 2897.772
        return (peak / micrometres) ** 5 * math.expm1(x0) / math.expm1(x)

    return {"glow": tuple(map(relative, (0.65, 0.55, 0.45))), "peak": 2897.772 / kelvin}


def palette(t):
    r, g, b = (
        0.5 + k * math.cos(2 * math.pi * (c * t + d))
        for k, c, d in ((0.5, 1, 0.8), (0.4, 1, 0.9), (0.3, 0.5, 0.3))
    )
    # Written as .wzyx: x is t², y blue, z green, w red.
    return {"smooth": (r, g, b), "swapped": (b, g / 2, r), "packed": (t * t + g, b + r, g, r)}


def domain_warp(p):
    def pattern(x, y):
        a, b = 1.7 * x + 0.3, 2.1 * y - 0.8
        return (math.sin(a + b) + math.sin(a - b)) / 2

    x, y = p
    qx, qy = x + 0.8 * pattern(x, y + 1.2), y + 0.8 * pattern(x + 5.2, y + 1.3)
    rx, ry = pattern(qx + 1.7, qy + 9.2), pattern(qx + 8.3, qy + 2.8)
    return {"plain": pattern(x, y), "once": pattern(qx, qy), "twice": pattern(x + 0.8 * rx, y + 0.8 * ry)}


def parallax(uv):
    def gap(n):
        u, v = uv[0] + n * 0.3 / 16, uv[1] - n * 0.2 / 16
        return 1 - n / 16 - 0.5 - 0.5 * math.sin(6 * u) * math.cos(4 * v)

    n = next(n for n in range(16) if gap(n + 1) < 0)
    at = n + gap(n) / (gap(n) - gap(n + 1))
    return {"shifted": (uv[0] + at * 0.3 / 16, uv[1] - at * 0.2 / 16), "steps": n}


def anisotropy(p):
    along = cmath.exp(1j * (cmath.phase(complex(*p)) + math.pi / 2))
    l, v = unit((0.2, 0.4, 1)), unit((-0.3, 0.1, 1.2))
    h = unit(add(l, v))
    # The half vector in the brushed frame.
    flat = complex(h[0], h[1]) / along
    power = 2 * ((flat.real / 0.15) ** 2 + (flat.imag / 0.5) ** 2) / (1 + h[2])
    lobe = math.exp(-power) / (4 * math.pi * 0.15 * 0.5 * math.sqrt(l[2] * v[2]))
    return {"lobe": lobe, "along": (along.real, along.imag)}
