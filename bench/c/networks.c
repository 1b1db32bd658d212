/* Fully connected networks over many points, as a C compiler vectorises their loops: two hidden
 * layers of one width, `max(s, 0)` after each. The value; the sum of the gradient by the inputs; the
 * sum of the gradient by all weights. Weights: for each neuron of the first layer one for each
 * input, its biases, the second layer, its biases, the last layer, its bias. */
#include <stddef.h>

#define NAMED(build, name) build##_##name
#define EXPANDED(build, name) NAMED(build, name)
#define NAME(name) EXPANDED(BUILD, name)

/* Points that are computed at once. */
#define BLOCK 64

#define MOST 64
typedef float block[BLOCK];

/* The hidden layers of a block, and its output. */
typedef struct { block in[3], a[MOST], b[MOST], out; } layers;

static inline __attribute__((always_inline)) void
forward(int inputs, int width, const float *w, const float *x, const float *y, layers *l)
{
    const float *bias1 = w + inputs * width, *second = bias1 + width;
    const float *bias2 = second + width * width, *last = bias2 + width;
    for (int p = 0; p < BLOCK; p++) {
        l->in[0][p] = x[p];
        l->in[1][p] = y[p];
        l->in[2][p] = x[p] * y[p];
    }
    for (int i = 0; i < width; i++) {
        block s;
        for (int p = 0; p < BLOCK; p++)
            s[p] = bias1[i];
        for (int k = 0; k < inputs; k++)
            for (int p = 0; p < BLOCK; p++)
                s[p] += w[inputs * i + k] * l->in[k][p];
        for (int p = 0; p < BLOCK; p++)
            l->a[i][p] = s[p] < 0.0f ? 0.0f : s[p];
    }
    for (int i = 0; i < width; i++) {
        block s;
        for (int p = 0; p < BLOCK; p++)
            s[p] = bias2[i];
        for (int j = 0; j < width; j++)
            for (int p = 0; p < BLOCK; p++)
                s[p] += second[width * i + j] * l->a[j][p];
        for (int p = 0; p < BLOCK; p++)
            l->b[i][p] = s[p] < 0.0f ? 0.0f : s[p];
    }
    for (int p = 0; p < BLOCK; p++)
        l->out[p] = last[width];
    for (int i = 0; i < width; i++)
        for (int p = 0; p < BLOCK; p++)
            l->out[p] += last[i] * l->b[i][p];
}

static inline __attribute__((always_inline)) void
backward(int inputs, int width, int by_weights, const float *w, const layers *l, float *out)
{
    const float *second = w + inputs * width + width, *last = second + width * width + width;
    block da[MOST] = {{0}}, sum;
    for (int p = 0; p < BLOCK; p++)
        sum[p] = by_weights ? 1.0f : 0.0f;
    for (int i = 0; i < width; i++) {
        block db;
        for (int p = 0; p < BLOCK; p++) {
            db[p] = l->b[i][p] > 0.0f ? last[i] : 0.0f;
            if (by_weights)
                sum[p] += l->b[i][p] + db[p];
        }
        for (int j = 0; j < width; j++)
            for (int p = 0; p < BLOCK; p++) {
                da[j][p] += second[width * i + j] * db[p];
                if (by_weights)
                    sum[p] += l->a[j][p] * db[p];
            }
    }
    for (int i = 0; i < width; i++)
        for (int p = 0; p < BLOCK; p++) {
            float d = l->a[i][p] > 0.0f ? da[i][p] : 0.0f;
            if (by_weights) {
                sum[p] += d;
                for (int k = 0; k < inputs; k++)
                    sum[p] += d * l->in[k][p];
            } else {
                sum[p] += d * w[inputs * i] + d * w[inputs * i + 1];
                if (inputs == 3)
                    sum[p] += d * w[inputs * i + 2] * (l->in[0][p] + l->in[1][p]);
            }
        }
    for (int p = 0; p < BLOCK; p++)
        out[p] = sum[p];
}

#define NETWORK(name, inputs, width) \
    static void name(int kind, const float *w, const float *x, const float *y, float *out, size_t points) \
    { \
        layers l; \
        for (size_t i = 0; i < points; i += BLOCK) { \
            forward(inputs, width, w, x + i, y + i, &l); \
            if (kind == 0) \
                for (int p = 0; p < BLOCK; p++) \
                    out[i + p] = l.out[p]; \
            else if (kind == 1) \
                backward(inputs, width, 0, w, &l, out + i); \
            else \
                backward(inputs, width, 1, w, &l, out + i); \
        } \
    }

NETWORK(small, 2, 16)
NETWORK(large, 3, 64)

typedef void run(int, const float *, const float *, const float *, float *, size_t);

const struct { run *networks[2]; } NAME(networks) = {{small, large}};
