/* The C reference over many points: planes in, planes out, as the compiler vectorises it. Compiled
 * once for each compiler, set of transcendentals, SIMD level, and interleave factor (INTERLEAVE,
 * which clang takes as its interleave count; gcc has no such option, and is built with 1). Seeds
 * are the same for all points. */
#include "kernels.h"
#include "forward.h"
#include <stddef.h>

#ifdef __AVX512F__
#define ELEMENTS 16
#else
#define ELEMENTS 8
#endif

#define STRING(x) #x
#define PRAGMA(x) _Pragma(STRING(x))
#ifdef __clang__
#define WIDE PRAGMA(clang loop vectorize_width(ELEMENTS) interleave_count(INTERLEAVE))
#else
#define WIDE PRAGMA(GCC ivdep)
#endif

/* Value planes of x and y, and both seeds of each. */
typedef struct { const float *x, *y; dual sx, sy; } planes_in;
typedef struct { float *v, *x, *y; } planes_out;

#define VALUES(program) \
    static void program##_values(const planes_in *in, const planes_out *out, size_t points) \
    { \
        const float *restrict px = in->x, *restrict py = in->y; \
        float *restrict v = out->v; \
        WIDE \
        for (size_t i = 0; i < points; i++) \
            v[i] = program##_value(px[i], py[i]); \
    }

#define DUALS(program) \
    static void program##_duals(const planes_in *in, const planes_out *out, size_t points) \
    { \
        const float *restrict px = in->x, *restrict py = in->y; \
        float *restrict v = out->v, *restrict vx = out->x, *restrict vy = out->y; \
        dual sx = in->sx, sy = in->sy; \
        WIDE \
        for (size_t i = 0; i < points; i++) { \
            dual r = program##_dual((dual){px[i], sx.x, sx.y}, (dual){py[i], sy.x, sy.y}); \
            v[i] = r.v; \
            vx[i] = r.x; \
            vy[i] = r.y; \
        } \
    }

#define BATCH(program) VALUES(program) DUALS(program)

BATCH(w1)
BATCH(w2)
BATCH(w4)
DUALS(first50)
DUALS(w2_forward)

/* W3 iterates over a block of vectors until the last of its points has stopped. */
#define BLOCK (ELEMENTS * INTERLEAVE)

static void w3_values(const planes_in *in, const planes_out *out, size_t points)
{
    for (size_t first = 0; first < points; first += BLOCK) {
        float vx[BLOCK], vy[BLOCK], vz[BLOCK], t[BLOCK];
        int live[BLOCK];
        WIDE
        for (int i = 0; i < BLOCK; i++) {
            ray v = ray_through((dual){in->x[first + i], 0.0f, 0.0f}, (dual){in->y[first + i], 0.0f, 0.0f});
            vx[i] = v.x.v;
            vy[i] = v.y.v;
            vz[i] = v.z.v;
            t[i] = 0.0f;
            live[i] = 1;
        }
        for (int step = 0, any = 1; step < 64 && any; step++) {
            any = 0;
            WIDE
            for (int i = 0; i < BLOCK; i++) {
                step_value(vx[i], vy[i], vz[i], &t[i], &live[i]);
                any |= live[i];
            }
        }
        memcpy(out->v + first, t, sizeof t);
    }
}

typedef void dual_step(ray, dual *, int *);

INLINE void w3_duals_by(dual_step *step_dual, const planes_in *in, const planes_out *out, size_t points)
{
    dual sx = in->sx, sy = in->sy;
    for (size_t first = 0; first < points; first += BLOCK) {
        /* Each direction with its two partials. */
        float v[9][BLOCK], t[BLOCK], tx[BLOCK], ty[BLOCK];
        int live[BLOCK];
        WIDE
        for (int i = 0; i < BLOCK; i++) {
            ray r = ray_through((dual){in->x[first + i], sx.x, sx.y}, (dual){in->y[first + i], sy.x, sy.y});
            v[0][i] = r.x.v, v[1][i] = r.x.x, v[2][i] = r.x.y;
            v[3][i] = r.y.v, v[4][i] = r.y.x, v[5][i] = r.y.y;
            v[6][i] = r.z.v, v[7][i] = r.z.x, v[8][i] = r.z.y;
            t[i] = tx[i] = ty[i] = 0.0f;
            live[i] = 1;
        }
        for (int step = 0, any = 1; step < 64 && any; step++) {
            any = 0;
            WIDE
            for (int i = 0; i < BLOCK; i++) {
                ray r = {{v[0][i], v[1][i], v[2][i]}, {v[3][i], v[4][i], v[5][i]}, {v[6][i], v[7][i], v[8][i]}};
                dual now = {t[i], tx[i], ty[i]};
                step_dual(r, &now, &live[i]);
                t[i] = now.v;
                tx[i] = now.x;
                ty[i] = now.y;
                any |= live[i];
            }
        }
        memcpy(out->v + first, t, sizeof t);
        memcpy(out->x + first, tx, sizeof tx);
        memcpy(out->y + first, ty, sizeof ty);
    }
}

static void w3_duals(const planes_in *in, const planes_out *out, size_t points) { w3_duals_by(step_dual, in, out, points); }
static void w3_forward_duals(const planes_in *in, const planes_out *out, size_t points) { w3_duals_by(step_forward, in, out, points); }

typedef void run(const planes_in *, const planes_out *, size_t);
typedef struct { run *values, *duals; } program;

/* The number of points must be a multiple of ELEMENTS times INTERLEAVE. */
const struct { program programs[4]; run *first50, *forward[4]; } NAME(batch) = {
    {{w1_values, w1_duals}, {w2_values, w2_duals}, {w3_values, w3_duals}, {w4_values, w4_duals}},
    first50_duals,
    {0, w2_forward_duals, w3_forward_duals, 0},
};
