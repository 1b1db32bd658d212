/* The C limit: benchmark programs by hand, value and both partials inlined, one opaque call per point.
 *
 * Compiled once per compiler found and per set of transcendentals (MATHS): "cheap" polynomials of 2 to 5 ulp, and "equal", the same
 * algorithms as our engines use. NAME(f) gives each build its own symbols. Inputs are what a host hands a shader: value, ddx, ddy of x and
 * of y. Outputs are value, ddx, ddy. */
#include <stdint.h>
#include <string.h>
#include MATHS

typedef struct { float v, x, y; } dual;

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(f) PASTE(BUILD, f)

/* W1: x1 = x + .5, x2 = y + .25, u = x1 x2 / (x1 + 1), f = (sin u + log(1 + u) - exp x2)(u - tanh x2). */
float NAME(w1_value)(const dual in[2])
{
    float x1 = in[0].v + 0.5f, x2 = in[1].v + 0.25f;
    float u = x1 * x2 / (x1 + 1.0f);
    return (m_sin(u) + m_log(1.0f + u) - m_exp(x2)) * (u - m_tanh(x2));
}

void NAME(w1_dual)(const dual in[2], dual *out)
{
    float x1 = in[0].v + 0.5f, x2 = in[1].v + 0.25f;
    float p = x1 * x2, q = x1 + 1.0f, r = 1.0f / q, u = p * r;
    float ux = (in[0].x * x2 + x1 * in[1].x - u * in[0].x) * r;
    float uy = (in[0].y * x2 + x1 * in[1].y - u * in[0].y) * r;
    float s, c;
    m_sincos(u, &s, &c);
    float g = 1.0f + u, lg = m_log(g), rg = 1.0f / g, e = m_exp(x2), t = m_tanh(x2), dt = 1.0f - t * t;
    float a = s + lg - e, b = u - t, k = c + rg;
    float ax = k * ux - e * in[1].x, ay = k * uy - e * in[1].y;
    float bx = ux - dt * in[1].x, by = uy - dt * in[1].y;
    out->v = a * b;
    out->x = ax * b + a * bx;
    out->y = ay * b + a * by;
}

#define START \
    float x = in[0].v, y = in[1].v; \
    float v0 = x + 0.5f, v1 = y + 0.25f, v2 = x * y + 1.0f, v3 = x - y, v4 = 1.5f - x, v5 = 2.0f * y, v6 = 0.7f * x + 0.1f, v7 = x + y + 1.0f;

/* W4: 2,000 statements on eight variables; w4_*.inc are made from data/w4.txt by the build script. */
float NAME(w4_value)(const dual in[2])
{
    START
#include "w4_value.inc"
    return v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;
}

void NAME(w4_dual)(const dual in[2], dual *out)
{
    START
#define SEED(d) \
    float d##0 = in[0].d, d##1 = in[1].d, d##2 = in[0].d * y + x * in[1].d, d##3 = in[0].d - in[1].d, d##4 = -in[0].d, d##5 = 2.0f * in[1].d, \
          d##6 = 0.7f * in[0].d, d##7 = in[0].d + in[1].d;
    SEED(x)
    SEED(y)
#include "w4_dual.inc"
    out->v = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;
    out->x = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
    out->y = y0 + y1 + y2 + y3 + y4 + y5 + y6 + y7;
}

/* The first 50 statements alone: the 2,000 are ill-conditioned on purpose, and only these can be checked by tolerance. */
void NAME(w4_first50)(const dual in[2], dual *out)
{
    START
    SEED(x)
    SEED(y)
#include "w4_first50.inc"
    out->v = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;
    out->x = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
    out->y = y0 + y1 + y2 + y3 + y4 + y5 + y6 + y7;
}
