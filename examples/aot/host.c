/* A host of shaders that were compiled ahead of time: one point, then a batch, whose first point is that one.
 *
 *     adumbra aot examples/aot/ripple.adu -g uv=0,0 -g time=0 --derivs -o ripple.o --header ripple.h
 *     cc -I . -I capi/include examples/aot/host.c ripple.o libadumbra_capi.a -lpthread -ldl -lm -o host
 */

#include "ripple.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 100 };

static void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK) {
        fprintf(stderr, "host: %s\n", adumbra_last_error());
        exit(1);
    }
}

/* A texture that shows which footprint it is asked for. */
static uint32_t sample(void *user, const AdumbraSampleRequest *request, float *texel)
{
    (void)user;
    texel[0] = request->texture == ripple_texture_paint ? request->u : 0.0f;
    texel[1] = request->dudx;
    texel[2] = request->dvdy;
    texel[3] = 1.0f;
    return ADUMBRA_ANSWER_READY;
}

static void print(const char *name, const ripple_outputs *outputs)
{
    int part;
    printf("%s", name);
    for (part = 0; part < 3; part++)
        printf(" %.9g %.9g %.9g %.9g", outputs[part].c[0], outputs[part].c[1], outputs[part].c[2], outputs[part].height);
    printf("\n");
}

int main(void)
{
    static ripple_globals globals[POINTS];
    static ripple_outputs values[POINTS], ddx[POINTS], ddy[POINTS];
    ripple_outputs outputs[3];
    AdumbraProgram *program;
    AdumbraInstance *instance;
    AdumbraEvaluator *evaluator;
    AdumbraBatchGlobals *batch_globals;
    AdumbraBatchEvaluator *batch;
    AdumbraEvaluatorOptions engine = {0};
    AdumbraBatchOptions tier = {0};
    AdumbraHost host = {0};
    const float rings = 9.0f;
    int i;

    engine.size = sizeof engine;
    engine.engine = ADUMBRA_ENGINE_NATIVE;
    tier.size = sizeof tier;
    tier.tier = ADUMBRA_TIER_NATIVE;
    host.size = sizeof host;
    host.sample = sample;
    for (i = 0; i < POINTS; i++) {
        globals[i].uv[0][0] = (float)i / POINTS;
        globals[i].uv[0][1] = 0.25f;
        globals[i].uv[1][0] = 1.0f / POINTS;
        globals[i].uv[2][1] = 0.01f;
        globals[i].time[0] = 0.5f;
    }

    check(adumbra_program_from_object(&adumbra_object_ripple, &program, NULL));
    check(adumbra_instance_new(program, &instance));
    check(adumbra_instance_set(instance, "rings", ADUMBRA_TYPE_FLOAT, &rings, 1));

    check(adumbra_evaluator_new(instance, &engine, &evaluator));
    check(ripple_point(evaluator, &globals[0], &host, NULL, outputs));
    print("point", outputs);

    check(adumbra_batch_globals_new(program, &batch_globals));
    check(adumbra_batch_globals_points(batch_globals, globals, POINTS));
    check(adumbra_batch_evaluator_new(instance, &tier, &batch));
    check(ripple_batch(batch, batch_globals, 0, POINTS, &host, values, ddx, ddy));
    for (i = 0; i < POINTS; i++) {
        const ripple_outputs one[3] = {values[i], ddx[i], ddy[i]};
        if (i == 0 && memcmp(one, outputs, sizeof one) != 0) {
            fprintf(stderr, "host: the batch shows another point\n");
            return 1;
        }
        print("batch", one);
    }

    adumbra_batch_evaluator_free(batch);
    adumbra_batch_globals_free(batch_globals);
    adumbra_evaluator_free(evaluator);
    adumbra_instance_free(instance);
    adumbra_program_free(program);
    return 0;
}
