// Checks of adumbra.hpp. The test `wrapper` builds it as C++17 with all warnings as errors. It
// aborts where a check fails, and prints the line.

#include "adumbra.hpp"

#include <cstdio>
#include <cstdlib>

#define HOLDS(...) static_cast<void>((__VA_ARGS__) || (std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__), std::abort(), true))

using namespace adumbra;

/// In the other file of the program.
std::size_t hit_bytes();

namespace {

/// The error that a call throws, which it has to.
template <class E = Error, class Call> E thrown(Call call)
{
    try {
        call();
    } catch (const E &error) {
        return error;
    }
    std::fprintf(stderr, "nothing was thrown\n");
    std::abort();
}

/// Whether a call fails so, and says that.
template <class Call> bool fails(AdumbraStatus status, std::string_view says, Call call)
{
    Error error = thrown(call);
    std::string_view what = error.what();
    if (error.status() == status && what.find(says) != std::string_view::npos)
        return true;
    std::fprintf(stderr, "%d: %s\n", int(error.status()), error.what());
    return false;
}

struct Hit {
    float uv[3][2];
    Dual<Float3> normal;
    std::int32_t bounce[3];
};

struct Vec3 {
    float x, y, z;
};

/// A host's own struct, with more than globals in it, in another order.
struct Ray {
    double length;
    Dual<Vec3> normal;
    std::uint32_t material;
    Dual<Float2> uv;
};

struct Misspelt {
    Dual<Float2> uv;
    Dual<Float3> nomral;
    Dual<std::int32_t> bounce;
};

} // namespace

template <> struct adumbra::TypeOf<Vec3> : adumbra::Is<ADUMBRA_TYPE_FLOAT3> {};
template <> struct adumbra::HostStruct<Hit> {
    static constexpr AdumbraMember members[] = {
        member<decltype(Hit::uv)>("uv", offsetof(Hit, uv)),
        member<decltype(Hit::normal)>("normal", offsetof(Hit, normal)),
        member<decltype(Hit::bounce)>("bounce", offsetof(Hit, bounce)),
    };
};
template <> struct adumbra::HostStruct<Ray> {
    static constexpr AdumbraMember members[] = {
        member<decltype(Ray::uv)>("uv", offsetof(Ray, uv)),
        member<decltype(Ray::normal)>("normal", offsetof(Ray, normal)),
    };
};
template <> struct adumbra::HostStruct<Misspelt> {
    static constexpr AdumbraMember members[] = {
        member<decltype(Misspelt::uv)>("uv", offsetof(Misspelt, uv)),
        member<decltype(Misspelt::nomral)>("nomral", offsetof(Misspelt, nomral)),
        member<decltype(Misspelt::bounce)>("bounce", offsetof(Misspelt, bounce)),
    };
};

namespace {

static_assert(is_globals<Hit>() && is_globals<Misspelt>());
static_assert(!fill(HostStruct<Ray>::members, sizeof(Ray)) && names_differ(HostStruct<Ray>::members));
constexpr AdumbraMember TWICE[] = {member<float[3]>("a", 0), member<float[3]>("b", 12), member<float[3]>("a", 24)};
static_assert(!names_differ(TWICE) && fill(TWICE, 36) && !fill(TWICE, 40));
static_assert(HostStruct<Hit>::members[2].type == ADUMBRA_TYPE_INT && HostStruct<Hit>::members[1].offset == 24);

const char PLANK[] = R"(
    texture2d wood;
    shader plank(float scale = 1.0, int n = 3, bool is = false, float3 tint = float3(1, 1, 1), float list[2], out color c, out closure surface) {
        float2 p = scale * global_value<uv>;
        c = tint * texture2d_sample<wood>(p.x, sin(p.y)) + (is ? 1.0 : 0.0) + list[1] * n;
        surface = c * make_closure<diffuse>(global_value<normal>) + 0.1 * make_closure<glossy>(8.0, global_value<bounce>);
    })";

CompilerOptions with_derivatives()
{
    CompilerOptions options;
    options.output_derivatives = true;
    return options;
}

Program plank() { return Compiler(Layout::of<Hit>(), with_derivatives()).compile("plank.adu", PLANK); }

/// Globals that differ from point to point.
Hit hit(int point)
{
    float t = float(point);
    return {{{0.25f + t, 0.5f}, {0.125f, 0}, {0, 0.0625f * t}}, {{0, t, 1}, {1, 0, 0}, {0, 1, 0}}, {point, 0, 0}};
}

/// A texel that encodes its request.
Texel telling(const SampleRequest &r) { return {r.u + r.v, r.dudx + r.dudy, r.dvdx + r.dvdy, 1.0f}; }

/// A host with settable answers.
struct ScriptedHost : Host {
    bool is_late = false;
    bool throws = false;
    std::vector<SampleRequest> requests{};
    std::string messages{};

    bool sample(const SampleRequest &request, Texel &texel) override
    {
        requests.push_back(request);
        if (throws)
            throw std::runtime_error("a texture is lost");
        texel = telling(request);
        return !is_late;
    }
    void message(std::size_t point, std::string_view text) override
    {
        messages += std::to_string(point) + ":" + std::string(text);
        if (throws)
            throw 7;
    }
};

struct Impatient : Host {
    bool is_cancelled() override { return true; }
};

void errors_and_names()
{
    Compiler compiler(Layout::of<Hit>());
    auto refused = thrown<RefusedError>([&] { compiler.compile("half.adu", "shader half(out float o) { o = hlaf(1.0); }"); });
    HOLDS(std::string_view(refused.what()).find("[E0202] Error") == 0);
    HOLDS(refused.status() == ADUMBRA_STATUS_REFUSED && refused.diagnostics().size() == 1);
    Diagnostic first = refused.diagnostics()[0];
    HOLDS(first.is_error && first.code == "E0202" && first.file == "half.adu" && first.line == 1 && first.column == 32);
    HOLDS(first.end == first.start + 4 && !first.message.empty() && refused.diagnostics().json()[0] == '[');
    HOLDS(fails(ADUMBRA_STATUS_INDEX, "", [&] { static_cast<void>(refused.diagnostics()[1]); }));

    Diagnostics warnings;
    HOLDS(warnings.empty() && warnings.text().empty() && warnings.json() == "[]");
    Program warned = compiler.compile("w.adu", "shader w(out float o) { float unused = 1.0; o = ddx(ddx(global_value<uv>.x)); }", &warnings);
    HOLDS(!warnings.empty() && !warnings[0].is_error && warned.count(ADUMBRA_LIST_OUTPUTS) == 1);
    compiler.compile(Sources("s.adu", "shader s(out float o) { o = 1.0; }"), &warnings);
    HOLDS(warnings.empty());

    HOLDS(fails(ADUMBRA_STATUS_DUPLICATE, "`uvw` is declared twice", [] { Layout::hit().add<float>("uvw"); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "type", [] { Layout().add("k", ADUMBRA_TYPE_CLOSURE); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no global `uwv`; did you mean `uvw`?", [] { Layout::hit().shadowless("uwv"); }));
    Layout::hit().shadowless("tangent");
    HOLDS(fails(ADUMBRA_STATUS_INVALID_VALUE, "NUL", [] { Layout::hit().shadowless(std::string_view("uvw\0", 4)); }));

    Program program = plank();
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no output `surfce`; did you mean `surface`?", [&] { program.output("surfce"); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no texture `wod`; did you mean `wood`?", [&] { program.texture("wod"); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no closure `x`", [&] { program.closure("x"); }));
    HOLDS(program.texture("wood") == 0 && program.variable(ADUMBRA_LIST_GLOBALS, 2).name == "bounce");
    HOLDS(program.parameter("tint").type_name == "float3" && program.output("c").is_read);
    Instance material(program);
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no parameter `sclae`; did you mean `scale`?", [&] { material.set("sclae", 1.0f); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "did you mean `tint`?", [&] { material.set("tnt", Float3{}); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`n` is of type `int`", [&] { material.set("n", 0.5); }));
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "`tint` is of type `float3`", [&] { material.set("tint", Float2{}); }));

    // An object that was moved from is refused, and does no harm.
    Layout gone = Layout::hit();
    Layout kept = std::move(gone);
    HOLDS(kept.bytes() == 216 && hit_bytes() == 216);
    HOLDS(fails(ADUMBRA_STATUS_NULL, "NULL", [&] { gone.bytes(); }));
    HOLDS(is_compatible() && !version().empty() && program.stats().bytecode_ops > 0 && program.json()[0] == '{');
}

void structs_that_do_not_fit()
{
    Program program = plank();
    HOLDS(program.layout().bytes() == sizeof(Hit));
    program.layout().check<Hit>();
    Instance material(program);
    Evaluator evaluator(material);
    auto refused = thrown<RefusedError>([&] { evaluator.evaluate(Misspelt{}); });
    HOLDS(refused.status() == ADUMBRA_STATUS_WRONG_GLOBALS && refused.diagnostics()[0].code == "E0544");
    std::string_view what = refused.what();
    HOLDS(what.find("there is no global `nomral`") != what.npos && what.find("did you mean `normal`?") != what.npos);
    BatchGlobals globals(program);
    thrown<RefusedError>([&] { globals.points<Misspelt>({Misspelt{}}); });
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "`normal`", [&] { globals.structs<Misspelt>({Misspelt{}}); }));
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "", [&] { globals.structs(Span<const Ray>()); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_GLOBALS, "`bytes` is 4, and the program's globals have", [&] { evaluator.evaluate(1.0f); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_GLOBALS, "the struct has other bytes than the globals", [&] { globals.points<float>({1.0f}); }));
    // A struct without a HostStruct is taken by its size.
    struct Bare {
        float words[18];
    };
    HOLDS(evaluator.evaluate(Bare{}) == ADUMBRA_OUTCOME_FINISHED);
    // Types differ.
    Program other = Compiler(Layout().add<Float2>("uv").add<Float2>("normal")).compile("o.adu", "shader o(out float o) { o = 1.0; }");
    BatchGlobals of_other(other);
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`normal` is of type `float2`", [&] { of_other.structs<Ray>({Ray{}}); }));
}

void single_points()
{
    Program program = plank();
    Instance material(program);
    const float list[2] = {0.5f, 2.0f};
    material.set("scale", 2).set("n", 1).set("is", true).set("tint", Vec3{1, 2, 3}).set_all<float>("list", list);
    Evaluator evaluator(material);
    ScriptedHost host;
    HOLDS(evaluator.evaluate(hit(1), &host) == ADUMBRA_OUTCOME_FINISHED);
    HOLDS(host.requests.size() == 1 && host.requests[0].u == 2.5f && host.requests[0].dudx == 0.25f && host.requests[0].texture == 0);
    Texel texel = telling(host.requests[0]);
    Dual<Float3> c = evaluator.get<Dual<Float3>>("c");
    HOLDS(c.value == Float3{texel[0] + 3.0f, 2 * texel[1] + 3.0f, 3 * texel[2] + 3.0f} && c.ddx == Float3{});
    HOLDS(evaluator.read<Vec3>(program.output("c")).y == c.value[1]);
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`c` is of type `float3`", [&] { evaluator.get<float>("c"); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "no closure", [&] { evaluator.leaves(program.output("c")); }));
    HOLDS(evaluator.fault_count() == 0 && evaluator.faults().empty() && evaluator.memory() > 0);

    // Closures as a flat list, and node by node.
    auto normal = program.argument<Float3>("diffuse", 0);
    auto exponent = program.argument<float>("glossy", 0);
    auto bounce = program.argument<std::int32_t>("glossy", 1);
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "", [&] { program.argument<float>("glossy", 1); }));
    int seen = 0;
    for (const AdumbraLeaf &leaf : evaluator.leaves(program.output("surface"))) {
        Float3 weight = {leaf.weight[0], leaf.weight[1], leaf.weight[2]};
        if (normal.is_of(leaf)) {
            HOLDS(weight == c.value && normal(leaf) == Float3{0, 1, 1});
            HOLDS(fails(ADUMBRA_STATUS_INDEX, "another closure", [&] { exponent(leaf); }));
        } else {
            HOLDS(weight == Float3{0.1f, 0.1f, 0.1f} && exponent(leaf) == 8.0f && bounce(leaf) == 1);
            HOLDS(evaluator.closure_arguments(leaf.number).size() == 2);
        }
        seen++;
    }
    std::uint32_t root = evaluator.closure_number(program.output("surface"));
    HOLDS(seen == 2 && evaluator.closure(root).kind == ADUMBRA_CLOSURE_KIND_ADD);
    HOLDS(evaluator.closure_render(root).find("0.1 * glossy(8.0, 1)") != std::string::npos);
    HOLDS(evaluator.closure_render(root, ADUMBRA_FORMAT_JSON)[0] == '{');

    // A lambda is a host; so is none.
    auto grey = sampled_by([](const SampleRequest &) { return Texel{0.5f, 0.5f, 0.5f, 1.0f}; });
    evaluator.evaluate(hit(1), &grey);
    HOLDS(evaluator.get<Float3>("c") == Float3{3.5f, 4.0f, 4.5f});
    evaluator.evaluate(hit(1));
    HOLDS(evaluator.get<Float3>("c") == Float3{4.0f, 5.0f, 6.0f});

    // An exception of the host comes out, and leaves the evaluator as good as before.
    host.throws = true;
    auto lost = thrown<std::runtime_error>([&] { evaluator.evaluate(hit(1), &host); });
    HOLDS(std::string_view(lost.what()) == "a texture is lost");
    host.throws = false;
    evaluator.evaluate(hit(1), &host);
    HOLDS(evaluator.get<Float3>("c") == c.value);

    // A shader that would run for long, and says something first.
    const char chatty[] = "shader chatty(out int n) { printf(\"x=%d\", 3); for (int i = 0; i < 100000000; i++) { n = n * 3 + i; } }";
    Program talks = Compiler(Layout()).compile("chatty.adu", chatty);
    EvaluatorOptions options;
    options.limits.steps = 5000;
    Evaluator limited(Instance(talks), options);
    HOLDS(limited.evaluate_bytes(nullptr, 0, &host) == ADUMBRA_OUTCOME_STOPPED && host.messages == "0:x=3");
    HOLDS(limited.fault_count() == 1 && limited.faults()[0].code == "E0811" && limited.faults().text().find("E0811") != std::string::npos);
    Impatient impatient;
    HOLDS(limited.evaluate_bytes(nullptr, 0, &impatient) == ADUMBRA_OUTCOME_STOPPED && limited.faults()[0].code == "E0816");
    host.throws = true;
    thrown<int>([&] { Evaluator(Instance(talks)).evaluate_bytes(nullptr, 0, &host); });
    HOLDS(talks.variable(ADUMBRA_LIST_OUTPUTS, 0).type == ADUMBRA_TYPE_INT);
}

void points_that_wait()
{
    Program program = plank();
    Instance material(program);
    Evaluator evaluator(material), other(material);
    Evaluator stranger{Instance(program)};
    evaluator.evaluate(hit(2));
    Float3 white = evaluator.get<Float3>("c");
    ScriptedHost late;
    late.is_late = true;
    HOLDS(evaluator.evaluate(hit(2), &late) == ADUMBRA_OUTCOME_PENDING && evaluator.request().u == 2.25f);
    HOLDS(evaluator.answer({1, 1, 1, 1}) == ADUMBRA_OUTCOME_FINISHED && evaluator.get<Float3>("c") == white);
    HOLDS(fails(ADUMBRA_STATUS_NOT_SUSPENDED, "waits", [&] { evaluator.park(); }));

    evaluator.evaluate(hit(2), &late);
    ParkedPoint parked = evaluator.park();
    HOLDS(parked.request().u == 2.25f);
    HOLDS(fails(ADUMBRA_STATUS_WRONG_EVALUATOR, "parked", [&] {
        Instance changed(program);
        Evaluator(changed.set("n", 5)).resume(parked, {});
    }));
    HOLDS(parked.request().u == 2.25f);
    evaluator.evaluate(hit(7));
    HOLDS(evaluator.resume(parked, {1, 1, 1, 1}) == ADUMBRA_OUTCOME_FINISHED && !parked.get());
    HOLDS(evaluator.get<Float3>("c") == white);
    HOLDS(fails(ADUMBRA_STATUS_NULL, "", [&] { evaluator.resume(parked, {}); }));
    evaluator.evaluate(hit(2), &late);
    ParkedPoint given_up = evaluator.park();
}

void batches()
{
    enum { POINTS = 100 };
    Program program = plank();
    Instance material(program);
    material.set("scale", 0.5f);
    Evaluator one(material);
    std::vector<Hit> hits;
    std::vector<Ray> rays;
    for (int i = 0; i < POINTS; i++) {
        hits.push_back(hit(i));
        Ray ray = {1.0, {}, 9, {}};
        std::memcpy(static_cast<void *>(&ray.uv), &hits.back().uv, sizeof ray.uv);
        std::memcpy(static_cast<void *>(&ray.normal), &hits.back().normal, sizeof ray.normal);
        rays.push_back(ray);
    }
    BatchEvaluator batch(material);
    HOLDS(batch.width() >= POINTS && !batch.simd().empty() && batch.tier() == ADUMBRA_TIER_INTERPRETER && batch.memory() > 0);
    BatchGlobals globals(program), from_rays(program);
    globals.points<Hit>(hits);
    from_rays.structs<Ray>(rays);
    Variable c = program.output("c");
    for (BatchGlobals *given : {&globals, &from_rays}) {
        ScriptedHost host;
        batch.evaluate(*given, 0, POINTS, &host);
        HOLDS(host.requests.size() == POINTS && host.requests[3].point == 3);
        std::vector<Float3> colors(POINTS);
        batch.copy(c, Span(colors));
        std::array<std::uint32_t, POINTS> roots;
        batch.copy_words(program.output("surface").first, roots.data(), POINTS);
        HOLDS(batch.outcomes() == std::vector<AdumbraOutcome>(POINTS, ADUMBRA_OUTCOME_FINISHED) && batch.faulty().empty());
        for (int i = 0; i < POINTS; i++) {
            std::size_t point = std::size_t(i);
            one.evaluate(hits[point], &host);
            HOLDS(one.get<Float3>("c") == colors[point]);
            Span<const AdumbraLeaf> leaves = batch.leaves(point, roots[point]);
            HOLDS(leaves.size() == 2 && batch.closure_arguments(point, leaves[0].number).size() == leaves[0].count);
        }
        HOLDS(batch.closure(3, roots[3]).kind == ADUMBRA_CLOSURE_KIND_ADD && batch.closure_render(3, roots[3])[0] == '(');
    }
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "", [&] {
        std::vector<Float3> small(POINTS - 1);
        batch.copy(c, Span(small));
    }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`c`", [&] { batch.copy(c, Span<float>()); }));

    // Planes, and the same for all.
    std::vector<float> u(POINTS, 0.75f);
    BatchGlobals planes(program);
    planes.plane("uv", ADUMBRA_PART_VALUE, 0, u).uniform("uv", ADUMBRA_PART_DDX, Float2{0.5f, 0});
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no global `normel`; did you mean `normal`?", [&] { planes.plane("normel", ADUMBRA_PART_VALUE, 0, u); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "did you mean `uv`?", [&] { planes.uniform("uw", ADUMBRA_PART_VALUE, Float2{}); }));
    HOLDS(fails(ADUMBRA_STATUS_INDEX, "", [&] { planes.plane("uv", ADUMBRA_PART_VALUE, 2, u); }));
    BatchOptions options;
    options.uniform = {"nomral"};
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "did you mean `normal`?", [&] { BatchEvaluator(material, options); }));
    options.uniform = {"normal"};
    options.width = 64;
    options.tier = is_available(ADUMBRA_TIER_NATIVE) ? ADUMBRA_TIER_NATIVE : ADUMBRA_TIER_AUTO;
    BatchEvaluator narrow(material, options);
    HOLDS(narrow.width() == 64);
    ScriptedHost host;
    narrow.evaluate(planes, 10, 50, &host);
    HOLDS(host.requests.size() == 50 && host.requests[0].point == 10 && host.requests[0].u == 0.375f && host.requests[0].dudx == 0.25f);

    // An exception of the host comes out of a batch, too.
    host.throws = true;
    std::size_t before = host.requests.size();
    thrown<std::runtime_error>([&] { narrow.evaluate(planes, 0, 50, &host); });
    HOLDS(host.requests.size() == before + 1);

    // Points that wait, all at once.
    ScriptedHost late;
    late.is_late = true;
    batch.evaluate(globals, 5, 3, &late);
    HOLDS(batch.suspended() == std::vector<std::size_t>{0, 1, 2} && batch.request(1).point == 6);
    HOLDS(batch.answer(1, telling(batch.request(1))) == ADUMBRA_OUTCOME_FINISHED);
    ParkedPoint parked = batch.park(2);
    one.resume(parked, telling(parked.request()));
    late.is_late = false;
    Float3 resumed = one.get<Float3>("c");
    one.evaluate(hits[7], &late);
    HOLDS(one.get<Float3>("c") == resumed);

    // Faults of single points.
    Program steps = Compiler(Layout::of<Hit>()).compile("f.adu", "shader f(out float o) { float w[2]; o = w[global_value<bounce>]; }");
    BatchEvaluator faulty{Instance(steps)};
    BatchGlobals of_steps(steps);
    faulty.evaluate(of_steps.points<Hit>(hits), 0, 4);
    HOLDS(faulty.faulty() == std::vector<std::size_t>{2, 3} && faulty.faults(3)[0].code == "W0801" && faulty.faults(0).empty());
}

void bytecode_and_quads()
{
    Program program = plank();
    std::vector<std::uint8_t> bytes = program.save();
    Program loaded = Program::load(bytes);
    HOLDS(loaded.save() == bytes && loaded.layout().bytes() == sizeof(Hit));
    bytes.resize(bytes.size() / 2);
    HOLDS(thrown<RefusedError>([&] { Program::load(bytes); }).diagnostics()[0].file == "<bytecode>");
    Program (*from_object)(const AdumbraObjectShader &) = Program::from_object;
    HOLDS(from_object != nullptr);

    CompilerOptions options = with_derivatives();
    options.derivatives = ADUMBRA_DERIVATIVES_QUAD_FINE;
    Program quads = Compiler(Layout::of<Hit>(), options).compile("q.adu", "shader q(out float o) { o = global_value<uv>.x * global_value<uv>.x; }");
    const Hit corners[4] = {hit(1), hit(2), hit(3), hit(5)};
    Evaluator evaluator{Instance(quads)};
    HOLDS(evaluator.evaluate_quad(corners, {0, 0, 1, 1}) == ADUMBRA_OUTCOME_FINISHED);
    HOLDS(evaluator.get<Dual<float>>("o").ddx == 2.25f * 2.25f - 1.25f * 1.25f);
    HOLDS(evaluator.select(ADUMBRA_CORNER_LOWER_LEFT) == ADUMBRA_OUTCOME_FINISHED && evaluator.get<float>("o") == 3.25f * 3.25f);
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "four", [&] { evaluator.evaluate_quad(corners, {0, 1}); }));
    BatchEvaluator batch{Instance(quads)};
    BatchGlobals globals(quads);
    globals.points<Hit>(corners);
    batch.evaluate_quads(globals, 0, {0, 0, 1, 1});
    std::array<float, 4> o;
    batch.copy(quads.output("o"), Span(o), ADUMBRA_PART_DDX);
    HOLDS(o[0] == 2.25f * 2.25f - 1.25f * 1.25f && o[1] == o[0]);
}

struct Library : Loader {
    std::string resolve(std::string_view name, std::string_view from) override { return from == "main.adu" ? "lib/" + std::string(name) : std::string(name); }
    std::string load(std::string_view name) override
    {
        if (name != "lib/twice.adu")
            throw std::runtime_error("the shelf is empty");
        return "float twice(float x) { return 2 * x; }";
    }
};

void sources_and_closures()
{
    Library library;
    Sources sources("main.adu", "#include \"twice.adu\"\nshader m(out float o) { o = twice(thrice(1.0)); }");
    sources.include(library).add("thrice.adu", "float thrice(float x) { return 3 * x; }");
    Program program = Compiler(Layout()).compile(sources);
    Evaluator evaluator{Instance(program)};
    evaluator.evaluate_bytes(nullptr, 0);
    HOLDS(evaluator.get<float>("o") == 6.0f);
    HOLDS(fails(ADUMBRA_STATUS_NO_DERIVATIVES, "derivatives of `o`", [&] { evaluator.get<Dual<float>>("o"); }));
    Sources lost("main.adu", "#include \"gone.adu\"\nshader m(out float o) { o = 1.0; }");
    HOLDS(std::string_view(thrown<RefusedError>([&] { lost.include(library); }).what()).find("the shelf is empty") != std::string_view::npos);

    Closures closures;
    closures.add("glossy", {{"exponent", ADUMBRA_TYPE_FLOAT}, {"bounce", ADUMBRA_TYPE_INT}}).add("dark", {});
    HOLDS(fails(ADUMBRA_STATUS_DUPLICATE, "`name` does not fit: ", [&] { closures.add("dark", {}); }));
    CompilerOptions options;
    options.closures = &closures;
    options.shader = "s";
    Compiler compiler(Layout(), options);
    auto refused = thrown<RefusedError>([&] { compiler.compile("c.adu", "shader s(out closure c) { c = make_closure<glosy>(1.0, 2); }"); });
    HOLDS(refused.diagnostics()[0].help == "did you mean `glossy`?");
    compiler.compile("c.adu", "shader r(out float o) { o = 1.0; } shader s(out closure c) { c = make_closure<glossy>(1.0, 2); }");
}

void gradients_and_sums()
{
    Program line = Compiler(Layout().add("x", ADUMBRA_TYPE_FLOAT)).compile("line.adu", R"(
        struct Line { float slope; float offset; };
        shader line(Line by, int unused, out float y) { y = by.slope * global_value<x> + by.offset; })");
    Program gradient = line.gradient();
    HOLDS(line.differentiated().empty() && gradient.differentiated().size() == 2);
    Differentiated of = gradient.differentiated()[0], by = gradient.differentiated()[1];
    HOLDS(of.name == "y" && of.derivative_list == ADUMBRA_LIST_GLOBALS && of.derivative[0].name == "d(y)");
    HOLDS(by.name == "by" && by.list == ADUMBRA_LIST_PARAMETERS && !by.is_zero && by.derivative[0].scalars == 2);
    GradientRequest request;
    request.mode = ADUMBRA_GRADIENT_MODE_FORWARD;
    request.inputs = {"by"};
    request.globals = {"x"};
    Diagnostics ends;
    Program forward = line.gradient(request, &ends);
    std::vector<Differentiated> given = forward.differentiated();
    HOLDS(ends.empty() && given.size() == 3 && given[1].derivative[1].name == "d(by.offset)" && given[2].name == "x");
    request.of = {"z"};
    HOLDS(thrown<RefusedError>([&] { line.gradient(request); }).diagnostics()[0].code == "E0570");

    std::vector<float> x(20000);
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = static_cast<float>(i);
    BatchGlobals globals(gradient);
    globals.plane("x", ADUMBRA_PART_VALUE, 0, x).uniform("d(y)", ADUMBRA_PART_VALUE, 0.5f);
    Instance material(gradient);
    SumsOptions options;
    options.threads = 3;
    options.batch.width = 100;
    const std::vector<std::string> outputs = {"d(by)", "y"};
    Sums sums(material, globals, 0, 12345, outputs, options);
    sums.join(Sums(material, globals, 12345, x.size() - 12345, outputs));
    HOLDS(sums.total("d(by)") == std::vector<double>{0.5 * 199990000.0, 10000.0} && sums.total("y")[0] == 0.0);
    HOLDS(sums.report().faulty == 0 && sums.report().not_finite == 0);
    HOLDS(fails(ADUMBRA_STATUS_DUPLICATE, "point 0 is in both", [&] { sums.join(Sums(material, globals, 0, 1, outputs)); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "did you mean `d(by)`?", [&] { Sums(material, globals, 0, 1, {"d(bz)"}); }));

    // An exception of the host comes out of sums, too, once, on whatever threads.
    struct Throws : Host {
        bool sample(const SampleRequest &, Texel &) override { throw std::runtime_error("no texture"); }
    } host;
    Program textured = Compiler(Layout()).compile("t.adu", "texture2d t; shader s(out float o) { o = texture2d_sample<t>(0.5, 0.5).x; }");
    HOLDS(std::string_view(thrown<std::runtime_error>([&] {
                               Sums(Instance(textured), BatchGlobals(textured), 0, 100000, {"o"}, options, &host);
                           }).what()) == "no texture");
}

void buffers()
{
    Program line = Compiler(Layout().add("x", ADUMBRA_TYPE_FLOAT)).compile("line.adu", R"(
        buffer<float> w; buffer<float2> table; buffer<int> order;
        shader line(out float y) { y = w[order[0]] * global_value<x> + w[0] + table[1].y; })");
    HOLDS(line.count(ADUMBRA_LIST_BUFFERS) == 3 && line.find(ADUMBRA_LIST_BUFFERS, "table").type_name == "float2");
    GradientRequest request;
    request.buffers = {"w"};
    Program by_w = line.gradient(request);
    std::vector<Differentiated> named = by_w.differentiated();
    HOLDS(named.size() == 2 && named[1].name == "w" && named[1].list == ADUMBRA_LIST_BUFFERS);
    HOLDS(named[1].derivative_list == ADUMBRA_LIST_BUFFERS && named[1].derivative.empty() && !named[1].is_zero);
    request.mode = ADUMBRA_GRADIENT_MODE_FORWARD;
    HOLDS(line.gradient(request).differentiated()[1].derivative[0].name == "d(w)");
    request.buffers = {"v"};
    HOLDS(thrown<RefusedError>([&] { line.gradient(request); }).diagnostics()[0].message == "there is no buffer `v`");

    GradientRequest all;
    all.all_buffers = true;
    Program gradient = line.gradient(all);
    HOLDS(gradient.differentiated().size() == 3);
    Instance material(gradient);
    const std::vector<float> w = {0.5f, 2.0f};
    const std::int32_t order[] = {1};
    material.set_buffer("w", w).set_buffer("order", order).set_buffer("table", std::array<Float2, 3>{});
    material.set_buffer<float>("table", {1.0f, 2.0f, 3.0f, 4.0f}).set_buffer("w", Span<const float>(w));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no buffer `tabel`; did you mean `table`?", [&] { material.set_buffer("tabel", w); }));
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`scalar` is 1, and a `buffer<float>`", [&] { material.set_buffer("w", order); }));
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "`count` is 1,", [&] { material.set_buffer<float>("table", {1.0f}); }));

    const std::vector<float> x = {1, 2, 3, 4};
    BatchGlobals globals(gradient);
    globals.plane("x", ADUMBRA_PART_VALUE, 0, x).uniform("d(y)", ADUMBRA_PART_VALUE, 0.5f);
    Sums sums(material, globals, 0, 3, {});
    sums.join(Sums(material, globals, 3, 1, {}));
    HOLDS(sums.buffer("w") == std::vector<double>{2.0, 5.0} && sums.buffer("table") == std::vector<double>{0, 0, 0, 2});
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "no gradient by a buffer of that name", [&] { sums.buffer("order"); }));
    material.set_buffer<float>("w", {1.0f});
    HOLDS(fails(ADUMBRA_STATUS_SIZE, "longer or shorter", [&] { sums.join(Sums(material, globals, 0, 1, {})); }));
}

void jumps()
{
    Compiler compiler(Layout().add("x", ADUMBRA_TYPE_FLOAT).add("y", ADUMBRA_TYPE_FLOAT));
    Program step = compiler.compile("step.adu", R"(
        buffer<float> w;
        shader left(float edge = 0.4, float unused, out float2 c) {
            c = w[0] * step(global_value<x>, edge) * float2(1, 2); })");
    GradientRequest by;
    by.all_inputs = by.all_buffers = true;
    Diagnostics ends;
    JumpGradient edges(step, {{"x"}, {"y", 0, 0.5}}, ADUMBRA_JUMP_RULES_EDGE, by, &ends);
    Program gradient = edges.smooth();
    std::vector<Differentiated> values = gradient.differentiated();
    HOLDS(ends.empty() && values.size() == 4 && values[1].name == "edge" && values[1].is_zero);
    HOLDS(!edges.is_zero(0) && !edges.is_zero(1) && edges.is_zero(2) && !edges.is_zero(3));
    HOLDS(fails(ADUMBRA_STATUS_INDEX, "the number of differentiated values is 4", [&] { edges.is_zero(4); }));

    const std::vector<float> x = {-1, 0, 1, 2};
    BatchGlobals globals(gradient);
    globals.plane("x", ADUMBRA_PART_VALUE, 0, x).uniform("d(c)", ADUMBRA_PART_VALUE, Float2{1, 0.25f});
    Instance material(gradient);
    material.set_buffer<float>("w", {3.0f});
    std::array<float, 4> by_edge{};
    std::vector<Float2> c(4);
    OutputPlanes planes;
    planes.add(gradient.output("d(edge)"), Span<float>(by_edge)).add(gradient.output("c"), Span(c));
    JumpOptions options;
    options.threads = 2;
    options.batch.width = 3;
    options.image_width = 4;
    AdumbraJumpReport report = edges.planes(material, globals, 0, 4, planes, options);
    HOLDS((by_edge == std::array<float, 4>{0, 2.25f, 2.25f, 0}) && c[1][1] == 6.0f && c[2][1] == 0.0f);
    HOLDS(report.points == 2 && report.roots == 2 && report.nullified == 0 && report.stopped == 0);
    Sums sums = edges.sums(material, globals, 0, 2, {"d(edge)"}, options);
    sums.join(edges.sums(material, globals, 2, 2, {"d(edge)"}, options, nullptr, &report));
    HOLDS(sums.total("d(edge)")[0] == 4.5 && sums.buffer("w")[0] == 3.0 && report.points == 1);
    std::vector<AdumbraJumpPoint> found = edges.points(material, globals, 1, 3);
    HOLDS(found.size() == 2 && found[0].point == 0 && found[0].flips == 1 && found[1].point == 1 && found[1].has_axis && found[1].axis == 0 && found[1].counted == 1);

    HOLDS(thrown<RefusedError>([&] { JumpGradient(step, {{"z"}}, ADUMBRA_JUMP_RULES_PAIR); }).diagnostics()[0].code == "E0570");
    HOLDS(fails(ADUMBRA_STATUS_WRONG_TYPE, "`instance` is of another program",
                [&] { edges.planes(Instance(step), globals, 0, 4, planes); }));
    HOLDS(fails(ADUMBRA_STATUS_UNKNOWN_NAME, "did you mean `d(edge)`?", [&] { edges.sums(material, globals, 0, 4, {"d(egde)"}); }));
}

} // namespace

int main()
{
    errors_and_names();
    structs_that_do_not_fit();
    single_points();
    points_that_wait();
    batches();
    bytecode_and_quads();
    sources_and_closures();
    gradients_and_sums();
    buffers();
    jumps();
}
