// Part of adumbra.hpp: gradients through discontinuities.

#ifndef ADUMBRA_JUMPS_HPP
#define ADUMBRA_JUMPS_HPP

#include "batch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adumbra {

/// A float of a global along which points have neighbours.
struct Axis {
    /// The name of the global.
    std::string global;
    /// The number of the float among those of the global.
    std::size_t scalar = 0;
    /// The distance of neighbouring points: above 0 and finite.
    double spacing = 1.0;
};

/// Options of the evaluation of a gradient through discontinuities.
struct JumpOptions {
    /// The most threads that evaluate points, up to 1024; 0 for one, the caller's. With more than
    /// one, the functions of the host run on several at once.
    std::uint32_t threads = 0;
    /// Options of the evaluators of each thread.
    BatchOptions batch{};
    /// The number, among all points, of the point with which the planes of the globals begin. Sums,
    /// reports and what hosts get have these numbers; `first` counts from the planes' first.
    std::uint64_t numbered_from = 0;
    /// The rules of a point and a neighbour between which there is no edge.
    AdumbraQuietRules quiet = ADUMBRA_QUIET_RULES_SMOOTH;
    /// The width of the image whose pixels the points are, numbered line by line; 0 if they are
    /// none. The first axis then leads from a pixel to the next, the second from line to line.
    std::uint32_t image_width = 0;
    /// In an image, the first point whose globals may be read, as neighbours need them.
    std::size_t planes_first = 0;
    /// In an image, the number of these points; 0 for those alone that are evaluated.
    std::size_t planes_points = 0;
};

/// Memory of the host for outputs at all points. It is not owned.
class OutputPlanes {
    std::vector<AdumbraOutputPlane> planes_;

public:
    /// Adds an array of the host, one T for each point, for value, ddx or ddy of an output.
    template <class T> OutputPlanes &add(const Variable &output, Span<T> to, AdumbraPart part = ADUMBRA_PART_VALUE)
    {
        detail::check_type<T>(output);
        for (std::size_t i = 0; i < output.scalars; i++)
            add_words(output.first + i, reinterpret_cast<char *>(to.data()) + 4 * i, to.empty() ? 0 : to.size() * output.scalars - i,
                      output.scalars, part);
        return *this;
    }
    /// Adds a plane of `capacity` numbers of four bytes for value, ddx or ddy of one scalar of the
    /// outputs. Points go to every `stride`th number; those between them stay.
    OutputPlanes &add_words(std::size_t scalar, void *plane, std::size_t capacity, std::size_t stride = 1,
                            AdumbraPart part = ADUMBRA_PART_VALUE)
    {
        planes_.push_back({part, scalar, plane, capacity, stride});
        return *this;
    }
    /// The planes for the C API.
    const AdumbraOutputPlane *data() const noexcept { return planes_.data(); }
    /// How many they are.
    std::size_t size() const noexcept { return planes_.size(); }
};

/// A gradient through discontinuities. It never changes, and any number of threads may use it at
/// once.
class JumpGradient {
    detail::Handle<AdumbraJumpGradient, adumbra_jump_gradient_free> handle_;

    /// Calls with options and callbacks for the C API.
    template <class Call> static void call(const Instance &instance, const JumpOptions &options, Host *host, Call call)
    {
        detail::CBatchOptions batch(instance.program(), options.batch);
        AdumbraJumpOptions c = {};
        c.size = sizeof c;
        c.threads = options.threads;
        c.batch = batch.get();
        c.numbered_from = options.numbered_from;
        c.quiet = options.quiet;
        c.image_width = options.image_width;
        c.planes_first = options.planes_first;
        c.planes_points = options.planes_points;
        detail::HostBridge(host).call([&](const AdumbraHost *callbacks) { return call(&c, callbacks); });
    }
    static AdumbraJumpReport sized_report() noexcept
    {
        AdumbraJumpReport report = {};
        report.size = sizeof report;
        return report;
    }

public:
    /// The gradient of a program along one to four axes, or a RefusedError that says why there is
    /// none. The request is backward. Where the gradient ends goes to `warnings`.
    JumpGradient(const Program &program, const std::vector<Axis> &axes, AdumbraJumpRules rules,
                 const GradientRequest &request = {}, Diagnostics *warnings = nullptr)
    {
        std::vector<std::string> globals;
        for (const Axis &axis : axes)
            globals.push_back(axis.global);
        detail::Names names(globals);
        std::vector<AdumbraAxis> c;
        for (std::size_t i = 0; i < axes.size(); i++)
            c.push_back({names.data()[i], axes[i].scalar, axes[i].spacing});
        detail::CGradientRequest asked(request);
        AdumbraJumpGradient *jumps = nullptr;
        detail::explained(warnings, [&](auto found) {
            return adumbra_program_jump_gradient(program.get(), asked.get(), c.data(), c.size(), rules, &jumps, found);
        });
        handle_.reset(jumps);
    }
    /// The program of the gradient of the smooth parts. Its instances, and globals of batches for
    /// it, are those of this gradient.
    Program smooth() const
    {
        AdumbraProgram *program = nullptr;
        detail::check(adumbra_jump_gradient_smooth(get(), &program));
        return Program(program);
    }
    /// Whether the gradient by a value is 0 at every point, with jumps: by its number in
    /// Program::differentiated of the smooth program.
    bool is_zero(std::size_t index) const
    {
        return detail::got<std::uint32_t>([&](auto to) { return adumbra_jump_gradient_is_zero(get(), index, to); }) != 0;
    }
    /// Evaluates points `first` to `first + points` of a batch, and writes outputs of the smooth
    /// program to planes, with what jumps add to those that are gradients.
    AdumbraJumpReport planes(const Instance &instance, const BatchGlobals &globals, std::size_t first, std::size_t points,
                             const OutputPlanes &planes, const JumpOptions &options = {}, Host *host = nullptr) const
    {
        AdumbraJumpReport report = sized_report();
        call(instance, options, host, [&](const AdumbraJumpOptions *c, const AdumbraHost *callbacks) {
            return adumbra_jump_gradient_planes(get(), instance.get(), c, globals.get(), first, points, planes.data(),
                                                planes.size(), callbacks, &report);
        });
        return report;
    }
    /// The sums of these outputs over points `first` to `first + points` of a batch, and of the
    /// gradients by buffers, with what jumps add. `report`, unless it is null, says what they did.
    Sums sums(const Instance &instance, const BatchGlobals &globals, std::size_t first, std::size_t points,
              const std::vector<std::string> &outputs, const JumpOptions &options = {}, Host *host = nullptr,
              AdumbraJumpReport *report = nullptr) const
    {
        for (const std::string &name : outputs)
            static_cast<void>(instance.program().find(ADUMBRA_LIST_OUTPUTS, name));
        detail::Names names(outputs);
        detail::Handle<AdumbraSums, adumbra_sums_free> made;
        AdumbraJumpReport found = sized_report();
        call(instance, options, host, [&](const AdumbraJumpOptions *c, const AdumbraHost *callbacks) {
            AdumbraSums *sums = nullptr;
            AdumbraStatus status = adumbra_jump_gradient_sums(get(), instance.get(), c, globals.get(), first, points,
                                                              names.data(), names.size(), callbacks, &sums, &found);
            made.reset(sums);
            return status;
        });
        if (report)
            *report = found;
        return Sums(made.release());
    }
    /// The points, of `first` to `first + points`, that have neighbours which decide otherwise.
    std::vector<AdumbraJumpPoint> points(const Instance &instance, const BatchGlobals &globals, std::size_t first,
                                         std::size_t points, const JumpOptions &options = {}, Host *host = nullptr) const
    {
        std::vector<AdumbraJumpPoint> found(points);
        std::size_t count = 0;
        call(instance, options, host, [&](const AdumbraJumpOptions *c, const AdumbraHost *callbacks) {
            return adumbra_jump_gradient_points(get(), instance.get(), c, globals.get(), first, points, callbacks, found.data(),
                                                found.size(), &count);
        });
        found.resize(count);
        return found;
    }
    /// The handle of the C API.
    AdumbraJumpGradient *get() const noexcept { return handle_.get(); }
};

} // namespace adumbra

#endif // ADUMBRA_JUMPS_HPP
