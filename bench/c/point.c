/* The C reference, one point at a time: each program is one opaque call. Compiled once for each
 * compiler and set of transcendentals. */
#include "kernels.h"

#define POINT(program) \
    static float program##_value_at(const dual in[2]) { return program##_value(in[0].v, in[1].v); } \
    static void program##_dual_at(const dual in[2], dual *out) { *out = program##_dual(in[0], in[1]); }

INLINE float w3_value(float x, float y)
{
    ray v = ray_through((dual){x, 0.0f, 0.0f}, (dual){y, 0.0f, 0.0f});
    float t = 0.0f;
    int live = 1;
    for (int step = 0; step < 64 && live; step++)
        step_value(v.x.v, v.y.v, v.z.v, &t, &live);
    return t;
}

INLINE dual w3_dual(dual x, dual y)
{
    ray v = ray_through(x, y);
    dual t = {0.0f, 0.0f, 0.0f};
    int live = 1;
    for (int step = 0; step < 64 && live; step++)
        step_dual(v, &t, &live);
    return t;
}

POINT(w1)
POINT(w2)
POINT(w3)
POINT(w4)

static void first50_at(const dual in[2], dual *out) { *out = first50_dual(in[0], in[1]); }

typedef struct {
    float (*value)(const dual[2]);
    void (*dual)(const dual[2], dual *);
} program;

const struct { program programs[4]; void (*first50)(const dual[2], dual *); } NAME(point) = {
    {{w1_value_at, w1_dual_at}, {w2_value_at, w2_dual_at}, {w3_value_at, w3_dual_at}, {w4_value_at, w4_dual_at}},
    first50_at,
};
