// Part of adumbra.hpp: views, values of the shading language, and structs of globals.

#ifndef ADUMBRA_VALUES_HPP
#define ADUMBRA_VALUES_HPP

#include "../adumbra.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace adumbra {

/// A view of values side by side that it does not own, like std::span of C++20.
template <class T> class Span {
    T *data_ = nullptr;
    std::size_t size_ = 0;

    template <class U> using IfMine = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>;

public:
    /// A view of nothing.
    constexpr Span() noexcept = default;
    /// A view of `size` values from an address on.
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    /// A view of an array, a vector, or any other container of std::data and std::size.
    template <class C, class = IfMine<std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>>>
    constexpr Span(C &&values) noexcept : data_(std::data(values)), size_(std::size(values))
    {
    }
    /// A view of a list in braces, for the call that it is an argument of.
    template <class U = T, class = std::enable_if_t<std::is_const_v<U>>>
    constexpr Span(std::initializer_list<std::remove_const_t<U>> values) noexcept : size_(values.size())
    {
        data_ = values.begin();
    }

    /// The first value's address.
    constexpr T *data() const noexcept { return data_; }
    /// How many values there are.
    constexpr std::size_t size() const noexcept { return size_; }
    /// Whether it is empty.
    constexpr bool empty() const noexcept { return size_ == 0; }
    /// The first value.
    constexpr T *begin() const noexcept { return data_; }
    /// The end, one after the last value.
    constexpr T *end() const noexcept { return data_ + size_; }
    /// The value of that number, which must be there.
    constexpr T &operator[](std::size_t at) const noexcept { return data_[at]; }
    /// The values from `first` on, `count` of them, which must be there.
    constexpr Span subspan(std::size_t first, std::size_t count) const noexcept { return Span(data_ + first, count); }
};

template <class C> Span(C &) -> Span<std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>>;

/// A float2 of the shading language.
using Float2 = std::array<float, 2>;
/// A float3, or color, of the shading language.
using Float3 = std::array<float, 3>;
/// A float4 of the shading language.
using Float4 = std::array<float, 4>;
/// A float2x2 of the shading language, row by row.
using Float2x2 = std::array<Float2, 2>;
/// A float3x3 of the shading language, row by row.
using Float3x3 = std::array<Float3, 3>;
/// A float4x4 of the shading language, row by row.
using Float4x4 = std::array<Float4, 4>;
/// The texel that a texture gives: red, green, blue, alpha.
using Texel = Float4;

/// A bool of the shading language: 0 or 1 in four bytes.
struct Flag {
    /// 0 or 1.
    std::uint32_t is = 0;
    /// Whether it is true.
    constexpr explicit operator bool() const noexcept { return is != 0; }
};

/// A value with its changes towards the next pixel along x and along y.
template <class T> struct Dual {
    /// The value itself.
    T value{};
    /// Its change per pixel along x.
    T ddx{};
    /// Its change per pixel along y.
    T ddy{};
};

/// The number of four-byte numbers of a value of a type: a number, a vector or a matrix; 0 for
/// other types.
constexpr std::size_t scalars_of(AdumbraType type) noexcept
{
    switch (type) {
    case ADUMBRA_TYPE_BOOL:
    case ADUMBRA_TYPE_INT:
    case ADUMBRA_TYPE_UINT:
    case ADUMBRA_TYPE_FLOAT: return 1;
    case ADUMBRA_TYPE_FLOAT2: return 2;
    case ADUMBRA_TYPE_FLOAT3: return 3;
    case ADUMBRA_TYPE_FLOAT4:
    case ADUMBRA_TYPE_FLOAT2X2: return 4;
    case ADUMBRA_TYPE_FLOAT3X3: return 9;
    case ADUMBRA_TYPE_FLOAT4X4: return 16;
    default: return 0;
    }
}

/// Base of TypeOf: the shading type of a C++ type.
template <AdumbraType TYPE> struct Is {
    /// The type.
    static constexpr AdumbraType type = TYPE;
    /// The number of its four-byte numbers.
    static constexpr std::size_t scalars = scalars_of(TYPE);
};

/// The shading type of a C++ type. Specialise it for vectors of your own, which hold their numbers
/// side by side and nothing else: `template <> struct adumbra::TypeOf<Vec3> :
/// adumbra::Is<ADUMBRA_TYPE_FLOAT3> {};`.
template <class T> struct TypeOf;
template <> struct TypeOf<Flag> : Is<ADUMBRA_TYPE_BOOL> {};
template <> struct TypeOf<std::int32_t> : Is<ADUMBRA_TYPE_INT> {};
template <> struct TypeOf<std::uint32_t> : Is<ADUMBRA_TYPE_UINT> {};
template <> struct TypeOf<float> : Is<ADUMBRA_TYPE_FLOAT> {};
template <> struct TypeOf<float[2]> : Is<ADUMBRA_TYPE_FLOAT2> {};
template <> struct TypeOf<float[3]> : Is<ADUMBRA_TYPE_FLOAT3> {};
template <> struct TypeOf<float[4]> : Is<ADUMBRA_TYPE_FLOAT4> {};
template <> struct TypeOf<float[2][2]> : Is<ADUMBRA_TYPE_FLOAT2X2> {};
template <> struct TypeOf<float[3][3]> : Is<ADUMBRA_TYPE_FLOAT3X3> {};
template <> struct TypeOf<float[4][4]> : Is<ADUMBRA_TYPE_FLOAT4X4> {};
template <> struct TypeOf<Float2> : Is<ADUMBRA_TYPE_FLOAT2> {};
template <> struct TypeOf<Float3> : Is<ADUMBRA_TYPE_FLOAT3> {};
template <> struct TypeOf<Float4> : Is<ADUMBRA_TYPE_FLOAT4> {};
template <> struct TypeOf<Float2x2> : Is<ADUMBRA_TYPE_FLOAT2X2> {};
template <> struct TypeOf<Float3x3> : Is<ADUMBRA_TYPE_FLOAT3X3> {};
template <> struct TypeOf<Float4x4> : Is<ADUMBRA_TYPE_FLOAT4X4> {};

namespace detail {

/// Whether a type is a Dual.
template <class T> struct IsDual : std::false_type {};
template <class T> struct IsDual<Dual<T>> : std::true_type {};

/// The shading type whose value, ddx and ddy a member of a struct of globals is.
template <class T> struct PartOf;
template <class T> struct PartOf<Dual<T>> { using type = T; };
template <class T> struct PartOf<T[3]> { using type = T; };
template <class T> struct PartOf<std::array<T, 3>> { using type = T; };

/// Whether values of a type are its numbers of four bytes and nothing else.
template <class T> constexpr bool is_plain()
{
    static_assert(std::is_trivially_copyable_v<T>, "values are copied byte by byte");
    static_assert(sizeof(T) == 4 * TypeOf<T>::scalars, "a value is its numbers of four bytes and nothing else");
    return true;
}

} // namespace detail

/// The globals that a struct of the host holds. Specialise it for yours, with a list of its
/// members:
///
///     struct Hit {
///         adumbra::Dual<adumbra::Float2> uv; // or float uv[3][2]: value, ddx, ddy
///         float time[3];
///     };
///     template <> struct adumbra::HostStruct<Hit> {
///         static constexpr AdumbraMember members[] = {
///             adumbra::member<decltype(Hit::uv)>("uv", offsetof(Hit, uv)),
///             adumbra::member<decltype(Hit::time)>("time", offsetof(Hit, time)),
///         };
///     };
///     static_assert(adumbra::is_globals<Hit>());
template <class S> struct HostStruct;

/// A member of a struct of globals, for HostStruct: a Dual<T>, or three T in an array.
template <class M> constexpr AdumbraMember member(const char *name, std::size_t offset) noexcept
{
    using T = typename detail::PartOf<M>::type;
    static_assert(detail::is_plain<T>() && sizeof(M) == 3 * sizeof(T), "a member is value, ddx and ddy");
    return AdumbraMember{name, TypeOf<T>::type, offset};
}

/// Whether no two members have one name, checked while compiling.
constexpr bool names_differ(Span<const AdumbraMember> members) noexcept
{
    for (std::size_t i = 0; i < members.size(); i++)
        for (std::size_t j = 0; j < i; j++)
            if (std::string_view(members[i].name) == members[j].name)
                return false;
    return true;
}

/// Whether members are in order and without gaps, and fill a struct of `bytes` bytes, checked while
/// compiling.
constexpr bool fill(Span<const AdumbraMember> members, std::size_t bytes) noexcept
{
    std::size_t filled = 0;
    for (const AdumbraMember &member : members) {
        if (member.offset != filled)
            return false;
        filled += 12 * scalars_of(static_cast<AdumbraType>(member.type));
    }
    return filled == bytes;
}

/// Whether a struct can be read as globals without a copy: its members have different names, are in
/// order, and fill it. One that cannot does not compile.
template <class S> constexpr bool is_globals()
{
    static_assert(std::is_trivially_copyable_v<S> && std::is_standard_layout_v<S>, "globals are plain memory");
    static_assert(names_differ(HostStruct<S>::members), "two members have one name");
    static_assert(fill(HostStruct<S>::members, sizeof(S)), "members are in order, without gaps, and fill the struct");
    return true;
}

} // namespace adumbra

#endif // ADUMBRA_VALUES_HPP
