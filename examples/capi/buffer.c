/* Fits the weights of a linear model, which are a buffer, in four steps against their gradient. */

#include "adumbra.h"

#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 4, WEIGHTS = 2, STEPS = 4 };
static const float X[POINTS] = {-1.5f, -0.5f, 0.5f, 1.5f};
static const float Y[POINTS] = {-2.25f, -0.25f, 1.75f, 3.75f};

static const char SHADER[] = "buffer<float> w;\n"
                             "shader fit(out float error) {\n"
                             "    float power = 1, y = 0;\n"
                             "    for (int i = 0; i < w.length(); i++) {\n"
                             "        y += w[i] * power;\n"
                             "        power *= global_value<x>;\n"
                             "    }\n"
                             "    float away = y - global_value<y>;\n"
                             "    error = away * away;\n"
                             "}\n";

static void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK) {
        fprintf(stderr, "buffer: %s\n", adumbra_last_error());
        exit(1);
    }
}

int main(void)
{
    AdumbraLayout *layout;
    AdumbraCompiler *compiler;
    AdumbraProgram *program, *gradient;
    AdumbraInstance *instance;
    AdumbraBatchGlobals *globals;
    AdumbraSums *sums;
    AdumbraGradientRequest request = {0};
    const float share = 1.0f / POINTS; /* of the error of each point in the mean */
    float w[WEIGHTS] = {0.0f, 0.0f};
    double slopes[WEIGHTS];
    int step, i;

    check(adumbra_layout_new(&layout));
    check(adumbra_layout_add(layout, "x", ADUMBRA_TYPE_FLOAT));
    check(adumbra_layout_add(layout, "y", ADUMBRA_TYPE_FLOAT));
    check(adumbra_compiler_new(layout, NULL, &compiler));
    check(adumbra_compile_source(compiler, "fit.adu", SHADER, ADUMBRA_TO_NUL, &program, NULL));
    request.size = sizeof request;
    request.all_buffers = 1;
    check(adumbra_program_gradient(program, &request, &gradient, NULL));
    check(adumbra_instance_new(gradient, &instance));
    check(adumbra_batch_globals_new(gradient, &globals));
    check(adumbra_batch_globals_plane(globals, "x", ADUMBRA_PART_VALUE, 0, X, POINTS, 1));
    check(adumbra_batch_globals_plane(globals, "y", ADUMBRA_PART_VALUE, 0, Y, POINTS, 1));
    check(adumbra_batch_globals_uniform(globals, "d(error)", ADUMBRA_PART_VALUE, &share, 1));

    for (step = 0; step < STEPS; step++) {
        check(adumbra_instance_set_buffer(instance, "w", ADUMBRA_TYPE_FLOAT, w, WEIGHTS));
        check(adumbra_sums_new(instance, NULL, globals, 0, POINTS, NULL, 0, NULL, &sums));
        check(adumbra_sums_buffer(sums, "w", slopes, WEIGHTS, NULL));
        for (i = 0; i < WEIGHTS; i++)
            w[i] -= 0.4f * (float)slopes[i];
        adumbra_sums_free(sums);
    }
    printf("%.9g %.9g\n", w[0], w[1]);

    adumbra_batch_globals_free(globals);
    adumbra_instance_free(instance);
    adumbra_program_free(gradient);
    adumbra_program_free(program);
    adumbra_compiler_free(compiler);
    adumbra_layout_free(layout);
    return 0;
}
