// A renderer in C++ that shades a tiled floor, hundreds of pixels at a time, and writes it as a PPM
// file: `renderer floor.ppm`. docs/c-api.md says how to build it.

#include "adumbra.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

static const char SHADER[] = R"(
    texture2d tiles;

    shader floor(float scale = 1.0, color fog = color(0.6, 0.7, 0.8), out color c)
    {
        float2 p = global_value<ground> * scale;
        p.x += 0.1 * sin(3.0 * p.y); // Whatever the artist does to coordinates, their derivatives follow.
        float far = global_value<distance> / (global_value<distance> + 20.0);
        c = texture2d_sample<tiles>(p) * (1.0 - far) + fog * far;
    }
)";

const int WIDTH = 160, HEIGHT = 90;

static void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK) {
        std::fprintf(stderr, "renderer: %s\n", adumbra_last_error());
        std::exit(1);
    }
}

// Handles free themselves.
template <typename T, void (*FREE)(T *)> struct Free {
    void operator()(T *handle) const { FREE(handle); }
};
template <typename T, void (*FREE)(T *)> using Handle = std::unique_ptr<T, Free<T, FREE>>;

// A grey texture and its halves, quarters, … down to one texel.
struct MipMap {
    std::vector<std::vector<float>> levels;

    explicit MipMap(int size)
    {
        std::vector<float> finest(size * size);
        for (int y = 0; y < size; y++)
            for (int x = 0; x < size; x++)
                finest[y * size + x] = (x < 2 || y < 2) ? 0.05f : ((2 * x / size + 2 * y / size) % 2 ? 0.9f : 0.3f);
        levels.push_back(finest);
        while (size > 1) {
            const std::vector<float> &fine = levels.back();
            int half = size / 2;
            std::vector<float> coarse(half * half);
            for (int y = 0; y < half; y++)
                for (int x = 0; x < half; x++) {
                    const float *texel = &fine[2 * y * size + 2 * x];
                    coarse[y * half + x] = ((texel[0] + texel[1]) + (texel[size] + texel[size + 1])) * 0.25f;
                }
            levels.push_back(coarse);
            size = half;
        }
    }

    float texel(int level, float u, float v) const
    {
        int size = 1 << (levels.size() - 1 - level);
        int x = std::min(int((u - std::floor(u)) * size), size - 1);
        int y = std::min(int((v - std::floor(v)) * size), size - 1);
        return levels[level][y * size + x];
    }

    // The longer side of the pixel's footprint, in texels, chooses between which levels to mix.
    float sample(float u, float v, float dudx, float dudy, float dvdx, float dvdy) const
    {
        float along_x = dudx * dudx + dvdx * dvdx, along_y = dudy * dudy + dvdy * dvdy;
        float last = float(levels.size() - 1);
        float side = std::sqrt(std::max(along_x, along_y)) * float(1 << (levels.size() - 1));
        float level = std::min(std::log2(std::max(side, 1.0f)), last);
        int fine = int(level), coarse = std::min(fine + 1, int(last));
        float mix = level - float(fine);
        return texel(fine, u, v) * (1.0f - mix) + texel(coarse, u, v) * mix;
    }
};

// Adumbra requests all pixels of a chunk at once.
static void sample_many(void *user, const AdumbraSampleBatch *batch, float *texels, uint8_t *)
{
    const MipMap &map = *static_cast<const MipMap *>(user);
    for (size_t i = 0; i < batch->count; i++) {
        float grey = map.sample(batch->u[i], batch->v[i], batch->dudx[i], batch->dudy[i], batch->dvdx[i], batch->dvdy[i]);
        std::fill(texels + 4 * i, texels + 4 * i + 3, grey);
    }
}

int main(int argc, char **argv)
{
    // Once for each host: the globals of a point.
    AdumbraLayout *layout_made;
    check(adumbra_layout_new(&layout_made));
    Handle<AdumbraLayout, adumbra_layout_free> layout(layout_made);
    check(adumbra_layout_add(layout.get(), "ground", ADUMBRA_TYPE_FLOAT2));
    check(adumbra_layout_add(layout.get(), "distance", ADUMBRA_TYPE_FLOAT));
    AdumbraCompiler *compiler_made;
    check(adumbra_compiler_new(layout.get(), nullptr, &compiler_made));
    Handle<AdumbraCompiler, adumbra_compiler_free> compiler(compiler_made);

    // Once for each shader, with its diagnostics.
    AdumbraProgram *program_made;
    AdumbraDiagnostics *diagnostics_made;
    AdumbraStatus compiled = adumbra_compile_source(compiler.get(), "floor.adu", SHADER, ADUMBRA_TO_NUL, &program_made, &diagnostics_made);
    Handle<AdumbraProgram, adumbra_program_free> program(program_made);
    Handle<AdumbraDiagnostics, adumbra_diagnostics_free> diagnostics(diagnostics_made);
    if (diagnostics) {
        size_t length = 0;
        adumbra_diagnostics_render(diagnostics.get(), ADUMBRA_FORMAT_TEXT, nullptr, 0, &length);
        std::string report(length, '\0');
        check(adumbra_diagnostics_render(diagnostics.get(), ADUMBRA_FORMAT_TEXT, &report[0], length, nullptr));
        std::fputs(report.c_str(), stderr);
    }
    check(compiled);

    // Once for each material, and for each thread.
    AdumbraInstance *instance_made;
    check(adumbra_instance_new(program.get(), &instance_made));
    Handle<AdumbraInstance, adumbra_instance_free> instance(instance_made);
    const float scale = 0.5f;
    check(adumbra_instance_set(instance.get(), "scale", ADUMBRA_TYPE_FLOAT, &scale, 1));
    AdumbraBatchEvaluator *evaluator_made;
    check(adumbra_batch_evaluator_new(instance.get(), nullptr, &evaluator_made));
    Handle<AdumbraBatchEvaluator, adumbra_batch_evaluator_free> evaluator(evaluator_made);

    // The floor lies one below the eye: where each pixel sees it, and how that moves from pixel to
    // pixel.
    const size_t pixels = size_t(WIDTH) * HEIGHT;
    std::vector<float> x(pixels), z(pixels), x_dx(pixels), x_dy(pixels), z_dy(pixels);
    for (size_t i = 0; i < pixels; i++) {
        float right = (float(i % WIDTH) + 0.5f - WIDTH / 2) / HEIGHT, down = (float(i / WIDTH) + 0.5f) / HEIGHT;
        x[i] = right / down;
        z[i] = 1.0f / down;
        x_dx[i] = 1.0f / HEIGHT / down;
        x_dy[i] = -right / HEIGHT / (down * down);
        z_dy[i] = -1.0f / HEIGHT / (down * down);
    }
    AdumbraBatchGlobals *globals_made;
    check(adumbra_batch_globals_new(program.get(), &globals_made));
    Handle<AdumbraBatchGlobals, adumbra_batch_globals_free> globals(globals_made);
    auto plane = [&](const char *name, AdumbraPart part, size_t scalar, const std::vector<float> &values) {
        check(adumbra_batch_globals_plane(globals.get(), name, part, scalar, values.data(), values.size(), 1));
    };
    plane("ground", ADUMBRA_PART_VALUE, 0, x);
    plane("ground", ADUMBRA_PART_VALUE, 1, z);
    plane("ground", ADUMBRA_PART_DDX, 0, x_dx);
    plane("ground", ADUMBRA_PART_DDY, 0, x_dy);
    plane("ground", ADUMBRA_PART_DDY, 1, z_dy);
    plane("distance", ADUMBRA_PART_VALUE, 0, z);

    // Chunk by chunk, straight into the image.
    MipMap map(64);
    AdumbraHost host = {};
    host.size = sizeof host;
    host.user = &map;
    host.sample_many = sample_many;
    AdumbraVariable color = {};
    color.size = sizeof color;
    check(adumbra_program_find(program.get(), ADUMBRA_LIST_OUTPUTS, "c", &color));
    std::vector<float> image(3 * pixels);
    size_t width = 0;
    check(adumbra_batch_evaluator_width(evaluator.get(), &width));
    for (size_t first = 0; first < pixels; first += width) {
        size_t points = std::min(width, pixels - first);
        check(adumbra_batch_evaluator_evaluate(evaluator.get(), globals.get(), first, points, nullptr, &host));
        for (size_t i = 0; i < 3; i++) {
            float *to = &image[3 * first + i];
            check(adumbra_batch_evaluator_copy(evaluator.get(), ADUMBRA_PART_VALUE, color.first + i, to, 3 * points - i, 3));
        }
    }

    const char *path = argc > 1 ? argv[1] : "floor.ppm";
    std::FILE *file = std::fopen(path, "wb");
    if (!file) {
        std::perror(path);
        return 1;
    }
    std::fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    for (float value : image)
        std::fputc(int(std::min(std::max(value, 0.0f), 1.0f) * 255.0f + 0.5f), file);
    return std::fclose(file) == 0 ? 0 : 1;
}
