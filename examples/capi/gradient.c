/* Fits two parameters of a shader to measurements, by the gradient of the mean of squares. */

#include "adumbra.h"

#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 8 };
static const float X[POINTS] = {0.25f, 0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 1.75f, 2.0f};
static const float Y[POINTS] = {0.34f, 0.5f, 0.39f, 0.07f, -0.28f, -0.49f, -0.43f, -0.14f};

static const char SHADER[] = "shader fit(float k, float gain, out float error) {\n"
                             "    float away = gain * sin(k * global_value<x>) - global_value<y>;\n"
                             "    error = away * away;\n"
                             "}\n";

static void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK) {
        fprintf(stderr, "gradient: %s\n", adumbra_last_error());
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
    static const char *const by[2] = {"k", "gain"}, *const derivatives[2] = {"d(k)", "d(gain)"};
    const float weight = 1.0f / POINTS; /* of the error of each point in the mean */
    float found[2] = {2.0f, 1.0f};
    double slope;
    int step, i;

    check(adumbra_layout_new(&layout));
    check(adumbra_layout_add(layout, "x", ADUMBRA_TYPE_FLOAT));
    check(adumbra_layout_add(layout, "y", ADUMBRA_TYPE_FLOAT));
    check(adumbra_compiler_new(layout, NULL, &compiler));
    check(adumbra_compile_source(compiler, "fit.adu", SHADER, ADUMBRA_TO_NUL, &program, NULL));
    check(adumbra_program_gradient(program, NULL, &gradient, NULL));
    check(adumbra_instance_new(gradient, &instance));
    check(adumbra_batch_globals_new(gradient, &globals));
    check(adumbra_batch_globals_plane(globals, "x", ADUMBRA_PART_VALUE, 0, X, POINTS, 1));
    check(adumbra_batch_globals_plane(globals, "y", ADUMBRA_PART_VALUE, 0, Y, POINTS, 1));
    check(adumbra_batch_globals_uniform(globals, "d(error)", ADUMBRA_PART_VALUE, &weight, 1));

    for (step = 0; step < 100; step++) {
        for (i = 0; i < 2; i++)
            check(adumbra_instance_set(instance, by[i], ADUMBRA_TYPE_FLOAT, &found[i], 1));
        check(adumbra_sums_new(instance, NULL, globals, 0, POINTS, derivatives, 2, NULL, &sums));
        for (i = 0; i < 2; i++) {
            check(adumbra_sums_total(sums, derivatives[i], &slope, 1, NULL));
            found[i] -= (float)slope;
        }
        adumbra_sums_free(sums);
    }
    printf("%.9g %.9g\n", found[0], found[1]);

    adumbra_batch_globals_free(globals);
    adumbra_instance_free(instance);
    adumbra_program_free(gradient);
    adumbra_program_free(program);
    adumbra_compiler_free(compiler);
    adumbra_layout_free(layout);
    return 0;
}
