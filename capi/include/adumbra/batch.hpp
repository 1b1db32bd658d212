// Part of adumbra.hpp: evaluation of many points at once.

#ifndef ADUMBRA_BATCH_HPP
#define ADUMBRA_BATCH_HPP

#include "evaluator.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace adumbra {

/// The globals of a batch: every scalar, and its derivatives, is uniform or comes from a plane of
/// the host, which is not copied. All are zero until set.
class BatchGlobals {
    Program program_;
    detail::Handle<AdumbraBatchGlobals, adumbra_batch_globals_free> handle_;
    detail::LayoutCheck layout_check_;

    void check(AdumbraStatus status, std::string_view name) const
    {
        if (status == ADUMBRA_STATUS_UNKNOWN_NAME)
            program_.unknown(ADUMBRA_LIST_GLOBALS, name);
        detail::check(status);
    }
    void plane_words(const char *name, AdumbraPart part, std::size_t scalar, const void *words, std::size_t count,
                     std::size_t stride)
    {
        check(adumbra_batch_globals_plane(get(), name, part, scalar, words, count, stride), name);
    }

public:
    /// The globals of a batch for a program: all zero.
    explicit BatchGlobals(const Program &program)
        : program_(program),
          handle_(detail::made<decltype(handle_)>([&](auto to) { return adumbra_batch_globals_new(program.get(), to); }))
    {
    }
    /// Takes value, ddx or ddy of one scalar of a global from a plane of numbers of four bytes: the
    /// first point's, then every `stride`th one.
    template <class T>
    BatchGlobals &plane(std::string_view name, AdumbraPart part, std::size_t scalar, Span<const T> plane, std::size_t stride = 1)
    {
        static_assert(TypeOf<T>::scalars == 1, "a plane has one number for each point");
        plane_words(detail::Name(name), part, scalar, plane.data(), plane.size(), stride);
        return *this;
    }
    /// Takes value, ddx or ddy of one scalar of a global from a vector or an array of numbers.
    template <class C>
    BatchGlobals &plane(std::string_view name, AdumbraPart part, std::size_t scalar, const C &values, std::size_t stride = 1)
    {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(values))>>;
        return plane<T>(name, part, scalar, Span<const T>(values), stride);
    }
    /// Sets value, ddx or ddy of a global for all points.
    template <class T> BatchGlobals &uniform(std::string_view name, AdumbraPart part, const T &value)
    {
        static_assert(detail::is_plain<T>());
        check(adumbra_batch_globals_uniform(get(), detail::Name(name), part, &value, TypeOf<T>::scalars), name);
        return *this;
    }
    /// Takes all globals from an array of structs that hold them and nothing else, compared as
    /// Evaluator::evaluate does.
    template <class S> BatchGlobals &points(Span<const S> points)
    {
        layout_check_.check<S>(program_);
        if (sizeof(S) != program_.layout().bytes())
            detail::fail(ADUMBRA_STATUS_WRONG_GLOBALS, "the struct has other bytes than the globals");
        detail::check(adumbra_batch_globals_points(get(), points.data(), points.size()));
        return *this;
    }
    /// Takes globals from an array of structs that may have other members besides: those that
    /// HostStruct names, in any order.
    template <class S> BatchGlobals &structs(Span<const S> structs)
    {
        static_assert(std::is_standard_layout_v<S> && sizeof(S) % 4 == 0 && alignof(S) >= 4, "structs consist of words");
        static_assert(names_differ(HostStruct<S>::members), "two members have one name");
        if (structs.empty())
            detail::fail(ADUMBRA_STATUS_SIZE, "there are no structs");
        const std::size_t stride = sizeof(S) / 4;
        const std::size_t words = (structs.size() - 1) * stride + 1;
        for (const AdumbraMember &member : HostStruct<S>::members) {
            Variable global = program_.find(ADUMBRA_LIST_GLOBALS, member.name);
            if (global.type != member.type)
                detail::fail(ADUMBRA_STATUS_WRONG_TYPE, "the global `" + std::string(global.name) + "` is of type `" +
                                                            std::string(global.type_name) + "`, the struct's member is not");
            const char *start = reinterpret_cast<const char *>(structs.data()) + member.offset;
            for (std::size_t part = 0; part < 3; part++)
                for (std::size_t scalar = 0; scalar < global.scalars; scalar++)
                    plane_words(member.name, static_cast<AdumbraPart>(part), scalar,
                                start + 4 * (part * global.scalars + scalar), words, stride);
        }
        return *this;
    }
    /// The handle of the C API.
    AdumbraBatchGlobals *get() const noexcept { return handle_.get(); }
};

/// Whether this processor has a tier.
inline bool is_available(AdumbraTier tier)
{
    return detail::got<std::uint32_t>([&](auto to) { return adumbra_tier_is_available(tier, to); }) != 0;
}

/// Options of a batch evaluator.
struct BatchOptions {
    /// The most points at once, up to 1024; 0 for what suits the program.
    std::uint32_t width = 0;
    /// The limits of each point.
    Limits limits{};
    /// `baseline`, `avx2` or `avx512`; empty for what the environment names in ADUMBRA_SIMD, else
    /// the best.
    std::string simd{};
    /// Names of globals that are uniform in each call.
    std::vector<std::string> uniform{};
    /// The tier that computes arithmetic: the interpreter, machine code, or first the one and then
    /// the other.
    AdumbraTier tier = ADUMBRA_TIER_INTERPRETER;
    /// With ADUMBRA_TIER_AUTO: the thread that compiles.
    AdumbraCompileWhen compile_when = ADUMBRA_COMPILE_WHEN_BACKGROUND;
    /// With ADUMBRA_TIER_AUTO: the number of evaluated points after which the program is compiled;
    /// 0 for the default.
    std::uint64_t compile_after = 0;
};

namespace detail {

/// Options of a batch evaluator for the C API. It keeps what they point at.
class CBatchOptions {
    AdumbraLimits limits_;
    Name simd_;
    Names uniform_;
    AdumbraBatchOptions c_ = {};

public:
    CBatchOptions(const Program &program, const BatchOptions &options)
        : limits_(options.limits.c()), simd_(options.simd), uniform_(options.uniform)
    {
        for (const std::string &name : options.uniform)
            static_cast<void>(program.find(ADUMBRA_LIST_GLOBALS, name));
        c_.size = sizeof c_;
        c_.width = options.width;
        c_.limits = &limits_;
        c_.simd = options.simd.empty() ? nullptr : static_cast<const char *>(simd_);
        c_.uniform = uniform_.data();
        c_.uniform_count = uniform_.size();
        c_.tier = options.tier;
        c_.compile_when = options.compile_when;
        c_.compile_after = options.compile_after;
    }
    CBatchOptions(const CBatchOptions &) = delete;
    const AdumbraBatchOptions *get() const noexcept { return &c_; }
};

} // namespace detail

/// Evaluates an instance at hundreds of points at once, on one thread, each to the bits that it has
/// alone. Results can be read until the next evaluation.
class BatchEvaluator {
    Program program_;
    detail::Handle<AdumbraBatchEvaluator, adumbra_batch_evaluator_free> handle_;
    mutable std::vector<AdumbraLeaf> leaves_;

    void evaluate(const BatchGlobals &globals, std::size_t first, std::size_t points, const std::uint8_t *helpers, Host *host)
    {
        detail::HostBridge(host).call([&](const AdumbraHost *c) {
            return adumbra_batch_evaluator_evaluate(get(), globals.get(), first, points, helpers, c);
        });
    }
    AdumbraOutcome answered(std::size_t point, const Texel &texel, const float *slopes, Host *host)
    {
        return detail::HostBridge::outcome(
            host, [&](auto... to) { return adumbra_batch_evaluator_answer(get(), point, texel.data(), slopes, to...); });
    }

public:
    /// A batch evaluator of an instance as it is now.
    explicit BatchEvaluator(const Instance &instance, const BatchOptions &options = {}) : program_(instance.program())
    {
        detail::CBatchOptions c(program_, options);
        handle_ = detail::made<decltype(handle_)>([&](auto to) { return adumbra_batch_evaluator_new(instance.get(), c.get(), to); });
    }

    /// The most points that one evaluation may have.
    std::size_t width() const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_batch_evaluator_width(get(), to); });
    }
    /// The tier of the last evaluation, or of the first one before it: the interpreter or machine
    /// code.
    AdumbraTier tier() const
    {
        return static_cast<AdumbraTier>(
            detail::got<std::uint32_t>([&](auto to) { return adumbra_batch_evaluator_tier(get(), to); }));
    }
    /// The name of its SIMD level.
    std::string_view simd() const
    {
        return detail::view(detail::got<const char *>([&](auto to) { return adumbra_batch_evaluator_simd(get(), to); }));
    }

    /// Evaluates points `first` to `first + points` of a batch, no more than the width. Points that
    /// are suspended here are given up.
    void evaluate(const BatchGlobals &globals, std::size_t first, std::size_t points, Host *host = nullptr)
    {
        evaluate(globals, first, points, nullptr, host);
    }
    /// Evaluates as many points from `first` on as there are helpers, in quads. Points whose helper
    /// is not 0 are evaluated for their neighbours alone.
    void evaluate_quads(const BatchGlobals &globals, std::size_t first, Span<const std::uint8_t> helpers, Host *host = nullptr)
    {
        evaluate(globals, first, helpers.size(), helpers.data(), host);
    }
    /// How far each point of the last evaluation came.
    std::vector<AdumbraOutcome> outcomes() const
    {
        return detail::list<AdumbraOutcome>([&](auto... to) { return adumbra_batch_evaluator_outcomes(get(), to...); });
    }

    /// Copies value, ddx or ddy of an output for all points of the last evaluation to an array of
    /// the host, one T for each point.
    template <class T> void copy(const Variable &output, Span<T> to, AdumbraPart part = ADUMBRA_PART_VALUE) const
    {
        detail::check_type<T>(output);
        for (std::size_t i = 0; i < output.scalars; i++)
            copy_words(output.first + i, reinterpret_cast<char *>(to.data()) + 4 * i, to.empty() ? 0 : to.size() * output.scalars - i,
                       output.scalars, part);
    }
    /// Copies value, ddx or ddy of one scalar of the outputs for all points of the last evaluation.
    /// They go to every `stride`th number of a plane with `capacity` numbers of four bytes. The
    /// numbers between them stay.
    void copy_words(std::size_t scalar, void *plane, std::size_t capacity, std::size_t stride = 1,
                    AdumbraPart part = ADUMBRA_PART_VALUE) const
    {
        detail::check(adumbra_batch_evaluator_copy(get(), part, scalar, plane, capacity, stride));
    }

    /// The points of the last evaluation that have faults.
    std::vector<std::size_t> faulty() const
    {
        return detail::list<std::size_t>([&](auto... to) { return adumbra_batch_evaluator_faulty(get(), to...); });
    }
    /// The faults of a point of the last evaluation, numbered from its first one.
    Diagnostics faults(std::size_t point) const
    {
        AdumbraDiagnostics *found = nullptr;
        detail::check(adumbra_batch_evaluator_faults(get(), point, &found));
        return Diagnostics(found);
    }

    /// The leaves of a point's closure by its number, as a flat list, each with the product of the
    /// weights above it. The list lives until the next call for leaves, or the next evaluation.
    /// Numbers of an output are copied as std::uint32_t, by copy_words.
    Span<const AdumbraLeaf> leaves(std::size_t point, std::uint32_t number) const
    {
        std::size_t count = detail::listed(
            leaves_, [&](auto... to) { return adumbra_batch_evaluator_leaves(get(), point, number, to...); });
        return {leaves_.data(), count};
    }
    /// A node of a closure tree of a point by its number; one that there is not is empty.
    AdumbraClosure closure(std::size_t point, std::uint32_t number) const
    {
        return detail::shown<AdumbraClosure>(
            [&](auto to) { return adumbra_batch_evaluator_closure(get(), point, number, to); });
    }
    /// The scalars of the arguments of a leaf of a point by its number: numbers of four bytes.
    std::vector<std::uint32_t> closure_arguments(std::size_t point, std::uint32_t number) const
    {
        return detail::list<std::uint32_t>(
            [&](auto... to) { return adumbra_batch_evaluator_closure_arguments(get(), point, number, to...); });
    }
    /// A whole closure tree of a point in the syntax of the language, or as JSON.
    std::string closure_render(std::size_t point, std::uint32_t number, AdumbraFormat format = ADUMBRA_FORMAT_TEXT) const
    {
        return detail::string(
            [&](auto... to) { return adumbra_batch_evaluator_closure_render(get(), point, number, format, to...); });
    }

    /// The suspended points of the last evaluation.
    std::vector<std::size_t> suspended() const
    {
        return detail::list<std::size_t>([&](auto... to) { return adumbra_batch_evaluator_suspended(get(), to...); });
    }
    /// The request of a suspended point, numbered from the first one of the evaluation.
    SampleRequest request(std::size_t point) const
    {
        return detail::shown<SampleRequest>([&](auto to) { return adumbra_batch_evaluator_request(get(), point, to); });
    }
    /// Resumes a suspended point, alone or with its quad.
    AdumbraOutcome answer(std::size_t point, const Texel &texel, Host *host = nullptr)
    {
        return answered(point, texel, nullptr, host);
    }
    /// The same with the texel's slopes.
    AdumbraOutcome answer(std::size_t point, const Texel &texel, const TexelSlopes &slopes, Host *host = nullptr)
    {
        return answered(point, texel, slopes.data(), host);
    }
    /// Moves a suspended point out of the evaluator. It resumes in any Evaluator of the same
    /// instance and limits, with the engine ADUMBRA_ENGINE_POINT.
    ParkedPoint park(std::size_t point)
    {
        AdumbraParkedPoint *parked = nullptr;
        detail::check(adumbra_batch_evaluator_park(get(), point, &parked));
        return ParkedPoint(parked);
    }
    /// Bytes that the evaluator takes beside its program.
    std::size_t memory() const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_batch_evaluator_memory(get(), to); });
    }
    /// Its program.
    const Program &program() const noexcept { return program_; }
    /// The handle of the C API.
    AdumbraBatchEvaluator *get() const noexcept { return handle_.get(); }
};

/// Options of sums.
struct SumsOptions {
    /// The most threads that evaluate points, up to 1024; 0 for one, the caller's. With more than
    /// one, the functions of the host run on several at once.
    std::uint32_t threads = 0;
    /// Options of the evaluator of each thread.
    BatchOptions batch{};
    /// The number, among all points that are summed, of the point with which the planes of the
    /// globals begin: 0, but for a part of the points whose sums are to be joined to others. Sums,
    /// reports and what hosts get have these numbers; `first` counts from the planes' first.
    std::uint64_t numbered_from = 0;
};

/// Sums of outputs over points, in double precision: the same to the bit for every width, tier and
/// number of threads, and for every division of the points into sums that are joined.
class Sums {
    detail::Handle<AdumbraSums, adumbra_sums_free> handle_;

public:
    /// Takes over a handle of the C API.
    explicit Sums(AdumbraSums *handle) : handle_(handle) {}
    /// The sums of these outputs of an instance over points `first` to `first + points` of a batch,
    /// and of the gradients by buffers that its program has.
    Sums(const Instance &instance, const BatchGlobals &globals, std::size_t first, std::size_t points,
         const std::vector<std::string> &outputs, const SumsOptions &options = {}, Host *host = nullptr)
    {
        const Program &program = instance.program();
        for (const std::string &name : outputs)
            static_cast<void>(program.find(ADUMBRA_LIST_OUTPUTS, name));
        detail::Names names(outputs);
        detail::CBatchOptions batch(program, options.batch);
        AdumbraSumsOptions c = {};
        c.size = sizeof c;
        c.threads = options.threads;
        c.batch = batch.get();
        c.numbered_from = options.numbered_from;
        AdumbraSums *sums = nullptr;
        // The handle frees what was made if the host has thrown.
        detail::HostBridge(host).call([&](const AdumbraHost *callbacks) {
            AdumbraStatus status = adumbra_sums_new(instance.get(), &c, globals.get(), first, points, names.data(), names.size(),
                                                    callbacks, &sums);
            handle_.reset(sums);
            return status;
        });
    }
    /// Adds the points of other sums of the same outputs, which have none of these points, and
    /// gradients by the same buffers, as long.
    Sums &join(const Sums &other)
    {
        detail::check(adumbra_sums_join(get(), other.get()));
        return *this;
    }
    /// The sum of each float of an output, in order.
    std::vector<double> total(std::string_view output) const
    {
        detail::Name name(output);
        return detail::list<double>([&](auto... to) { return adumbra_sums_total(get(), name, to...); });
    }
    /// The gradient by a buffer, summed over the points: a number for each number of the buffer.
    std::vector<double> buffer(std::string_view buffer) const
    {
        detail::Name name(buffer);
        return detail::list<double>([&](auto... to) { return adumbra_sums_buffer(get(), name, to...); });
    }
    /// How the points went.
    AdumbraSumsReport report() const
    {
        return detail::shown<AdumbraSumsReport>([&](auto to) { return adumbra_sums_report(get(), to); });
    }
    /// The handle of the C API.
    AdumbraSums *get() const noexcept { return handle_.get(); }
};

} // namespace adumbra

#endif // ADUMBRA_BATCH_HPP
