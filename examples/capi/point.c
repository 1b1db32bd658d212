/* The least that a host in C does: one shader, one point, its value and how it changes from pixel to pixel. */

#include "adumbra.h"

#include <stdio.h>
#include <stdlib.h>

static const char SHADER[] = "shader wave(float height = 1.0, out float o) {\n"
                             "    float2 p = global_value<uv>;\n"
                             "    o = height * sin(10.0 * p.x) * p.y;\n"
                             "}\n";

/* What the host knows of a point: a float2 with its changes along x and y. */
typedef struct {
    float uv[2], uv_ddx[2], uv_ddy[2];
} Point;

static void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK) {
        fprintf(stderr, "point: %s\n", adumbra_last_error());
        exit(1);
    }
}

int main(void)
{
    AdumbraLayout *layout;
    AdumbraCompiler *compiler;
    AdumbraProgram *program;
    AdumbraInstance *instance;
    AdumbraEvaluator *evaluator;
    AdumbraCompilerOptions options = {0};
    AdumbraVariable output = {0};
    Point point = {{0.25f, 0.5f}, {0.01f, 0.0f}, {0.0f, 0.01f}};
    const float height = 2.0f;
    float o[3];
    uint32_t part;

    check(adumbra_layout_new(&layout));
    check(adumbra_layout_add(layout, "uv", ADUMBRA_TYPE_FLOAT2));
    options.size = sizeof options;
    options.output_derivatives = 1;
    check(adumbra_compiler_new(layout, &options, &compiler));
    check(adumbra_compile_source(compiler, "wave.adu", SHADER, ADUMBRA_TO_NUL, &program, NULL));
    check(adumbra_instance_new(program, &instance));
    check(adumbra_instance_set(instance, "height", ADUMBRA_TYPE_FLOAT, &height, 1));
    check(adumbra_evaluator_new(instance, NULL, &evaluator));
    output.size = sizeof output;
    check(adumbra_program_find(program, ADUMBRA_LIST_OUTPUTS, "o", &output));

    check(adumbra_evaluator_evaluate(evaluator, &point, sizeof point, NULL, NULL));
    for (part = ADUMBRA_PART_VALUE; part <= ADUMBRA_PART_DDY; part++)
        check(adumbra_evaluator_read(evaluator, part, output.first, output.scalars, &o[part]));
    printf("%.9g %.9g %.9g\n", o[0], o[1], o[2]);

    adumbra_evaluator_free(evaluator);
    adumbra_instance_free(instance);
    adumbra_program_free(program);
    adumbra_compiler_free(compiler);
    adumbra_layout_free(layout);
    return 0;
}
