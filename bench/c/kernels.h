/* The benchmark programs by hand: value, and value with both partials inlined, at one point. Inputs
 * are those of a shader: value, ddx, ddy of x and of y.
 *
 * MATHS names the set of transcendentals: "cheap" polynomials of 2 to 5 ulp, or "equal", the
 * algorithms of our engines, operation for operation; values of the latter are bit-equal. NAME(f)
 * gives each build its own symbols. */
#include <stdint.h>
#include <string.h>
#include MATHS

typedef struct { float v, x, y; } dual;

#define PASTE2(a, b) a##_##b
#define PASTE(a, b) PASTE2(a, b)
#define NAME(f) PASTE(BUILD, f)

/* W1: x1 = x + .5, x2 = y + .25, u = x1 x2 / (x1 + 1), f = (sin u + log(1 + u) - exp x2)(u - tanh x2). */
INLINE float w1_value(float x, float y)
{
    float x1 = x + 0.5f, x2 = y + 0.25f;
    float u = x1 * x2 / (x1 + 1.0f);
    return (m_sin(u) + m_log(1.0f + u) - m_exp(x2)) * (u - m_tanh(x2));
}

INLINE dual w1_dual(dual x, dual y)
{
    float x1 = x.v + 0.5f, x2 = y.v + 0.25f;
    float p = x1 * x2, q = x1 + 1.0f, r = 1.0f / q, u = p * r;
    float ux = (x.x * x2 + x1 * y.x - u * x.x) * r;
    float uy = (x.y * x2 + x1 * y.y - u * x.y) * r;
    float s, c;
    m_sincos(u, &s, &c);
    float g = 1.0f + u, lg = m_log(g), rg = 1.0f / g, e = m_exp(x2), t = m_tanh(x2), dt = 1.0f - t * t;
    float a = s + lg - e, b = u - t, k = c + rg;
    float ax = k * ux - e * y.x, ay = k * uy - e * y.y;
    float bx = ux - dt * y.x, by = uy - dt * y.y;
    return (dual){a * b, ax * b + a * bx, ay * b + a * by};
}

/* A short loop that must be unrolled before the one around it is vectorised. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* W2: five octaves of gradient noise at 8x, 8y. A cell's corner has a slope from a hash; the
 * quintic fade blends between corners. */
INLINE void gradient(uint32_t a, uint32_t b, float *gx, float *gy)
{
    uint32_t h = a + b;
    h = (h ^ h >> 13) * 1274126177u;
    h ^= h >> 16;
    *gx = (float)(int32_t)(h & 0xffffu) * (2.0f / 65535.0f) - 1.0f;
    *gy = (float)(int32_t)(h >> 16) * (2.0f / 65535.0f) - 1.0f;
}

INLINE float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }
INLINE float fade_slope(float t) { float s = t * (1.0f - t); return 30.0f * s * s; }

typedef struct { float px, py, gx[4], gy[4], corner[4]; } cell;

INLINE cell cell_at(float x, float y)
{
    cell c;
    float fx = floorf(x), fy = floorf(y);
    uint32_t ax = (uint32_t)(int32_t)fx * 374761393u, ay = (uint32_t)(int32_t)fy * 668265263u;
    c.px = x - fx;
    c.py = y - fy;
    gradient(ax, ay, &c.gx[0], &c.gy[0]);
    gradient(ax + 374761393u, ay, &c.gx[1], &c.gy[1]);
    gradient(ax, ay + 668265263u, &c.gx[2], &c.gy[2]);
    gradient(ax + 374761393u, ay + 668265263u, &c.gx[3], &c.gy[3]);
    c.corner[0] = c.gx[0] * c.px + c.gy[0] * c.py;
    c.corner[1] = c.gx[1] * (c.px - 1.0f) + c.gy[1] * c.py;
    c.corner[2] = c.gx[2] * c.px + c.gy[2] * (c.py - 1.0f);
    c.corner[3] = c.gx[3] * (c.px - 1.0f) + c.gy[3] * (c.py - 1.0f);
    return c;
}

INLINE float blend(float a, float b, float t) { return fma_(b, t, a - a * t); }

INLINE float noise_value(float x, float y)
{
    cell c = cell_at(x, y);
    float u = fade(c.px);
    return blend(blend(c.corner[0], c.corner[1], u), blend(c.corner[2], c.corner[3], u), fade(c.py));
}

/* Value, and slopes along x and y. */
INLINE dual noise_slopes(float x, float y)
{
    cell c = cell_at(x, y);
    float u = fade(c.px), v = fade(c.py), du = fade_slope(c.px), dv = fade_slope(c.py);
    float near = blend(c.corner[0], c.corner[1], u), far = blend(c.corner[2], c.corner[3], u);
    float near_x = blend(c.gx[0], c.gx[1], u) + (c.corner[1] - c.corner[0]) * du;
    float far_x = blend(c.gx[2], c.gx[3], u) + (c.corner[3] - c.corner[2]) * du;
    float near_y = blend(c.gy[0], c.gy[1], u), far_y = blend(c.gy[2], c.gy[3], u);
    return (dual){blend(near, far, v), blend(near_x, far_x, v), blend(near_y, far_y, v) + (far - near) * dv};
}

INLINE float w2_value(float x, float y)
{
    float sum = 0.0f, gain = 1.0f;
    x *= 8.0f;
    y *= 8.0f;
    UNROLL
    for (int octave = 0; octave < 5; octave++) {
        sum += gain * noise_value(x, y);
        x *= 2.0f;
        y *= 2.0f;
        gain *= 0.5f;
    }
    return sum;
}

INLINE dual w2_dual(dual x, dual y)
{
    float sum = 0.0f, along_x = 0.0f, along_y = 0.0f, gain = 1.0f, px = 8.0f * x.v, py = 8.0f * y.v;
    UNROLL
    for (int octave = 0; octave < 5; octave++) {
        dual n = noise_slopes(px, py);
        sum += gain * n.v;
        /* Lacunarity and gain cancel. */
        along_x += n.x;
        along_y += n.y;
        px *= 2.0f;
        py *= 2.0f;
        gain *= 0.5f;
    }
    along_x *= 8.0f;
    along_y *= 8.0f;
    return (dual){sum, along_x * x.x + along_y * y.x, along_x * x.y + along_y * y.y};
}

/* W3: sphere tracing. The ray goes from (0, 0, -3) through ((x - .5) 1.6, (y - .5) 1.6, 1). */
typedef struct { dual x, y, z; } ray;

INLINE ray ray_through(dual x, dual y)
{
    float px = (x.v - 0.5f) * 1.6f, py = (y.v - 0.5f) * 1.6f;
    float r = 1.0f / m_sqrt(px * px + py * py + 1.0f);
    float vx = px * r, vy = py * r;
    float px_x = 1.6f * x.x, px_y = 1.6f * x.y, py_x = 1.6f * y.x, py_y = 1.6f * y.y;
    float along_x = (vx * px_x + vy * py_x) * r, along_y = (vx * px_y + vy * py_y) * r;
    return (ray){{vx, px_x * r - vx * along_x, px_y * r - vx * along_y},
                 {vy, py_x * r - vy * along_x, py_y * r - vy * along_y},
                 {r, -r * along_x, -r * along_y}};
}

INLINE float least(float a, float b) { return b < a ? b : a; }
INLINE float greatest(float a, float b) { return a < b ? b : a; }

/* Polynomial smooth minimum, k = .3; gives the weight of b in the derivative, too. */
INLINE float smooth_minimum(float a, float b, float *weight)
{
    float away = a - b, h = greatest(0.3f - fabsf(away), 0.0f) / 0.3f;
    float half = 0.5f * h;
    *weight = away < 0.0f ? half : 1.0f - half;
    return least(a, b) - h * h * (0.3f * 0.25f);
}

/* The distance at t along a ray, and its slopes along the three coordinates. */
INLINE float distance(float px, float py, float pz, float *gx, float *gy, float *gz)
{
    float ax = px + 0.5f, az = pz - 1.0f, bx = px - 0.6f, by = py - 0.3f, bz = pz - 0.5f;
    float a = m_sqrt(ax * ax + py * py + az * az), b = m_sqrt(bx * bx + by * by + bz * bz);
    float to_b, to_plane;
    float spheres = smooth_minimum(a - 0.8f, b - 0.6f, &to_b);
    float all = smooth_minimum(spheres, py + 1.0f, &to_plane);
    float keep = 1.0f - to_plane, ra = keep * (1.0f - to_b) / a, rb = keep * to_b / b;
    *gx = ra * ax + rb * bx;
    *gy = ra * py + rb * by + to_plane;
    *gz = ra * az + rb * bz;
    return all;
}

/* One step of a ray that may have stopped. */
INLINE void step_value(float vx, float vy, float vz, float *t, int *live)
{
    float gx, gy, gz, d = distance(vx * *t, vy * *t, vz * *t - 3.0f, &gx, &gy, &gz);
    int on = *live & !(d < 1e-3f);
    float next = *t + d;
    *t = on ? next : *t;
    *live = on & !(next > 20.0f);
}

INLINE void step_dual(ray v, dual *t, int *live)
{
    float gx, gy, gz, d = distance(v.x.v * t->v, v.y.v * t->v, v.z.v * t->v - 3.0f, &gx, &gy, &gz);
    float along = gx * v.x.v + gy * v.y.v + gz * v.z.v;
    float side_x = gx * v.x.x + gy * v.y.x + gz * v.z.x, side_y = gx * v.x.y + gy * v.y.y + gz * v.z.y;
    float next_x = t->x + along * t->x + t->v * side_x, next_y = t->y + along * t->y + t->v * side_y;
    int on = *live & !(d < 1e-3f);
    float next = t->v + d;
    t->v = on ? next : t->v;
    t->x = on ? next_x : t->x;
    t->y = on ? next_y : t->y;
    *live = on & !(next > 20.0f);
}

/* W4: 2,000 statements on eight variables; the build script makes w4_*.inc from
 * cli/src/benchmarks/programs/w4.txt. */
#define START \
    float v0 = x + 0.5f, v1 = y + 0.25f, v2 = x * y + 1.0f, v3 = x - y, v4 = 1.5f - x, v5 = 2.0f * y, v6 = 0.7f * x + 0.1f, v7 = x + y + 1.0f;
#define SEED(d) \
    float d##0 = sx.d, d##1 = sy.d, d##2 = sx.d * y + x * sy.d, d##3 = sx.d - sy.d, d##4 = -sx.d, d##5 = 2.0f * sy.d, \
          d##6 = 0.7f * sx.d, d##7 = sx.d + sy.d;
#define SUM(d) (d##0 + d##1 + d##2 + d##3 + d##4 + d##5 + d##6 + d##7)

INLINE float w4_value(float x, float y)
{
    START
#include "w4_value.inc"
    return SUM(v);
}

INLINE dual w4_dual(dual sx, dual sy)
{
    float x = sx.v, y = sy.v;
    START
    SEED(x)
    SEED(y)
#include "w4_dual.inc"
    return (dual){SUM(v), SUM(x), SUM(y)};
}

/* The first 50 statements alone: the 2,000 are ill-conditioned on purpose, and only these can be
 * checked by tolerance. */
INLINE dual first50_dual(dual sx, dual sy)
{
    float x = sx.v, y = sy.v;
    START
    SEED(x)
    SEED(y)
#include "w4_first50.inc"
    return (dual){SUM(v), SUM(x), SUM(y)};
}
