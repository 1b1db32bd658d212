// Part of adumbra.hpp: the host's callbacks, as a class.

#ifndef ADUMBRA_HOST_HPP
#define ADUMBRA_HOST_HPP

#include "program.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace adumbra {

/// A texture request: u and v, and in dudx, dudy, dvdx and dvdy how both change towards the next
/// pixel.
using SampleRequest = AdumbraSampleRequest;

/// The slopes of a texel: how red, green, blue and alpha change along u and along v, per texture,
/// with the level held.
struct TexelSlopes {
    /// Along u.
    Texel u{};
    /// Along v.
    Texel v{};
    /// The eight numbers.
    const float *data() const noexcept { return reinterpret_cast<const float *>(this); }
};

/// The requests that many points make at one call of the shader, and memory for the answers. It
/// lives for the call.
class SampleBatch {
    const AdumbraSampleBatch *c_;
    Texel *texels_;
    std::uint8_t *answers_;

public:
    /// The C arguments of the callback.
    SampleBatch(const AdumbraSampleBatch &c, float *texels, std::uint8_t *answers) noexcept
        : c_(&c), texels_(reinterpret_cast<Texel *>(texels)), answers_(answers)
    {
    }
    /// Which texture, by its number among the program's.
    std::uint32_t texture() const noexcept { return c_->texture; }
    /// The number of points.
    std::size_t size() const noexcept { return c_->count; }
    /// The numbers of these points in the batch, rising.
    Span<const std::size_t> points() const noexcept { return {c_->points, size()}; }
    /// Coordinates along the texture's width.
    Span<const float> u() const noexcept { return {c_->u, size()}; }
    /// Coordinates along its height.
    Span<const float> v() const noexcept { return {c_->v, size()}; }
    /// du/dx, per pixel.
    Span<const float> dudx() const noexcept { return {c_->dudx, size()}; }
    /// du/dy, per pixel.
    Span<const float> dudy() const noexcept { return {c_->dudy, size()}; }
    /// dv/dx, per pixel.
    Span<const float> dvdx() const noexcept { return {c_->dvdx, size()}; }
    /// dv/dy, per pixel.
    Span<const float> dvdy() const noexcept { return {c_->dvdy, size()}; }
    /// The levels of detail that the shader asks for itself; empty if it does not.
    Span<const float> level() const noexcept { return {c_->level, c_->level ? size() : 0}; }
    /// Memory for the texels, which are white before.
    Span<Texel> texels() const noexcept { return {texels_, size()}; }
    /// Memory for the slopes of the texels, which are zero before; empty unless the points need
    /// them. Say by give_slopes which were set.
    Span<TexelSlopes> slopes() const noexcept
    {
        static_assert(sizeof(TexelSlopes) == 8 * sizeof(float));
        return {reinterpret_cast<TexelSlopes *>(c_->slopes), c_->slopes ? size() : 0};
    }
    /// Says that the slopes of a texel are set.
    void give_slopes(std::size_t at) const noexcept { answers_[at] = ADUMBRA_ANSWER_SLOPED; }
    /// Suspends a point until its texel is there.
    void wait(std::size_t at) const noexcept { answers_[at] = ADUMBRA_ANSWER_PENDING; }
    /// The request of one of the points.
    SampleRequest operator[](std::size_t at) const noexcept
    {
        SampleRequest request = {};
        request.size = sizeof request;
        request.texture = c_->texture;
        request.point = c_->points[at];
        request.u = c_->u[at];
        request.v = c_->v[at];
        request.dudx = c_->dudx[at];
        request.dudy = c_->dudy[at];
        request.dvdx = c_->dvdx[at];
        request.dvdy = c_->dvdy[at];
        request.level = c_->level ? c_->level[at] : 0.0f;
        request.has_level = c_->level != nullptr;
        request.wants_slopes = c_->slopes != nullptr;
        return request;
    }
};

/// The callbacks of an evaluation: textures, messages, cancellation. Derive from it.
///
/// An exception of a callback comes out of the call that evaluates, once the evaluation has ended;
/// until then no other callback is called.
class Host {
public:
    virtual ~Host() = default;
    /// Answers one request: sets the texel, which is white before, and gives true; or false, and
    /// the point waits.
    virtual bool sample(const SampleRequest &request, Texel &texel)
    {
        static_cast<void>(request);
        static_cast<void>(texel);
        return true;
    }
    /// Answers one request of a program that was compiled with texture_slopes, where the point
    /// needs slopes: sets those of the texel, too, and gives ADUMBRA_ANSWER_SLOPED. Unless you
    /// override it, by sample; then they count as 0, with a fault.
    virtual AdumbraAnswer sample_sloped(const SampleRequest &request, Texel &texel, TexelSlopes &slopes)
    {
        static_cast<void>(slopes);
        return sample(request, texel) ? ADUMBRA_ANSWER_READY : ADUMBRA_ANSWER_PENDING;
    }
    /// Answers the requests of many points of a batch at once; unless you override it, by sample
    /// and sample_sloped.
    virtual void sample_many(const SampleBatch &batch)
    {
        for (std::size_t i = 0; i < batch.size(); i++) {
            if (batch.slopes().size() == 0) {
                if (!sample(batch[i], batch.texels()[i]))
                    batch.wait(i);
                continue;
            }
            AdumbraAnswer answer = sample_sloped(batch[i], batch.texels()[i], batch.slopes()[i]);
            if (answer == ADUMBRA_ANSWER_SLOPED)
                batch.give_slopes(i);
            else if (answer == ADUMBRA_ANSWER_PENDING)
                batch.wait(i);
        }
    }
    /// Takes the adjoint of a sample, for a gradient by a texture: the derivative by each of the four
    /// numbers, and by their slopes if the request wants these.
    virtual void texture_adjoint(const SampleRequest &request, const Texel &adjoint, const TexelSlopes &slopes)
    {
        static_cast<void>(request);
        static_cast<void>(adjoint);
        static_cast<void>(slopes);
    }
    /// Takes a message that a point gives with printf.
    virtual void message(std::size_t point, std::string_view text)
    {
        static_cast<void>(point);
        static_cast<void>(text);
    }
    /// Whether the point is to be stopped. It is called about every thousand steps.
    virtual bool is_cancelled() { return false; }
};

/// A host whose textures are a function of a request that gives a Texel: sampled_by.
template <class F> class SampleFunction : public Host {
    F sample_;

public:
    /// A host with that function.
    explicit SampleFunction(F function) : sample_(std::move(function)) {}
    /// Answers by the function.
    bool sample(const SampleRequest &request, Texel &texel) override
    {
        texel = sample_(request);
        return true;
    }
};

/// A host whose textures are a function of a request, as a lambda: `[&](const
/// adumbra::SampleRequest &r) { return …; }`.
template <class F> SampleFunction<F> sampled_by(F sample) { return SampleFunction<F>(std::move(sample)); }

namespace detail {

/// Bridges a host to one call of the C API, which no exception may cross.
class HostBridge {
    Host *host_;
    AdumbraHost c_ = {};
    std::atomic<bool> has_thrown_{false};
    std::exception_ptr thrown_; // written by the thread that set has_thrown_

    /// Calls the host, unless it has thrown in this call already.
    template <class Ask> static void ask(void *user, Ask ask) noexcept
    {
        HostBridge &self = *static_cast<HostBridge *>(user);
        if (self.has_thrown_)
            return;
        try {
            ask(*self.host_);
        } catch (...) {
            if (!self.has_thrown_.exchange(true))
                self.thrown_ = std::current_exception();
        }
    }
    static std::uint32_t sample(void *user, const AdumbraSampleRequest *request, float *texel)
    {
        AdumbraAnswer answer = ADUMBRA_ANSWER_READY;
        ask(user, [&](Host &host) {
            Texel colour = {1.0f, 1.0f, 1.0f, 1.0f};
            TexelSlopes slopes;
            if (request->slopes)
                answer = host.sample_sloped(*request, colour, slopes);
            else if (!host.sample(*request, colour))
                answer = ADUMBRA_ANSWER_PENDING;
            std::memcpy(texel, colour.data(), sizeof colour);
            if (answer == ADUMBRA_ANSWER_SLOPED)
                std::memcpy(request->slopes, &slopes, sizeof slopes);
        });
        return answer;
    }
    static void sample_many(void *user, const AdumbraSampleBatch *batch, float *texels, std::uint8_t *answers)
    {
        ask(user, [&](Host &host) { host.sample_many(SampleBatch(*batch, texels, answers)); });
    }
    static void texture_adjoint(void *user, const AdumbraSampleRequest *request, const float *adjoint)
    {
        ask(user, [&](Host &host) {
            auto four = [&](std::size_t at) {
                return Texel{adjoint[at], adjoint[at + 1], adjoint[at + 2], adjoint[at + 3]};
            };
            TexelSlopes slopes;
            if (request->wants_slopes)
                slopes = {four(4), four(8)};
            host.texture_adjoint(*request, four(0), slopes);
        });
    }
    static void message(void *user, std::size_t point, const char *text, std::size_t length)
    {
        ask(user, [&](Host &host) { host.message(point, std::string_view(text, length)); });
    }
    static std::uint32_t is_cancelled(void *user)
    {
        bool is_cancelled = false;
        ask(user, [&](Host &host) { is_cancelled = host.is_cancelled(); });
        return is_cancelled || static_cast<HostBridge *>(user)->has_thrown_;
    }

public:
    explicit HostBridge(Host *host) noexcept : host_(host)
    {
        c_.size = sizeof c_;
        c_.user = this;
        c_.sample = sample;
        c_.sample_many = sample_many;
        c_.message = message;
        c_.is_cancelled = is_cancelled;
        c_.texture_adjoint = texture_adjoint;
    }
    /// Makes the call, and throws what the host threw.
    template <class Call> void call(Call call)
    {
        AdumbraStatus status = call(host_ ? &c_ : nullptr);
        if (thrown_)
            std::rethrow_exception(thrown_);
        check(status);
    }
    /// Makes a call that says how far a point came.
    template <class Call> static AdumbraOutcome outcome(Host *host, Call call)
    {
        AdumbraOutcome outcome = ADUMBRA_OUTCOME_FINISHED;
        HostBridge(host).call([&](const AdumbraHost *c) { return call(c, &outcome); });
        return outcome;
    }
};

/// Remembers with which type of struct a program's globals were compared last.
class LayoutCheck {
    const void *with_ = nullptr;

    template <class S, class = void> struct IsSaid : std::false_type {};
    template <class S> struct IsSaid<S, std::void_t<decltype(HostStruct<S>::members)>> : std::true_type {};

public:
    /// Compares them, unless it was done; a struct without HostStruct is compared by its size
    /// alone, which the C API does.
    template <class S> void check(const Program &program)
    {
        static_assert(std::is_trivially_copyable_v<S> && std::is_standard_layout_v<S>, "globals are plain memory");
        if constexpr (IsSaid<S>::value) {
            static_assert(is_globals<S>());
            if (with_ != HostStruct<S>::members) {
                program.layout().check<S>();
                with_ = HostStruct<S>::members;
            }
        } else {
            static_cast<void>(program);
        }
    }
};

} // namespace detail

} // namespace adumbra

#endif // ADUMBRA_HOST_HPP
