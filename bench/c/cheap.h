/* Polynomials of 2 to 5 ulp on the range of the benchmarks, as in code that values speed over
 * accuracy. Fits: weighted least squares, reweighted towards the minimax error. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static inline float from_bits(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static inline uint32_t to_bits(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }

/* r = t - k pi for the nearest integer k; sin r = r + r^3 P(r^2) */
static inline float sin_poly(float r)
{
    float s = r * r;
    float p = ((2.6086434e-6f * s - 1.9810992e-4f) * s + 8.3330870e-3f) * s - 1.6666660e-1f;
    return r + r * s * p;
}

static inline float flip(float f, float k)
{
    return from_bits(to_bits(f) ^ ((uint32_t)(int32_t)k << 31));
}

INLINE float m_sin(float t)
{
    float k = rintf(t * 0.318309886f);
    float r = (t - k * 3.140625f) - k * 9.67653589793e-4f;
    return flip(sin_poly(r), k);
}

INLINE float m_cos(float t)
{
    float k = rintf(t * 0.318309886f - 0.5f);
    float h = k + 0.5f;
    float r = (t - h * 3.140625f) - h * 9.67653589793e-4f;
    return flip(-sin_poly(r), k);
}

INLINE void m_sincos(float t, float *s, float *c)
{
    *s = m_sin(t);
    *c = m_cos(t);
}

/* t = 2^e m with sqrt(1/2) <= m < sqrt 2; log m = f - f^2/2 + f^3 P(f), f = m - 1 */
INLINE float m_log(float t)
{
    uint32_t b = to_bits(t) - 0x3f3504f3u;
    float e = (float)((int32_t)b >> 23);
    float f = from_bits((b & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    float p = 8.9171320e-2f;
    p = p * f - 1.4350089e-1f;
    p = p * f + 1.4877141e-1f;
    p = p * f - 1.6565648e-1f;
    p = p * f + 1.9965385e-1f;
    p = p * f - 2.5001746e-1f;
    p = p * f + 3.3333859e-1f;
    return e * 0.693147181f + (f - f * f * (0.5f - f * p));
}

/* t = k ln 2 + r; exp r = 1 + r + r^2 P(r) */
INLINE float m_exp(float t)
{
    float k = rintf(t * 1.44269504f);
    float r = (t - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = (((1.3950471e-3f * r + 8.3688898e-3f) * r + 4.1666206e-2f) * r + 1.6666518e-1f) * r + 0.5f;
    return (1.0f + (r + r * r * p)) * from_bits((uint32_t)((int32_t)k + 127) << 23);
}

INLINE float m_tanh(float t)
{
    float a = fabsf(t), s = t * t;
    float p = (((-5.7169711e-3f * s + 2.0650515e-2f) * s - 5.3743474e-2f) * s + 1.3331491e-1f) * s - 3.3333284e-1f;
    float small = t + t * s * p;
    float big = copysignf(1.0f - 2.0f / (m_exp(2.0f * a) + 1.0f), t);
    return a < 0.625f ? small : big;
}

/* Contraction is up to the compiler. */
static inline float fma_(float a, float b, float c) { return a * b + c; }

INLINE float m_sqrt(float t) { return sqrtf(t); }
