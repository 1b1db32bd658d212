// Part of adumbra.hpp: the input of a compiler: globals, closures, sources.

#ifndef ADUMBRA_SOURCES_HPP
#define ADUMBRA_SOURCES_HPP

#include "errors.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace adumbra {

/// The globals that a host fills for every point, in order: names and types.
class Layout {
    detail::Handle<AdumbraLayout, adumbra_layout_free> handle_;

public:
    /// A layout without globals.
    Layout() : Layout(detail::made<decltype(handle_)>(adumbra_layout_new).release()) {}
    /// Takes over a handle of the C API.
    explicit Layout(AdumbraLayout *handle) noexcept : handle_(handle) {}
    /// The six float3 that a renderer knows of a hit point: uvw, position, normal, gnormal, I,
    /// tangent.
    static Layout hit() { return Layout(detail::made<decltype(handle_)>(adumbra_layout_new_hit).release()); }
    /// The globals that a struct of the host holds, as its HostStruct says.
    template <class S> static Layout of()
    {
        static_assert(is_globals<S>());
        Layout layout;
        for (const AdumbraMember &member : HostStruct<S>::members)
            layout.add(member.name, static_cast<AdumbraType>(member.type));
        return layout;
    }

    /// Adds a global after the others: a number, a vector or a matrix. Compilers that were made
    /// before do not see it.
    Layout &add(std::string_view name, AdumbraType type)
    {
        AdumbraStatus status = adumbra_layout_add(get(), detail::Name(name), type);
        if (status == ADUMBRA_STATUS_DUPLICATE)
            detail::fail(status, "the global `" + std::string(name) + "` is declared twice");
        detail::check(status);
        return *this;
    }
    /// Adds a global after the others, of the shading type of T.
    template <class T> Layout &add(std::string_view name) { return add(name, TypeOf<T>::type); }
    /// Declares that the derivatives of a global are never set: they stay 0, and a shader that asks
    /// for one gets a warning.
    Layout &shadowless(std::string_view name)
    {
        detail::Name known(name);
        AdumbraStatus status = adumbra_layout_shadowless(get(), known);
        if (status == ADUMBRA_STATUS_UNKNOWN_NAME)
            detail::unknown("global", name, [&](auto... to) { return adumbra_layout_closest(get(), known, to...); });
        detail::check(status);
        return *this;
    }
    /// The bytes of the globals of one point.
    std::size_t bytes() const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_layout_bytes(get(), to); });
    }
    /// Throws a RefusedError unless a struct of the host, of `bytes` bytes, has these globals at
    /// their offsets.
    void check(Span<const AdumbraMember> members, std::size_t bytes) const
    {
        detail::explained(nullptr, [&](auto found) {
            return adumbra_layout_check(get(), members.data(), members.size(), bytes, found);
        });
    }
    /// Throws a RefusedError unless a struct of the host, by its HostStruct, has these globals at
    /// their offsets.
    template <class S> void check() const { check(HostStruct<S>::members, sizeof(S)); }
    /// The handle of the C API.
    AdumbraLayout *get() const noexcept { return handle_.get(); }
};

/// A parameter of a closure that a host knows.
struct Parameter {
    /// Its name.
    std::string_view name;
    /// Its type.
    AdumbraType type;
};

/// The closures that a host knows. A compiler that has such a list refuses shaders that make
/// others.
class Closures {
    detail::Handle<AdumbraClosures, adumbra_closures_free> handle_;

public:
    /// A list without closures.
    Closures() : handle_(detail::made<decltype(handle_)>(adumbra_closures_new)) {}
    /// Adds a closure with its parameters, in order.
    Closures &add(std::string_view name, Span<const Parameter> parameters)
    {
        std::vector<detail::Name> kept;
        std::vector<std::uint32_t> types;
        for (const Parameter &parameter : parameters) {
            kept.emplace_back(parameter.name);
            types.push_back(parameter.type);
        }
        std::vector<const char *> names(kept.begin(), kept.end());
        detail::check(adumbra_closures_add(get(), detail::Name(name), names.data(), types.data(), types.size()));
        return *this;
    }
    /// The handle of the C API.
    AdumbraClosures *get() const noexcept { return handle_.get(); }
};

/// The loader of included sources. An exception of a function is the reason in the report.
class Loader {
public:
    virtual ~Loader() = default;
    /// The name of the source that `from` includes as `name`: the same name for the same source.
    virtual std::string resolve(std::string_view name, std::string_view from)
    {
        static_cast<void>(from);
        return std::string(name);
    }
    /// The source of that name.
    virtual std::string load(std::string_view name) = 0;
};

/// The sources of one compilation: the first holds the shader, the others what it may use.
class Sources {
    detail::Handle<AdumbraSources, adumbra_sources_free> handle_;

    template <class Ask> static std::uint32_t ask(AdumbraReply *reply, Ask ask) noexcept
    {
        try {
            std::string source;
            std::uint32_t failed = 0;
            try {
                source = ask();
            } catch (const std::exception &error) {
                source = error.what();
                failed = 1;
            }
            return adumbra_reply(reply, source.data(), source.size()) == ADUMBRA_STATUS_OK ? failed : 1;
        } catch (...) {
            return 1;
        }
    }
    static std::uint32_t resolve(void *user, const char *name, const char *from, AdumbraReply *reply)
    {
        return ask(reply, [&] { return static_cast<Loader *>(user)->resolve(detail::view(name), detail::view(from)); });
    }
    static std::uint32_t load(void *user, const char *name, const char *, AdumbraReply *reply)
    {
        return ask(reply, [&] { return static_cast<Loader *>(user)->load(detail::view(name)); });
    }

public:
    /// The sources of a compilation from one source; diagnostics refer to it by `name`.
    Sources(std::string_view name, std::string_view source)
    {
        detail::Name called(name);
        handle_ = detail::made<decltype(handle_)>(
            [&](auto to) { return adumbra_sources_new(called, source.data(), source.size(), to); });
    }
    /// Adds a source whose functions, structs and constants the first may use.
    Sources &add(std::string_view name, std::string_view source)
    {
        detail::check(adumbra_sources_add(get(), detail::Name(name), source.data(), source.size()));
        return *this;
    }
    /// Adds all sources that these include. If one cannot be loaded it throws a RefusedError that
    /// names it, and nothing is added.
    Sources &include(Loader &loader)
    {
        AdumbraLoader c = {};
        c.size = sizeof c;
        c.user = &loader;
        c.resolve = resolve;
        c.load = load;
        detail::explained(nullptr, [&](auto found) { return adumbra_sources_include(get(), &c, found); });
        return *this;
    }
    /// The handle of the C API.
    AdumbraSources *get() const noexcept { return handle_.get(); }
};

} // namespace adumbra

#endif // ADUMBRA_SOURCES_HPP
