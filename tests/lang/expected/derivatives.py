"""Derivatives of functions: closed forms, and slopes of the values by Richardson's extrapolation."""

import math

from support import within


def _slope(f, x):
    """The derivative of f at x, with an error of the sixth order."""
    step = 1e-2

    def central(h):
        return (f(x + h) - f(x - h)) / (2 * h)

    rows = [central(step / 2**k) for k in range(4)]
    for order in (4, 16, 64):
        rows = [(order * b - a) / (order - 1) for a, b in zip(rows, rows[1:])]
    return rows[0]


def _gradient(f, *at):
    return tuple(_slope(lambda t, i=i: f(*at[:i], t, *at[i + 1 :]), at[i]) for i in range(len(at)))


def _f(x, y):
    q = x * y / (x + 1)
    return (math.sin(q) + math.log(1 + q) - math.exp(y)) * (q - math.tanh(y))


def equation3(x, y):
    gx, gy = _gradient(_f, x, y)
    return {"value": _f(x, y), "forward": gx + 0.5 * gy, "plain": gx, "gradient": (gx, gy), "shadows": (gx, gy)}


def _h(x, y):
    return (x + y) * (x - y) + 2 * x * y


def _schlick(f0, f90, cosine):
    return f0 + (f90 - f0) * (1 - cosine) ** 5


def forward():
    a, b = _gradient(_h, 2.0, 1.5)
    c, d = _gradient(_h, 2.0, 3.5)
    e = _gradient(_schlick, 0.2, 0.7, 0.5)
    return {
        "same": 1.0,
        "both": a + b,
        "unit": 1.0,
        "half_way": c + 0.5 * d,
        "swizzled": (1.0, 0.5),
        "fresnel": 0.1 * e[0] + 0.9 * e[1] + e[2],
    }


def backward():
    return {
        "of_h": _gradient(_h, 2.0, 1.5),
        "of_quotient": (1.0, 0.0),
        "of_product": (-1.5, -2.0),
        "of_sum": (2.0, 2.0),
        "of_crossed": (2.3, 2.3, 0.0),
        "of_colour": (1.0, 0.5, 1.5, 20.0),
        "of_spread": 3.0,
        "plain": -1.5,
        "kept": 2.0,
    }


def control_flow():
    return {
        "of_bent": (2.0, 1.0),
        "of_steps": (10.0, 6.0, 4.0),
        "reversed": (10.0, 6.0, 4.0),
        "of_output": 3.0,
        "of_break": 4.0,
        "of_guarded": 0.0,
        "back": 4.0,
    }


def _meets(x):
    total = x * (1 + 1.5 + 2.25)
    return total * x * 1.5**3


def loops():
    # 1·2·2·3·x⁴ over x³, and the sum of |i| over −3, −1, 1, 3, twice.
    return {
        "of_products": 12.0,
        "seeded": 4.8,
        "forward": -1.0,
        "backward": (-1.0, -1.0),
        "of_stride": 16.0,
        "of_down": 22.0,
        "of_albedo": 3.0,
        "of_detached": 2.0,
        "seeded_detached": 1.0,
        "of_meeting": (_slope(_meets, 0.7), _slope(_meets, 0.7)),
    }


def directions():
    # twice is the square of x + 1; mixed has y = 4x and x′ = 9x.
    return {
        "of_twice": 12.0,
        "kept": 5.0,
        "of_mixed": (13.0, 0.0),
        "forward": (9.0, 4.0),
        "of_array": (4.0, 4.0, 3.0),
        "of_k": 1.0 + 0.5 * 4.0 + 0.25 * 9.0,
    }


def no_diff_parameters():
    # At x = 2, where what is no_diff is a constant of that value: x², x², x² and x³; x and 2x.
    return {
        "read": (4.0, 4.0),
        "returned": (4.0, 4.0),
        "written": (4.0, 4.0),
        "changed": (10.0, 10.0),
        "filled": (2.0 + 2.0 * 4.0 * 2.0, 2.0 + 2.0 * 4.0 * 2.0),
        "direct": (3.0, 3.0),
    }


def rules():
    return {
        "of_g": 2.0,
        "reversed_g": 2.0,
        "of_cube": 9.0,
        "both": 11.0,
        "substitute": 6.0,
        "of_partly": 4.0,
        "of_constant": 7.0,
    }


def shadow_rules(x, y):
    # Values with their shadows along x and y, by rules that are wrong on purpose.
    x, y = (x, 1.0, 0.25), (y, 0.5, 1.0)

    def scaled(k, a):
        return tuple(k * part for part in a)

    def plus(a, b):
        return tuple(p + q for p, q in zip(a, b))

    def times(a, b):
        return (a[0] * b[0], *(a[0] * q + b[0] * p for p, q in zip(a[1:], b[1:])))

    def square(a):
        return (a[0] ** 2, *(4 * a[0] * d for d in a[1:]))

    power = (1.0, 0.0, 0.0)
    for _ in range(3):
        power = square(times(power, x))
    product = times(x, y)
    root = math.sqrt(product[0])
    third = (y[0] * x[0], *(3 * d for d in x[1:]))
    depth = (y[0] * y[0], *(8 * d for d in y[1:]))
    moved = plus(plus(x, y), plus(y, x))

    def down(a, n):
        if n == 0:
            return (a[0], *(3 * d for d in a[1:]))
        # What is passed on is the value, whose shadows are those of the point.
        below = down(a, n - 1)
        return (2 * below[0], *(below[1] + d for d in a[1:]))

    return {
        "once": square(x),
        "nested": square(plus(square(x), y)),
        "looped": power,
        "searched": (root, *(6 * d * d / root for d in product[1:])),
        "first": (x[0] + y[0], *(d - 3 * d for d in x[1:])),
        "second": (x[0] * y[0], *y[1:]),
        "third": third,
        "after_both": square(third),
        "at": (moved[0], *(2 * (p + q) for p, q in zip(x[1:], y[1:]))),
        "depth": depth,
        "of_array": plus(x, scaled(2.0, y)),
        "recursive": down(x, 2),
        "undemanded": (2 * y[0]) ** 2 + 3,
        "second_order": 0.0,
    }


@within(1e-4)
def implicit_root(x, y):
    # Rays that meet the unit sphere.
    length = math.sqrt(x * x + y * y + 9)
    d = (x / length, y / length, 3 / length)
    # |(0, 0, -2) + t d| = 1.
    t = 2 * d[2] - math.sqrt(4 * d[2] ** 2 - 3)
    return {"straight": 3 - math.sqrt(1 - x * x - y * y), "turned": (t * d[0], t * d[1], t * d[2] - 2)}


@within(1e-4)
def marches(x, y, r):
    # Rays that meet balls: |p| = r.
    height = math.sqrt(r * r - x * x - y * y)
    length = math.sqrt(x * x + y * y + 9)
    d = (x / length, y / length, 3 / length)
    t = 2 * d[2] - math.sqrt(4 * d[2] ** 2 - 4 + r * r)
    turned = (t * d[0], t * d[1], t * d[2] - 2)
    # The nearer of two balls, which is the one at (0.5, 0.1, 0.2).
    across = (x - 0.5, y - 0.1)
    front = -math.sqrt(r * r - across[0] ** 2 - across[1] ** 2)
    return {
        "straight": 3 - height,
        "turned": turned,
        "normal": tuple(part / r for part in turned),
        "of_two": tuple(part / r for part in (*across, front)),
        "label": 1,
        "reached": 1,
    }


@within(1e-4)
def march_gradients(x, y, r):
    # |p| = r; the normal's z is -height / r. The field at (x, 3, 0) has the slope x / |p|.
    height = math.sqrt(r * r - x * x - y * y)
    return {
        "of_depth": (x / height, y / height, -r / height),
        "of_slant": (x / (height * r), y / (height * r), height / r**2 - 1 / height),
        "forward": -r / height,
        "of_gap": (x / math.hypot(x, 3), -1),
    }


def _smooth_union(a, b, k):
    h = min(max(0.5 + 0.5 * (b - a) / k, 0), 1)
    return b + (a - b) * h - k * h * (1 - h)


def _scene(x, y, z):
    ball = math.dist((x, y, z), (0.3, 0.1, 0)) - 0.5
    ring = math.hypot(math.hypot(x, z) - 0.8, y) - 0.2
    posts = min(max(math.hypot(x - i, z - 0.5) - 0.1, abs(y) - 0.6) for i in (-1, 0, 1))
    return _smooth_union(_smooth_union(ball, ring, 0.25), posts, 0.1)


@within(1e-4)
def normals(x, y):
    def normal(*at):
        gradient = _gradient(_scene, *at)
        return tuple(slope / math.hypot(*gradient) for slope in gradient)

    return {
        "of_blend": normal(x + 0.4, y - 0.2, 0.3),
        "of_post": normal(x - 0.4, y + 0.1, 0.55),
        "of_ball": normal(0.3, 0.4 + y, -0.1),
    }


def substitutes():
    # x itself where it is called, 2 x in every derivative.
    def own(x):
        return x

    def substitute(x):
        return 2 * x

    def f(g, x):
        return x * x if g(x) > 1.5 else 5 * x

    def h(g, x, y):
        return g(x) * y

    # The condition of f is the substitute's.
    f_slope = _slope(lambda x: f(lambda _: substitute(1.0), x), 1.0)
    h_slopes = _gradient(lambda x, y: h(substitute, x, y), 3.0, 1.0)
    shifted = substitute(3.0) + 1
    return {
        "of_f": f(own, 1.0),
        "forward_f": (f(substitute, 1.0), f_slope),
        "backward_f": f_slope,
        "of_h": h(own, 3.0, 1.0),
        "backward_h": h_slopes[1],
        "forward_h": (h(substitute, 3.0, 1.0), h_slopes[1]),
        "both_h": h_slopes,
        "of_k": (shifted * 2.0 + substitute(2.0), shifted),
        "backward_k": shifted,
        "of_rule": (substitute(2.0), substitute(3.0)),
        "backward_rule": substitute(3.0),
        "called_rule": (own(2.0), own(3.0)),
    }


def unrolled_exits():
    # Along the path that is taken: 4 x, and x alone at 1; x^4, and (x^3)^2 at 3.
    return {
        "of_broken": (_slope(lambda x: 4 * x, 0.5), _slope(lambda x: x, 1.0)),
        "of_returned": (_slope(lambda x: x**4, 2.0), _slope(lambda x: x**6, 3.0)),
    }


def zero_rules():
    return {"of_g": _slope(lambda x: math.copysign(1, x), 2.0), "of_h": 5.0}


def orders():
    def square_slope(x):
        return math.sin(2 * x)

    def tower_slope(x):
        return 3 * x * x * math.cos(x**3) + 6 * x**5

    return {
        "third": -1.0,
        "twice": _slope(square_slope, 4.0),
        "of_slope": _slope(square_slope, 4.0),
        "mixed": 0.5 * _slope(square_slope, 2.0),
        "reversed": 0.5 * _slope(tower_slope, 2.0),
        "in_form": 0.5 * _slope(square_slope, 2.0),
    }


def objects():
    return {
        "value": 13.0,
        "of_both": 10.0,
        "of_plain": 6.0,
        "of_area": (10.0, 6.5),
        "of_swapped": (2.0, 1.0),
        "back": 10.0,
    }


def built_ins():
    length = math.hypot(12, 23, 31)
    angle = _gradient(math.atan2, 1.0, 2.0)
    return {
        "of_sin": math.cos(0.5),
        "of_sqrt": 0.5 / math.sqrt(2),
        "of_length": (12 / length, 23 / length, 31 / length),
        "of_clamp": (0.1, 0.3, 0.2),
        "of_atan2": angle,
        "of_normal": _slope(lambda x: x / math.hypot(x, 4), 3.0),
    }


def inverse_hyperbolics():
    def first(t):
        return (_slope(math.asinh, t), 1 / math.sqrt(t * (2 + t)), _slope(math.atanh, t))

    def all_of(t, s):
        return math.asinh(t) / t + math.acosh(1 + t) - math.atanh(t) * math.copysign(t, s)

    return {
        "of_names": first(0.5),
        "of_small": first(0.0078125),
        "of_all": _gradient(all_of, 0.75, -2.0),
        "of_rcp": -1.0,
        "of_signs": (1.0, 0.0),
        "second": -0.75 / 1.5625**1.5,
        "at_end": 0.0,
    }


def _bounded(x, n):
    r = x
    for _ in range(n):
        r = r * x + math.sin(r)
    return r


def _damped(x, n):
    r = x
    for _ in range(n):
        a = math.exp(-r * r)
        r += a * math.cos(a + x) ** 2
    return r


def _unrolled(x, n):
    w = [sum(x * m + 1 for m in range(k + 1)) for k in range(3)]
    r = 0.0
    for i in range(n):
        if i == 2:
            continue
        if r > 30:
            break
        r = r * w[i % 3] * 0.25 + math.sin(x * i)
    for _ in range(n):
        r = r * 0.5 + x * x
    return r


def hints():
    damped = _slope(lambda x: _damped(x, 5), 0.6)
    unrolled = [_slope(lambda x, n=n: _unrolled(x, n), 0.6) for n in range(5, 9)]
    return {
        "of_bounded": _slope(lambda x: _bounded(x, 6), 1.2),
        "of_few": _slope(lambda x: _bounded(x, 4), 1.2),
        "of_known": 10 * 1.5**9,
        "of_both": (damped, damped),
        "of_unrolled": tuple(unrolled),
        "forward": unrolled[3],
    }


def _begins_late(x, begin, end, stride):
    r, total, i = x, 0.0, begin
    while i != end:
        total += (3 * i + 3) * r * r
        r = r * 0.5 + math.sin(x * i)
        i += stride
    return total * r


def more_loops():
    product = math.prod(i + 4 * j + 1 for i in range(3) for j in range(3))
    late = [(3, 6, 1), (4, -2, -2)]
    return {
        "of_products": float(product),
        "styles": (-1.0, -1.0, -1.0, -1.0),
        "of_down": 15.0,
        "of_late": tuple(_slope(lambda x, of=of: _begins_late(x, *of), 0.75) for of in late),
    }


def _meets_nested(x):
    scale, total = x, 0.0
    for i in range(4):
        for _ in range(i + 1):
            total = total * 0.75 + scale * x
        scale *= 1.25
    return total * scale + x


def often_wrong():
    def smooth(x):
        t = x / 2
        return t * t * (3 - 2 * t) * x

    def guarded(x, y):
        return y * y + (math.sqrt(y) if y > 0 else x / y) + 2 * y

    # ∇ of x³y + sin(xy), and its derivatives, by hand.
    x, y = 0.75, 2.0
    sine, cosine = math.sin(x * y), math.cos(x * y)
    mixed = 3 * x * x + cosine - x * y * sine
    return {
        "of_meeting": _slope(_meets_nested, 0.75),
        "of_member": _slope(lambda x: 3 * x**3 + x, 0.75),
        "of_power": 11 * 0.75**10,
        # floor(3) is 3, the step 1; fract and floor have the slopes between their jumps.
        "of_steps": _slope(smooth, 0.75) + 3 + 2 * 0.75 + 1,
        "hessian": (6 * x * y - y * y * sine, mixed),
        "other": (mixed, -x * x * sine),
        "at_zero": (0.0, 0.0, 0.0, 0.0),
        "small": (0.5, -1.0),
        "of_guarded": _gradient(guarded, -0.5, 2.0),
        "of_other": _gradient(guarded, -0.5, -2.0),
    }


def _exponent(x):
    reached, exponent = 0.1, 1
    while reached < 1.5:
        reached += 0.4 + 0.1 * x
        x, exponent = x * x, exponent * 2
    return exponent


def mixed_orders():
    # (n x^(n - 1))^m is c x^p.
    x = 0.8
    n = _exponent(x)
    m = _exponent(n * x ** (n - 1))
    c, p = float(n) ** m, (n - 1) * m
    return {"slope": c * p * x ** (p - 1), "second": (c * p * (p - 1) * x ** (p - 2),) * 4}


def orders_at_zero():
    # By hand from x log(1.5 + y) + x/2 at x = 0, y = 0.5, and (of_tangent) from y x/(1.5 + y) at x = 1, y = 0.
    return {
        "of_value": (0.0, math.log(2.0) + 0.5),
        "mixed": (1 / 2.0,) * 4,
        "of_tangent": 1 / 1.5,
        "third": -1 / 2.0**2,
        "of_slope": (0.0, 0.0, 0.0),
        "of_sign": (0.0, 0.0, 0.0),
    }


def not_taken():
    # Each value is that of the side that is taken, and its derivatives are: 1, y or 0 where that is a
    # constant, y² of the element, x^(-1/2) by a rule that a cotangent of 0 scales, x summed twice, and 0 where a function of ∞ is flat.
    x, y = -0.25, 0.75
    return {
        "fresnel": (1.0, 0.0, 0.0, 0.0),
        "selected": (y, 0.0, 0.0, 1.0),
        "branched": (y, 1.0, 1.0),
        "greater": (y, 0.0, 0.0),
        "products": (0.0, 0.0, 0.0),
        "in_callee": (2.0, 1.0),
        "last_iteration": (1.0 + 1.0, 2.0, 2.0),
        "element": (2 * 0.5**2, 0.5 * 4 * 0.5),
        "by_rule": (0.5, 0.0, 1.0),
        "by_rule_again": (0.0, 0.0, 4**-0.5, 4**-0.5),
        "settled": (0.0, 0.0, 0.0),
        "chosen_seed": (2 * -0.5, 2 * -0.5),
    }


def orders_of_powers():
    return {
        "square": (2.0,) * 4,
        "cube": (0.0, 6.0, 6.0, 6.0),
        "line": (1.0, 0.0, 0.0),
        "by_gamma": (0.0, 0.0),
    }
