/* The gradient of a disc's image through its edge, by the rules `pair`: secants between a pixel and
 * its four neighbours. What examples/edges/disc.adu is differentiated to, written by hand. */
#include <math.h>
#include <stddef.h>

#define NAMED(build, name) build##_##name
#define EXPANDED(build, name) NAMED(build, name)
#define NAME(name) EXPANDED(BUILD, name)

typedef struct { float r, cx, cy, alpha, paint[3]; } disc;

/* The most pixels of a line. */
#define MOST 4096
static const float GROUND = 0.3f;

/* How far pixels of a line are outside the disc, with one before and one after it. */
static void margins(const disc *d, float y, int width, float *m)
{
    float dy = y - d->cy;
    for (int i = 0; i < width + 2; i++) {
        float dx = (float)(i - 1) - d->cx;
        m[i] = sqrtf(dx * dx + dy * dy) - d->r;
    }
}

/* The planes of d/dr, d/dcx, d/dcy, d/dalpha and d/dpaint, where all three numbers of the color
 * weigh 1. */
static void gradient(const disc *d, int width, int height, float *const planes[7])
{
    static _Thread_local float lines[3][MOST + 2];
    float *above = lines[0], *here = lines[1], *below = lines[2];
    float contrast = 0.0f;
    for (int k = 0; k < 3; k++)
        contrast += d->paint[k] - GROUND;
    margins(d, -1.0f, width, above);
    margins(d, 0.0f, width, here);
    for (int y = 0; y < height; y++) {
        margins(d, (float)(y + 1), width, below);
        size_t first = (size_t)y * width;
        float *restrict r = planes[0] + first, *restrict cx = planes[1] + first, *restrict cy = planes[2] + first;
        float *restrict alpha = planes[3] + first;
        float *restrict paint[3] = {planes[4] + first, planes[5] + first, planes[6] + first};
        int any = 0;
        for (int x = 0; x < width; x++) {
            int in = here[x + 1] < 0.0f;
            r[x] = cx[x] = cy[x] = 0.0f;
            alpha[x] = in ? contrast : 0.0f;
            paint[0][x] = paint[1][x] = paint[2][x] = in ? d->alpha : 0.0f;
            any |= (in ^ (here[x] < 0.0f)) | (in ^ (here[x + 2] < 0.0f)) | (in ^ (above[x + 1] < 0.0f)) | (in ^ (below[x + 1] < 0.0f));
        }
        for (int x = 0; any && x < width; x++) {
            float m = here[x + 1];
            float there[2][2] = {{here[x], here[x + 2]}, {above[x + 1], below[x + 1]}};
            float best = -1.0f, sum = 0.0f;
            for (int axis = 0; axis < 2; axis++) {
                float least = INFINITY, own = 0.0f;
                for (int side = 0; side < 2; side++) {
                    float apart = fabsf(there[axis][side] - m);
                    if ((m < 0.0f) != (there[axis][side] < 0.0f)) {
                        least = fminf(least, apart);
                        own += 0.5f * d->alpha * contrast / apart;
                    }
                }
                if (own != 0.0f && least >= best) {
                    best = least;
                    sum = own;
                }
            }
            if (sum != 0.0f) {
                float distance = m + d->r;
                r[x] = sum;
                cx[x] = sum * ((float)x - d->cx) / distance;
                cy[x] = sum * ((float)y - d->cy) / distance;
            }
        }
        float *free = above;
        above = here;
        here = below;
        below = free;
    }
}

typedef void run(const disc *, int, int, float *const[7]);

const struct { run *gradient; } NAME(edges) = {gradient};
