"""Geometry: rays, curves, distances, frames, rotations."""

import cmath
import math

from vectors import add, clamp, cross, det3, dot, length, mix, scale, sub, unit


def ray_sphere(px, py):
    origin, centre, radius = (0, 0, -3), (0.1, -0.2, 1), 1.5
    d = unit((px, py, 2))
    # The chord's middle is the centre's foot on the ray.
    foot = dot(sub(centre, origin), d)
    apart = length(sub(add(origin, scale(foot, d)), centre))
    if apart > radius:
        return {"found": False, "t": 0.0, "normal": (0.0, 0.0, 0.0)}
    t = foot - math.sqrt(radius**2 - apart**2)
    return {"found": True, "t": t, "normal": scale(1 / radius, sub(add(origin, scale(t, d)), centre))}


def moeller_trumbore(px, py):
    # Cramer's rule on a + u·e1 + v·e2 = t·d.
    d = unit((px, py, 1))
    a, b, c = (-1, -0.5, 2), (1.5, -0.25, 3), (0, 2, 2.5)
    e1, e2, back = sub(b, a), sub(c, a), scale(-1, d)
    s = scale(-1, a)
    whole = det3(back, e1, e2)
    t, u, v = det3(s, e1, e2) / whole, det3(back, s, e2) / whole, det3(back, e1, s) / whole
    return {"inside": u >= 0 and v >= 0 and u + v <= 1 and t > 0, "t": t, "u": u, "v": v}


def barycentric(p):
    a, b, c = (0, 0.1), (1.2, 0), (0.4, 1.1)
    one = lambda q: (*q, 1)
    whole = det3(one(a), one(b), one(c))
    w = tuple(det3(*map(one, t)) / whole for t in ((p, b, c), (a, p, c), (a, b, p)))
    colours = ((1, 0.2, 0.1), (0, 0.9, 0.3), (0.25, 0.5, 1))
    blended = tuple(sum(w[k] * colours[k][i] for k in range(3)) for i in range(3))
    return {"weights": w, "blended": blended, "inside": min(w) >= 0}


def _rotate(axis, angle, p):
    # The rotation's matrix, R = cos·1 + sin·[k]× + (1 - cos)·k kᵀ, by its entries.
    x, y, z = unit(axis)
    c, s = math.cos(angle), math.sin(angle)
    d = 1 - c
    rows = (
        (c + x * x * d, x * y * d - z * s, x * z * d + y * s),
        (y * x * d + z * s, c + y * y * d, y * z * d - x * s),
        (z * x * d - y * s, z * y * d + x * s, c + z * z * d),
    )
    return tuple(dot(row, p) for row in rows)


def quaternions(angle, t):
    axis = (1, 2, -1)
    q = (*scale(math.sin(angle / 2), unit(axis)), math.cos(angle / 2))
    r = (0, 0, math.sin(0.75), math.cos(0.75))
    # Along the great circle from q, in the plane of q and what of r is at right angles to it.
    between = math.acos(dot(q, r))
    side = unit(sub(r, scale(dot(q, r), q)))
    s = add(scale(math.cos(t * between), q), scale(math.sin(t * between), side))
    turned = _rotate(s[:3], 2 * math.acos(s[3]), (1, 0, 0))
    return {"turned": _rotate(axis, angle, (0.5, -1, 2)), "between": turned, "norm": 1.0}


def rodrigues(a, angle):
    return {"turned": _rotate(a, angle, (1, 0.5, -2)), "along": 0.0}


def bezier(t):
    p = ((0, 0), (0.25, 1.5), (1, -0.5), (1.5, 1))
    # By powers of t.
    c = [
        tuple(sum(k * v for k, v in zip(row, column)) for column in zip(*p))
        for row in ((1, 0, 0, 0), (-3, 3, 0, 0), (3, -6, 3, 0), (-1, 3, -3, 1))
    ]
    place = tuple(sum(c[n][i] * t**n for n in range(4)) for i in (0, 1))
    tangent = tuple(sum(n * c[n][i] * t ** (n - 1) for n in range(1, 4)) for i in (0, 1))
    return {"by_casteljau": place, "by_bernstein": place, "tangent": tangent}


def catmull_rom(t):
    p = [(i, i * i % 4, 3 - i % 3) for i in range(6)]
    i = min(int(t), 4)
    a, b, c, d = p[max(i - 1, 0)], p[i], p[i + 1], p[min(i + 2, 5)]
    f = t - i
    # Hermite's form with the tangents (c - a)/2 and (d - b)/2.
    h = (2 * f**3 - 3 * f**2 + 1, f**3 - 2 * f**2 + f, 3 * f**2 - 2 * f**3, f**3 - f**2)
    terms = zip(h, (b, scale(0.5, sub(c, a)), c, scale(0.5, sub(d, b))))
    terms = [scale(k, v) for k, v in terms]
    return {"place": tuple(sum(v[n] for v in terms) for n in range(3))}


def ray_box(px, py):
    origin, d = (0.5, 0.25, -4), (px, py, 1)
    low, high = (-1, -0.5, -1), (1, 1.5, 1.25)
    entries = [((high[i] if d[i] < 0 else low[i]) - origin[i]) / d[i] for i in range(3)]
    exits = [((low[i] if d[i] < 0 else high[i]) - origin[i]) / d[i] for i in range(3)]
    near, far = max(entries), min(exits)
    side = entries.index(near)
    normal = tuple((-math.copysign(1.0, d[i]) if i == side else 0.0) for i in range(3))
    return {"hit": near <= far and far > 0, "near": near, "far": far, "normal": normal}


def _blend(a, b, k):
    h = clamp(0.5 + 0.5 * (b - a) / k)
    return b + (a - b) * h - k * h * (1 - h)


def signed_distances(p):
    q = tuple(abs(x) - s for x, s in zip(sub(p, (0.1, 0, 0)), (0.5, 0.75, 0.4)))
    box = max(q) if max(q) < 0 else length([max(x, 0) for x in q])
    a, ba = (-0.5, 0, 0), (1, 1, 0.25)
    h = clamp(dot(sub(p, a), ba) / dot(ba, ba))
    capsule = length(sub(p, add(a, scale(h, ba)))) - 0.2
    torus = math.hypot(math.hypot(p[0], p[2]) - 1, p[1]) - 0.25
    return {"b": box, "c": capsule, "t": torus, "all": _blend(_blend(box, capsule, 0.5), torus, 0.75)}


def sphere_tracing(px, py):
    def scene(p):
        a = length(sub(p, (0, 0, 3))) - 1
        b = length(sub(p, (0.8, 0.5, 2.5))) - 0.6
        # The polynomial smooth minimum: equal to the least beyond k.
        return _blend(a, b, 0.4)

    d = unit((px, py, 1))
    t = 0.0
    for _ in range(12):
        t += scene(scale(t, d))
    return {"t": t, "place": scale(t, d)}


def spherical_coordinates(d):
    x, y, z = d
    longitude, latitude = cmath.phase(complex(x, z)), math.atan(y / math.hypot(x, z))
    uv = (0.5 + longitude / (2 * math.pi), 0.5 - latitude / math.pi)
    return {"uv": uv, "back": unit(d)}


def orthonormal_frame(n):
    a = unit(n)
    # At right angles to a, in the plane of a and b: a × (b × a).
    b = unit(cross(a, cross((1, 0.1, 0.2), a)))
    volume = math.copysign(1.0, det3(a, b, (0, 0.5, 1)))
    return {"normal": a, "tangent": b, "bitangent": scale(volume, cross(a, b)), "volume": volume}


def triangles(a, b):
    c = 5.25
    # In the plane: c along the x axis.
    x = (b * b + c * c - a * a) / (2 * c)
    height = math.sqrt(b * b - x * x)
    area = c * height / 2
    angle = cmath.phase((complex(c, 0) - complex(x, height)) / (0 - complex(x, height)))
    return {
        "area": area,
        "inner": 2 * area / (a + b + c),
        "outer": c / (2 * math.sin(abs(angle))),
        "angle": abs(angle),
        "sum": math.pi,
    }


def polygons(p):
    w = [(0, 0), (3, 0.5), (2.5, 2), p, (0.5, 2.5), (-0.5, 1)]
    # As a fan of triangles about the first corner.
    area = cx = cy = 0.0
    for a, b in zip(w[1:], w[2:]):
        part = (a[0] * b[1] - a[1] * b[0]) / 2
        area += part
        cx += part * (a[0] + b[0]) / 3
        cy += part * (a[1] + b[1]) / 3
    perimeter = sum(math.dist(a, b) for a, b in zip(w, w[1:] + w[:1]))
    return {
        "area": area,
        "centroid": (cx / area, cy / area),
        "perimeter": perimeter,
        "point_inside": True,
        "notch_inside": False,
    }


def lines_in_space(d):
    p, q, v = (0, 1, 0), (2, 0, 1), (-1, 0.5, 0.75)
    # p + s·d - q - t·v is along the common normal n.
    n = cross(d, v)
    whole = det3(d, v, n)
    s = det3(sub(q, p), v, n) / dot(cross(d, v), n)
    t = det3(sub(q, p), d, n) / whole
    gap = abs(dot(sub(q, p), n)) / length(n)
    along = clamp(dot((1, 1, 1), d) / dot(d, d))
    return {"s": s, "t": t, "gap": gap, "nearest": add(p, scale(along, d))}


def circumcircle(a, b):
    z1, z2, z3 = complex(*a), complex(*b), 0.75 + 1.8j
    w = (z3 - z1) / (z2 - z1)
    centre = (z2 - z1) * (w - abs(w) ** 2) / (w - w.conjugate()) + z1
    return {"centre": (centre.real, centre.imag), "radius": abs(z1 - centre)}


def octahedral(n):
    x, y, z = scale(1 / sum(map(abs, n)), n)
    if z < 0:
        x, y = math.copysign(1 - abs(y), x), math.copysign(1 - abs(x), y)
    return {"encoded": (x, y), "back": unit(n)}


def camera(p):
    eye, target = (2, 1.5, 4), (0, 0.5, 0)
    f = unit(sub(target, eye))
    r = unit((-f[2], 0, f[0]))
    u = cross(r, f)
    v = sub(p, eye)
    depth = dot(v, f)
    k = 1 / math.tan(math.radians(20))
    x, y = k * dot(v, r) / depth / 1.5, k * dot(v, u) / depth
    return {"pixel": ((x / 2 + 0.5) * 64, (0.5 - y / 2) * 48), "depth": depth}


def geometric_normal(u, v):
    # The sheet is a graph over u and v, so the normal is (-∂u, 1, -∂v), whatever the pixels; both derivatives turn it the same way.
    du, dv = 1.2 * math.cos(4 * u) * math.cos(3 * v), -0.9 * math.sin(4 * u) * math.sin(3 * v)
    n = unit((-du, 1, -dv))
    dx = (0.5, du * 0.5 + dv * -0.25, -0.25)
    dy = (0.125, du * 0.125 + dv * 0.5, 0.5)
    return {"n": n, "slope": length([abs(a) + abs(b) for a, b in zip(dx, dy)])}


def tangent_frame(P, uv):
    px, py, a, b = (0.5, 0.25, -0.125), (0.1, -0.4, 0.3), (0.25, 0.05), (-0.1, 0.2)
    # The two vectors whose mixture by each pixel's uv step is its step in space.
    d = a[0] * b[1] - a[1] * b[0]
    inverse = ((b[1] / d, -a[1] / d), (-b[0] / d, a[0] / d))
    t, s = (tuple(r[0] * x + r[1] * y for x, y in zip(px, py)) for r in inverse)
    return {"tangent": t, "bitangent": s, "handedness": math.copysign(1.0, d)}


def cube_map(d):
    # The table of the OpenGL specification: face, s, t, and the axis divided by.
    side = max(range(3), key=lambda i: abs(d[i]))
    positive = d[side] > 0
    x, y, z = d
    s = (-z if positive else z, x, x if positive else -x)[side]
    t = (-y, z if positive else -z, -y)[side]
    m = abs(d[side])
    return {"side": 2 * side + (not positive), "uv": (0.5 * s / m + 0.5, 0.5 * t / m + 0.5)}


def great_circle(lat, lon):
    a, l, b, m = map(math.radians, (lat, lon, 40.7, -74.0))
    angle = math.acos(math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(m - l))
    east, north = (-math.sin(l), math.cos(l), 0), (
        -math.sin(a) * math.cos(l), -math.sin(a) * math.sin(l), math.cos(a),
    )  # fmt: skip
    q = (math.cos(b) * math.cos(m), math.cos(b) * math.sin(m), math.sin(b))
    heading = math.degrees(cmath.phase(complex(dot(q, north), dot(q, east))))
    return {"haversine": 6371 * angle, "by_vectors": 6371 * angle, "heading": heading}


def superellipse(angle, n):
    c, s = math.cos(angle), math.sin(angle)
    power = lambda x: math.copysign(math.exp(2 / n * math.log(abs(x))), x)
    return {"p": (2 * power(c), power(s)), "implicit": 1.0}


def moebius(z):
    z = complex(*z)

    def ratio(a, b, c, d):
        return (a - c) * (b - d) / ((b - c) * (a - d))

    w = ((1 + 0.5j) * z + (-0.25 + 1j)) / (0.5 * z + (2 - 1j))
    r = ratio(z, 1, -1j, -0.5 + 0.5j)
    return {"w": (w.real, w.imag), "ratio": (r.real, r.imag)}


def metaballs(p, point):
    balls = ((0, 0, 0.5), (1, 0.5, 0.75), (-0.25, 1, 0.3))

    def field(p):
        return sum(r * r / ((p[0] - x) ** 2 + (p[1] - y) ** 2) for x, y, r in balls)

    slope = (point.ddx(field), point.ddy(field))
    return {"field": field(p), "slope": slope, "by_hand": slope}


def mirrors_and_lenses(angle):
    # Directions as angles against the vertical: a mirror turns about its normal, Snell's law bends.
    ray = math.pi - angle
    for i in range(3):
        normal = math.atan2(i - 1, 2)
        ray = 2 * normal + math.pi - ray
    bounced = (math.sin(ray), math.cos(ray))
    inner = math.asin(math.sin(angle) / 1.5)
    tilt = math.atan2(-0.5, 1)
    # Against the tilted normal, the ray in glass comes in at this angle.
    sine = 1.5 * math.sin(inner + tilt)
    total = abs(sine) > 1
    leaves = math.asin(sine) - tilt if not total else 0
    return {
        "bounced": bounced,
        "in_glass": (math.sin(inner), -math.cos(inner)),
        "out_again": (math.sin(leaves), -math.cos(leaves)) if not total else (0.0, 0.0),
        "total": total,
    }


def distance_to_curves(p):
    z = complex(*p)
    a, b = -0.5 - 0.25j, 1 + 0.5j
    w = (z - a) / (b - a)
    segment = abs(w - clamp(w.real)) * abs(b - a)
    # From the top, the arc opens to both sides by 1.1.
    from_top = abs(cmath.phase(z / 1j))
    arc = abs(abs(z) - 0.8) if from_top <= 1.1 else abs(complex(abs(z.real), z.imag) - 0.8 * cmath.rect(1, math.pi / 2 - 1.1))
    k0, k1 = math.hypot(p[0], p[1] / 0.6), math.hypot(p[0], p[1] / 0.36)
    return {"s": segment, "a": arc, "ring": (k0 - 1) / k1}
