/* W2 and W3 with dual numbers through all of their arithmetic, as a machine has to compute a given
 * shader. The slopes in kernels.h, derived by hand, are compared with these. */

INLINE dual d_const(float c) { return (dual){c, 0.0f, 0.0f}; }
INLINE dual d_add(dual a, dual b) { return (dual){a.v + b.v, a.x + b.x, a.y + b.y}; }
INLINE dual d_sub(dual a, dual b) { return (dual){a.v - b.v, a.x - b.x, a.y - b.y}; }
INLINE dual d_mul(dual a, dual b) { return (dual){a.v * b.v, b.v * a.x + a.v * b.x, b.v * a.y + a.v * b.y}; }
INLINE dual d_plus(dual a, float c) { return (dual){a.v + c, a.x, a.y}; }
INLINE dual d_times(dual a, float c) { return (dual){a.v * c, a.x * c, a.y * c}; }
INLINE dual d_where(int c, dual a, dual b) { return (dual){c ? a.v : b.v, c ? a.x : b.x, c ? a.y : b.y}; }
INLINE dual d_min(dual a, dual b) { return d_where(b.v < a.v, b, a); }
INLINE dual d_abs(dual a) { return (dual){fabsf(a.v), a.v < 0.0f ? -a.x : a.x, a.v < 0.0f ? -a.y : a.y}; }

INLINE dual d_mix(dual a, dual b, dual t)
{
    float s = 1.0f - t.v, d = b.v - a.v;
    return (dual){blend(a.v, b.v, t.v), s * a.x + t.v * b.x + d * t.x, s * a.y + t.v * b.y + d * t.y};
}

INLINE dual d_length(dual a, dual b, dual c)
{
    float v = m_sqrt(a.v * a.v + b.v * b.v + c.v * c.v), r = 1.0f / v;
    float pa = a.v * r, pb = b.v * r, pc = c.v * r;
    return (dual){v, pa * a.x + pb * b.x + pc * c.x, pa * a.y + pb * b.y + pc * c.y};
}

INLINE dual fade_forward(dual t)
{
    dual cube = d_mul(d_mul(t, t), t);
    return d_mul(cube, d_plus(d_mul(t, d_plus(d_times(t, 6.0f), -15.0f)), 10.0f));
}

INLINE dual noise_forward(dual x, dual y)
{
    cell c = cell_at(x.v, y.v);
    dual px = {c.px, x.x, x.y}, py = {c.py, y.x, y.y}, corner[4];
    UNROLL
    for (int i = 0; i < 4; i++)
        corner[i] = d_add(d_times(d_plus(px, (float)-(i & 1)), c.gx[i]), d_times(d_plus(py, (float)-(i >> 1)), c.gy[i]));
    dual u = fade_forward(px), v = fade_forward(py);
    return d_mix(d_mix(corner[0], corner[1], u), d_mix(corner[2], corner[3], u), v);
}

INLINE dual w2_forward_dual(dual x, dual y)
{
    dual sum = d_const(0.0f);
    float gain = 1.0f;
    x = d_times(x, 8.0f);
    y = d_times(y, 8.0f);
    UNROLL
    for (int octave = 0; octave < 5; octave++) {
        sum = d_add(sum, d_times(noise_forward(x, y), gain));
        x = d_times(x, 2.0f);
        y = d_times(y, 2.0f);
        gain *= 0.5f;
    }
    return sum;
}

INLINE dual smooth_minimum_forward(dual a, dual b)
{
    dual h = d_plus(d_times(d_abs(d_sub(a, b)), -1.0f), 0.3f);
    h = d_times(d_where(h.v < 0.0f, d_const(0.0f), h), 1.0f / 0.3f);
    return d_sub(d_min(a, b), d_times(d_mul(h, h), 0.3f * 0.25f));
}

/* One step of a ray that may have stopped. */
INLINE void step_forward(ray v, dual *t, int *live)
{
    dual x = d_mul(v.x, *t), y = d_mul(v.y, *t), z = d_plus(d_mul(v.z, *t), -3.0f);
    dual a = d_plus(d_length(d_plus(x, 0.5f), y, d_plus(z, -1.0f)), -0.8f);
    dual b = d_plus(d_length(d_plus(x, -0.6f), d_plus(y, -0.3f), d_plus(z, -0.5f)), -0.6f);
    dual d = smooth_minimum_forward(smooth_minimum_forward(a, b), d_plus(y, 1.0f));
    int on = *live & !(d.v < 1e-3f);
    dual next = d_add(*t, d);
    *t = d_where(on, next, *t);
    *live = on & !(next.v > 20.0f);
}
