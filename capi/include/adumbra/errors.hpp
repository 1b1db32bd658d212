// Part of adumbra.hpp: exceptions, diagnostics, and how calls of the C API become C++.

#ifndef ADUMBRA_ERRORS_HPP
#define ADUMBRA_ERRORS_HPP

#include "values.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adumbra {

/// An error: a status, and in what() a sentence for people.
class Error : public std::runtime_error {
    AdumbraStatus status_;

public:
    /// An error of that status, with a sentence.
    Error(AdumbraStatus status, const std::string &what) : std::runtime_error(what), status_(status) {}
    /// The status that the C API gave.
    AdumbraStatus status() const noexcept { return status_; }
};

namespace detail {

template <class T, void (*FREE)(T *)> struct Free {
    void operator()(T *handle) const noexcept { FREE(handle); }
};

/// A handle that frees itself.
template <class T, void (*FREE)(T *)> using Handle = std::unique_ptr<T, Free<T, FREE>>;

[[noreturn]] inline void fail(AdumbraStatus status, std::string_view what)
{
    throw Error(status, "adumbra: " + std::string(what));
}

/// Fails for the last call, which gave that status: what() names the argument that is wrong.
[[noreturn]] inline void fail(AdumbraStatus status)
{
    fail(status, adumbra_last_error());
}

inline void check(AdumbraStatus status)
{
    if (status != ADUMBRA_STATUS_OK)
        fail(status);
}

/// Makes a handle by a function that takes a pointer for it.
template <class H, class Call> H made(Call call)
{
    typename H::pointer handle = nullptr;
    check(call(&handle));
    return H(handle);
}

/// Reads a value by a function that takes a pointer for it.
template <class T, class Call> T got(Call call)
{
    T value{};
    check(call(&value));
    return value;
}

/// Reads a struct that begins with its size.
template <class T, class Call> T shown(Call call)
{
    T value{};
    value.size = sizeof value;
    check(call(&value));
    return value;
}

/// Fills a list by a function that says how much memory it needs; gives how many there are.
template <class T, class Call> std::size_t listed(std::vector<T> &to, Call call)
{
    std::size_t needed = 0;
    AdumbraStatus status = call(to.data(), to.size(), &needed);
    if (status == ADUMBRA_STATUS_BUFFER_TOO_SMALL) {
        to.resize(needed);
        status = call(to.data(), to.size(), &needed);
    }
    check(status);
    return needed;
}

template <class T, class Call> std::vector<T> list(Call call)
{
    std::vector<T> all;
    all.resize(listed(all, call));
    return all;
}

/// A string by a function that gives its length, with the NUL that ends it.
template <class Call> std::string string(Call call)
{
    std::size_t needed = 0;
    AdumbraStatus status = call(static_cast<char *>(nullptr), std::size_t(0), &needed);
    if (status != ADUMBRA_STATUS_BUFFER_TOO_SMALL)
        fail(status);
    std::string all(needed, '\0');
    check(call(&all[0], all.size(), &needed));
    all.resize(needed - 1);
    return all;
}

/// A name as a C string; a NUL inside would cut it short.
class Name {
    std::string text_;

public:
    explicit Name(std::string_view name) : text_(name)
    {
        if (name.find('\0') != std::string_view::npos)
            fail(ADUMBRA_STATUS_INVALID_VALUE, "there is a NUL in a name");
    }
    operator const char *() const noexcept { return text_.c_str(); }
};

/// Names as an array of C strings.
class Names {
    std::vector<Name> names_;
    std::vector<const char *> all_;

public:
    explicit Names(const std::vector<std::string> &names) : names_(names.begin(), names.end()), all_(names_.begin(), names_.end()) {}
    Names(const Names &) = delete;
    const char *const *data() const noexcept { return all_.data(); }
    std::size_t size() const noexcept { return all_.size(); }
};

inline std::string_view view(const char *text) noexcept
{
    return text ? std::string_view(text) : std::string_view();
}

/// Fails for an unknown name, with the name that was probably meant, which `closest` gives.
template <class Call> [[noreturn]] void unknown(const char *kind, std::string_view name, Call closest)
{
    std::string what = std::string("there is no ") + kind + " `" + std::string(name) + "`";
    std::size_t needed = 0;
    if (closest(static_cast<char *>(nullptr), std::size_t(0), &needed) == ADUMBRA_STATUS_BUFFER_TOO_SMALL)
        what += "; did you mean `" + string(closest) + "`?";
    fail(ADUMBRA_STATUS_UNKNOWN_NAME, what);
}

} // namespace detail

/// One error, warning or fault. Its strings live as long as its Diagnostics.
struct Diagnostic {
    /// Whether it is an error, and no warning.
    bool is_error;
    /// Its code, as in `E0201`.
    std::string_view code;
    /// The message, one sentence.
    std::string_view message;
    /// How to fix it; empty if it does not say.
    std::string_view help;
    /// The name of the source that it points into.
    std::string_view file;
    /// The first byte of the span in the source.
    std::uint32_t start;
    /// The first byte after the span.
    std::uint32_t end;
    /// Its line, counted from 1; 0 if the source is not known.
    std::uint32_t line;
    /// Its column in characters, counted from 1; 0 if the source is not known.
    std::uint32_t column;
};

/// Errors and warnings of a compilation, or faults of a point; possibly none.
class Diagnostics {
    detail::Handle<AdumbraDiagnostics, adumbra_diagnostics_free> handle_;

public:
    /// None.
    Diagnostics() = default;
    /// Takes over a handle of the C API, which may be NULL.
    explicit Diagnostics(AdumbraDiagnostics *handle) noexcept : handle_(handle) {}

    /// How many there are.
    std::size_t size() const
    {
        if (!handle_)
            return 0;
        return detail::got<std::size_t>([&](auto to) { return adumbra_diagnostics_count(handle_.get(), to); });
    }
    /// Whether there are none.
    bool empty() const { return size() == 0; }
    /// One of them, in the order found.
    Diagnostic operator[](std::size_t index) const
    {
        auto found = detail::shown<AdumbraDiagnostic>([&](auto to) { return adumbra_diagnostics_get(handle_.get(), index, to); });
        return {found.severity == ADUMBRA_SEVERITY_ERROR, detail::view(found.code), detail::view(found.message),
                detail::view(found.help), detail::view(found.file), found.start, found.end, found.line, found.column};
    }
    /// The report that the command prints.
    std::string text() const { return written(ADUMBRA_FORMAT_TEXT); }
    /// A JSON array of what the command prints with `--json`.
    std::string json() const { return handle_ ? written(ADUMBRA_FORMAT_JSON) : "[]"; }

private:
    std::string written(AdumbraFormat format) const
    {
        if (!handle_)
            return {};
        return detail::string([&](auto... to) { return adumbra_diagnostics_render(handle_.get(), format, to...); });
    }
};

/// An error with diagnostics: a shader that does not compile, bytecode that is damaged, a struct
/// that does not fit. The report is in what().
class RefusedError : public Error {
    std::shared_ptr<const Diagnostics> diagnostics_;

public:
    /// An error of that status, with its diagnostics.
    RefusedError(AdumbraStatus status, Diagnostics &&diagnostics)
        : Error(status, diagnostics.text()), diagnostics_(std::make_shared<const Diagnostics>(std::move(diagnostics)))
    {
    }
    /// The diagnostics. They live as long as the exception or a copy of it.
    const Diagnostics &diagnostics() const noexcept { return *diagnostics_; }
};

namespace detail {

/// Makes a call that may give diagnostics. If it fails they are thrown; else they go to `warnings`.
template <class Call> void explained(Diagnostics *warnings, Call call)
{
    AdumbraDiagnostics *found = nullptr;
    AdumbraStatus status = call(&found);
    Diagnostics diagnostics(found);
    if (status != ADUMBRA_STATUS_OK && found)
        throw RefusedError(status, std::move(diagnostics));
    check(status);
    if (warnings)
        *warnings = std::move(diagnostics);
}

} // namespace detail

} // namespace adumbra

#endif // ADUMBRA_ERRORS_HPP
