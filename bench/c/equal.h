/* The algorithms of our engines (ops/src/algorithm), constant for constant and operation for
 * operation, without their slow paths: the benchmarks never take these, and C has it a little
 * easier without. Values are bit-equal. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static inline float from_bits(uint32_t b) { float f; memcpy(&f, &b, 4); return f; }
static inline uint32_t to_bits(float f) { uint32_t b; memcpy(&b, &f, 4); return b; }
static inline float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float flip(float f, uint32_t sign) { return from_bits(to_bits(f) ^ (sign & 0x80000000u)); }
static inline float power_of_two(uint32_t k) { return from_bits((k + 127u) << 23); }

static inline float nearest(float t, float c, uint32_t *word)
{
    float sum = fma_(t, c, 12582912.0f);
    *word = to_bits(sum) - 0x4b400000u;
    return sum - 12582912.0f;
}

static inline void sin_cos(float magnitude, float *s, float *c, uint32_t *quadrant)
{
    float k = nearest(magnitude, 0.636619772f, quadrant);
    float first = fma_(-k, 1.57079633f, magnitude), second = k * -4.371139e-8f;
    float r = first - second;
    float lost = ((first - r) - second) - fma_(k, -4.371139e-8f, -second);
    float tail = fma_(-k, -1.7151245e-15f, lost);
    float q = r * r;
    float ps = fma_(fma_(-1.950554e-4f, q, 8.332095e-3f), q, -0.16666654f);
    *s = r + fma_(ps, q * r, tail);
    float head = fma_(-0.5f, q, 1.0f), rest = fma_(-0.5f, q, 1.0f - head);
    float pc = fma_(fma_(2.4412091e-5f, q, -1.388713e-3f), q, 4.166664e-2f);
    *c = head + fma_(-r, tail, fma_(pc, q * q, rest));
}

INLINE float m_sin(float t)
{
    float s, c;
    uint32_t q;
    sin_cos(fabsf(t), &s, &c, &q);
    return flip(q & 1 ? c : s, q << 30 ^ to_bits(t));
}

INLINE float m_cos(float t)
{
    float s, c;
    uint32_t q;
    sin_cos(fabsf(t), &s, &c, &q);
    q += 1;
    return flip(q & 1 ? c : s, q << 30);
}

INLINE void m_sincos(float t, float *sine, float *cosine)
{
    float s, c;
    uint32_t q;
    sin_cos(fabsf(t), &s, &c, &q);
    *sine = flip(q & 1 ? c : s, q << 30 ^ to_bits(t));
    *cosine = flip(q & 1 ? s : c, (q + 1) << 30);
}

INLINE float m_log(float t)
{
    uint32_t bits = to_bits(t);
    int32_t power = (int32_t)(bits - 0x3f3504f3u) >> 23;
    float f = from_bits(bits - ((uint32_t)power << 23)) - 1.0f, k = (float)power;
    float p = 0.0674925f;
    p = fma_(p, f, -0.116700895f);
    p = fma_(p, f, 0.1188355f);
    p = fma_(p, f, -0.124062344f);
    p = fma_(p, f, 0.14220358f);
    p = fma_(p, f, -0.16667989f);
    p = fma_(p, f, 0.20002072f);
    p = fma_(p, f, -0.2500001f);
    p = fma_(p, f, 0.33333313f);
    float square = f * f, rest = fma_(p, square * f, -0.5f * square);
    float whole = k * 0.69314575f, sum = whole + f, lost = f - (sum - whole);
    return sum + (lost + fma_(k, 1.4286068e-6f, rest));
}

INLINE float m_exp(float t)
{
    uint32_t power;
    float k = nearest(t, 1.44269504f, &power);
    float r = fma_(-k, -1.9046542e-9f, fma_(-k, 0.693147181f, t));
    float p = fma_(fma_(fma_(fma_(1.3820775e-3f, r, 8.369248e-3f), r, 4.166828e-2f), r, 0.16666517f), r, 0.49999994f);
    return fma_(fma_(p, r, 1.0f), r, 1.0f) * power_of_two(power);
}

INLINE float m_tanh(float t)
{
    float a = fabsf(t), q = t * t;
    float p = 1.1652193e-4f;
    p = fma_(p, q, -8.2206377e-4f);
    p = fma_(p, q, 3.049001e-3f);
    p = fma_(p, q, -8.571487e-3f);
    p = fma_(p, q, 2.1774445e-2f);
    p = fma_(p, q, -5.3950723e-2f);
    p = fma_(p, q, 0.13333175f);
    p = fma_(p, q, -0.33333328f);
    float near = fma_(p, q * a, a);
    float e = m_exp(2.0f * (10.0f < a ? 10.0f : a));
    float far = 1.0f - 2.0f / (e + 1.0f);
    return flip(a < 1.0f ? near : far, to_bits(t));
}

INLINE float m_sqrt(float t) { return sqrtf(t); }
