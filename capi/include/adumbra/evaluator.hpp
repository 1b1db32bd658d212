// Part of adumbra.hpp: evaluation of single points.

#ifndef ADUMBRA_EVALUATOR_HPP
#define ADUMBRA_EVALUATOR_HPP

#include "host.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adumbra {

/// The limits of a point's work, and of the points that may be suspended. Zero is the default
/// limit.
struct Limits {
    /// Functions that may be active at once.
    std::uint32_t call_depth = 0;
    /// Iterations of loops and calls of a point.
    std::uint64_t steps = 0;
    /// Array elements that active functions may hold together.
    std::uint64_t array_elements = 0;
    /// Nodes and argument words of a point's closures.
    std::uint32_t closure_size = 0;
    /// Points of one evaluator that may be parked at once.
    std::uint32_t parked = 0;
    /// Bytes that these may take together.
    std::uint64_t parked_bytes = 0;
    /// Words that a point may keep for backward derivatives.
    std::uint64_t kept_words = 0;

    /// The same for the C API.
    AdumbraLimits c() const noexcept
    {
        return {sizeof(AdumbraLimits), call_depth, steps, array_elements, closure_size, parked, parked_bytes, kept_words};
    }
};

/// A point that waits for a texture apart from any evaluator. Destroying it gives the point up.
class ParkedPoint {
    detail::Handle<AdumbraParkedPoint, adumbra_parked_point_free> handle_;

public:
    /// Takes over a handle of the C API.
    explicit ParkedPoint(AdumbraParkedPoint *handle) noexcept : handle_(handle) {}
    /// The request that the point waits for.
    SampleRequest request() const
    {
        return detail::shown<SampleRequest>([&](auto to) { return adumbra_parked_point_request(get(), to); });
    }
    /// The handle of the C API.
    AdumbraParkedPoint *get() const noexcept { return handle_.get(); }
    /// Gives the handle away.
    AdumbraParkedPoint *release() noexcept { return handle_.release(); }
};

/// Options of an evaluator of single points.
struct EvaluatorOptions {
    /// The engine. All engines give the same bits.
    AdumbraEngine engine = ADUMBRA_ENGINE_POINT;
    /// The limits of points.
    Limits limits{};
};

/// Evaluates an instance at single points, on one thread. Results can be read until the next
/// evaluation.
class Evaluator {
    Program program_;
    detail::Handle<AdumbraEvaluator, adumbra_evaluator_free> handle_;
    detail::LayoutCheck layout_check_;
    mutable std::vector<AdumbraLeaf> leaves_;

    AdumbraOutcome answered(const Texel &texel, const float *slopes, Host *host)
    {
        return detail::HostBridge::outcome(
            host, [&](auto... to) { return adumbra_evaluator_answer(get(), texel.data(), slopes, to...); });
    }
    AdumbraOutcome resumed(ParkedPoint &parked, const Texel &texel, const float *slopes, Host *host)
    {
        return detail::HostBridge::outcome(host, [&](auto... to) {
            AdumbraStatus status = adumbra_evaluator_resume(get(), parked.get(), texel.data(), slopes, to...);
            if (status == ADUMBRA_STATUS_OK)
                static_cast<void>(parked.release());
            return status;
        });
    }

public:
    /// An evaluator of an instance as it is now.
    explicit Evaluator(const Instance &instance, const EvaluatorOptions &options = {}) : program_(instance.program())
    {
        AdumbraLimits limits = options.limits.c();
        AdumbraEvaluatorOptions c = {};
        c.size = sizeof c;
        c.engine = options.engine;
        c.limits = &limits;
        handle_ = detail::made<decltype(handle_)>([&](auto to) { return adumbra_evaluator_new(instance.get(), &c, to); });
    }

    /// Evaluates one point, whose globals are a struct of the host. A struct with a HostStruct is
    /// compared with the program's globals first, and one that does not fit throws a RefusedError
    /// with the differences. A point that is suspended here is given up.
    template <class S> AdumbraOutcome evaluate(const S &globals, Host *host = nullptr)
    {
        layout_check_.check<S>(program_);
        return evaluate_bytes(&globals, sizeof globals, host);
    }
    /// Evaluates one point, whose globals are `bytes` bytes in the order of the layout.
    AdumbraOutcome evaluate_bytes(const void *globals, std::size_t bytes, Host *host = nullptr)
    {
        return detail::HostBridge::outcome(
            host, [&](auto... to) { return adumbra_evaluator_evaluate(get(), globals, bytes, to...); });
    }
    /// Evaluates the four points of a quad: upper left, upper right, lower left, lower right.
    /// `helpers` are four numbers, other than 0 for points that are evaluated for their neighbours
    /// alone, or none. The outcome is that of the first; select selects the one that is read.
    template <class S> AdumbraOutcome evaluate_quad(const S (&globals)[4], Span<const std::uint8_t> helpers = {}, Host *host = nullptr)
    {
        layout_check_.check<S>(program_);
        if (!helpers.empty() && helpers.size() != 4)
            detail::fail(ADUMBRA_STATUS_SIZE, "a quad has four points");
        const void *all[4] = {&globals[0], &globals[1], &globals[2], &globals[3]};
        return detail::HostBridge::outcome(host, [&](auto... to) {
            return adumbra_evaluator_evaluate_quad(get(), all, sizeof(S), helpers.data(), to...);
        });
    }
    /// Selects the point of the quad that is read until the next evaluation, and gives how far it
    /// came.
    AdumbraOutcome select(AdumbraCorner corner)
    {
        return detail::got<AdumbraOutcome>([&](auto to) { return adumbra_evaluator_select(get(), corner, to); });
    }

    /// Reads value, ddx or ddy of an output. Derivatives are there if the compiler has
    /// output_derivatives.
    template <class T> T read(const Variable &output, AdumbraPart part) const
    {
        detail::check_type<T>(output);
        T value;
        read_words(output.first, output.scalars, &value, part);
        return value;
    }
    /// Reads an output: its value as a T, or as a Dual<T> its value and both derivatives.
    template <class T> T read(const Variable &output) const
    {
        if constexpr (detail::IsDual<T>::value) {
            using V = decltype(T::value);
            return {read<V>(output, ADUMBRA_PART_VALUE), read<V>(output, ADUMBRA_PART_DDX), read<V>(output, ADUMBRA_PART_DDY)};
        } else {
            return read<T>(output, ADUMBRA_PART_VALUE);
        }
    }
    /// Reads an output by its name, as a T or as a Dual<T>; Program::output finds it once for many
    /// points.
    template <class T> T get(std::string_view path) const { return read<T>(program_.output(path)); }
    /// Reads value, ddx or ddy of `count` scalars of the outputs from the one numbered `first` on:
    /// numbers of four bytes.
    void read_words(std::size_t first, std::size_t count, void *to, AdumbraPart part = ADUMBRA_PART_VALUE) const
    {
        detail::check(adumbra_evaluator_read(get(), part, first, count, to));
    }

    /// The number of different faults of the last evaluation.
    std::size_t fault_count() const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_evaluator_fault_count(get(), to); });
    }
    /// The faults of the last evaluation.
    Diagnostics faults() const
    {
        AdumbraDiagnostics *found = nullptr;
        detail::check(adumbra_evaluator_faults(get(), &found));
        return Diagnostics(found);
    }

    /// The leaves of an output of type closure as a flat list, each with the product of the weights
    /// above it. The list lives until the next call for leaves, or the next evaluation.
    Span<const AdumbraLeaf> leaves(const Variable &output) const { return leaves(closure_number(output)); }
    /// The leaves of a closure by its number, as a flat list.
    Span<const AdumbraLeaf> leaves(std::uint32_t number) const
    {
        std::size_t count =
            detail::listed(leaves_, [&](auto... to) { return adumbra_evaluator_leaves(get(), number, to...); });
        return {leaves_.data(), count};
    }
    /// The number of an output of type closure; 0 is the empty one.
    std::uint32_t closure_number(const Variable &output) const
    {
        if (output.type != ADUMBRA_TYPE_CLOSURE)
            detail::fail(ADUMBRA_STATUS_WRONG_TYPE, "`" + std::string(output.name) + "` is no closure");
        std::uint32_t number = 0;
        read_words(output.first, 1, &number);
        return number;
    }
    /// A node of a closure tree by its number; one that there is not is empty.
    AdumbraClosure closure(std::uint32_t number) const
    {
        return detail::shown<AdumbraClosure>([&](auto to) { return adumbra_evaluator_closure(get(), number, to); });
    }
    /// The scalars of the arguments of a leaf by its number: numbers of four bytes.
    std::vector<std::uint32_t> closure_arguments(std::uint32_t number) const
    {
        return detail::list<std::uint32_t>(
            [&](auto... to) { return adumbra_evaluator_closure_arguments(get(), number, to...); });
    }
    /// A whole closure tree in the syntax of the language, or as JSON.
    std::string closure_render(std::uint32_t number, AdumbraFormat format = ADUMBRA_FORMAT_TEXT) const
    {
        return detail::string([&](auto... to) { return adumbra_evaluator_closure_render(get(), number, format, to...); });
    }

    /// The request of the point that is suspended here.
    SampleRequest request() const
    {
        return detail::shown<SampleRequest>([&](auto to) { return adumbra_evaluator_request(get(), to); });
    }
    /// Resumes the point that is suspended here. What follows has the bits of an evaluation that
    /// was not suspended.
    AdumbraOutcome answer(const Texel &texel, Host *host = nullptr) { return answered(texel, nullptr, host); }
    /// The same with the texel's slopes.
    AdumbraOutcome answer(const Texel &texel, const TexelSlopes &slopes, Host *host = nullptr)
    {
        return answered(texel, slopes.data(), host);
    }
    /// Moves the suspended point out of the evaluator, which is then free for other points.
    ParkedPoint park()
    {
        AdumbraParkedPoint *parked = nullptr;
        detail::check(adumbra_evaluator_park(get(), &parked));
        return ParkedPoint(parked);
    }
    /// Resumes a parked point, on any evaluator of the same instance, engine and limits. It is used
    /// up, unless an Error says why not; then it stays parked.
    AdumbraOutcome resume(ParkedPoint &parked, const Texel &texel, Host *host = nullptr)
    {
        return resumed(parked, texel, nullptr, host);
    }
    /// The same with the texel's slopes.
    AdumbraOutcome resume(ParkedPoint &parked, const Texel &texel, const TexelSlopes &slopes, Host *host = nullptr)
    {
        return resumed(parked, texel, slopes.data(), host);
    }
    /// Bytes that the evaluator takes beside its program.
    std::size_t memory() const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_evaluator_memory(get(), to); });
    }
    /// Its program.
    const Program &program() const noexcept { return program_; }
    /// The handle of the C API.
    AdumbraEvaluator *get() const noexcept { return handle_.get(); }
};

} // namespace adumbra

#endif // ADUMBRA_EVALUATOR_HPP
