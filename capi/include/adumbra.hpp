// Adumbra for C++17: adumbra.h with handles that free themselves and errors that are exceptions.
//
// docs/c-api.md shows how to build with it, and programs that use it. The rules of all of it:
//
// - A function that fails throws an Error, and nothing was done. A shader that does not compile
//   throws a RefusedError, whose what() is the report that the command would print.
// - Objects own their handles. A Program may be copied, which shares it; others can be moved alone.
//   They keep alive what they were made from, so they may go in any order. One that was moved from
//   throws when it is used.
// - Views (Span, std::string_view, Variable, Diagnostic) do not own what they show. Each says how
//   long that lives.
// - The threads that may use an object are those that docs/c-api.md names for its handle.
// - Nothing here is global, and no macro is left but those that guard its files.

#ifndef ADUMBRA_HPP
#define ADUMBRA_HPP

#include "adumbra/batch.hpp"
#include "adumbra/errors.hpp"
#include "adumbra/evaluator.hpp"
#include "adumbra/host.hpp"
#include "adumbra/jumps.hpp"
#include "adumbra/program.hpp"
#include "adumbra/sources.hpp"
#include "adumbra/values.hpp"

#include <string_view>

namespace adumbra {

/// The version of the library, as in `0.1.0`.
inline std::string_view version() noexcept { return adumbra_version(); }

/// Whether the library has all that this header uses, for programs that load one of another
/// version.
inline bool is_compatible() noexcept { return adumbra_api() >= ADUMBRA_API; }

} // namespace adumbra

#endif // ADUMBRA_HPP
