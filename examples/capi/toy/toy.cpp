// A toy renderer in C++: mip-mapped stripes on a plane, in batches. `toy toy.ppm` writes the image.
#include <adumbra.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

struct Hit { // What the renderer knows of a point: each value with its changes towards the next pixel.
    adumbra::Dual<adumbra::Float2> ground;
};
template <> struct adumbra::HostStruct<Hit> {
    static constexpr AdumbraMember members[] = {member<decltype(Hit::ground)>("ground", offsetof(Hit, ground))};
};
static_assert(adumbra::is_globals<Hit>());
const char SHADER[] = R"(
    texture2d stripes;
    shader plane(float scale = 1.0, out color c) {
        float2 p = scale * global_value<ground>;
        c = color(1.0, 0.8, 0.5) * texture2d_sample<stripes>(p.x + 0.25 * sin(4.0 * p.y), p.y);
    })";
const int WIDTH = 128, HEIGHT = 72, LAST = 5; // The texture is 32 texels wide at level 0, half as many at each further one.
// The level is that whose texels are about as wide as the pixel, by u, v and their four partials.
adumbra::Texel sample(const adumbra::SampleRequest &r)
{
    float along_x = r.dudx * r.dudx + r.dvdx * r.dvdx, along_y = r.dudy * r.dudy + r.dvdy * r.dvdy;
    int level = 0;
    for (float texels = 32.0f * std::sqrt(std::max(along_x, along_y)); texels > 1.0f && level < LAST; texels *= 0.5f)
        level++;
    int texel = int((r.u - std::floor(r.u)) * float(32 >> level));
    float wide = level == LAST ? 0.5f : texel < (16 >> level) ? 0.75f : 0.25f; // light and dark, then their mean,
    float fine = level > 0 ? 0.0f : texel % 2 ? 0.25f : -0.25f; // and lines, which cancel at the next level.
    return {wide + fine, wide + fine, wide + fine, 1.0f};
}
int main(int argc, char **argv)
try {
    adumbra::Program program = adumbra::Compiler(adumbra::Layout::of<Hit>()).compile("plane.adu", SHADER);
    adumbra::BatchEvaluator evaluator(adumbra::Instance(program).set("scale", 0.5f));
    std::vector<Hit> hits;
    for (int pixel = 0; pixel < WIDTH * HEIGHT; pixel++) { // The plane lies one below the eye.
        float x = (float(pixel % WIDTH) + 0.5f - WIDTH / 2) / HEIGHT, y = (float(pixel / WIDTH) + 0.5f) / HEIGHT;
        hits.push_back({{{x / y, 1 / y}, {1.0f / HEIGHT / y, 0}, {-x / HEIGHT / (y * y), -1.0f / HEIGHT / (y * y)}}});
    }
    adumbra::BatchGlobals globals(program);
    globals.points<Hit>(hits);
    auto textures = adumbra::sampled_by(sample);
    std::vector<adumbra::Float3> image(hits.size());
    for (std::size_t first = 0, points; first < hits.size(); first += points) {
        points = std::min(evaluator.width(), hits.size() - first);
        evaluator.evaluate(globals, first, points, &textures);
        evaluator.copy(program.output("c"), adumbra::Span(&image[first], points));
    }
    std::ofstream file(argc > 1 ? argv[1] : "toy.ppm", std::ios::binary);
    file << "P6\n" << WIDTH << " " << HEIGHT << "\n255\n";
    for (const adumbra::Float3 &color : image)
        std::for_each(color.begin(), color.end(), [&](float value) { file.put(char(int(value * 255.0f + 0.5f))); });
    return file.flush() ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
}
