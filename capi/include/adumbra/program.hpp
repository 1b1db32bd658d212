// Part of adumbra.hpp: the compiler, programs, and instances of them.

#ifndef ADUMBRA_PROGRAM_HPP
#define ADUMBRA_PROGRAM_HPP

#include "sources.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace adumbra {

/// A named thing of a program. Its strings live as long as the program.
struct Variable {
    /// Its type.
    AdumbraType type;
    /// Its name; of a member of a struct, the name of the whole.
    std::string_view name;
    /// Its type as the language writes it.
    std::string_view type_name;
    /// The number of scalars before it in its list.
    std::size_t first;
    /// How many scalars it has; of a closure, those of all its arguments.
    std::size_t scalars;
    /// Whether the program reads a global; true for other lists.
    bool is_read;
};

namespace detail {

template <class Call> Variable variable(Call call)
{
    auto c = shown<AdumbraVariable>(call);
    return {static_cast<AdumbraType>(c.type), view(c.name), view(c.type_name), c.first, c.scalars, c.is_read != 0};
}

/// Fails unless values of T are those of a variable.
template <class T> void check_type(const Variable &variable)
{
    static_assert(is_plain<T>());
    if (variable.type != TypeOf<T>::type)
        fail(ADUMBRA_STATUS_WRONG_TYPE, "`" + std::string(variable.name) + "` is of type `" + std::string(variable.type_name) +
                                            "`, not what it is read or set as");
}

constexpr const char *kind_of(AdumbraList list) noexcept
{
    switch (list) {
    case ADUMBRA_LIST_OUTPUTS: return "output";
    case ADUMBRA_LIST_PARAMETERS: return "parameter";
    case ADUMBRA_LIST_GLOBALS: return "global";
    case ADUMBRA_LIST_TEXTURES: return "texture";
    case ADUMBRA_LIST_CLOSURES: return "closure";
    case ADUMBRA_LIST_BUFFERS: return "buffer";
    default: return "resource";
    }
}

} // namespace detail

/// The position of an argument of type T in the leaves of one closure: Program::argument.
template <class T> struct Argument {
    /// The number of the closure in ADUMBRA_LIST_CLOSURES.
    std::uint32_t shape;
    /// The number of scalars before it.
    std::size_t first;

    /// Whether a leaf is of its closure.
    bool is_of(const AdumbraLeaf &leaf) const noexcept { return leaf.shape == shape; }
    /// The argument of a leaf of its closure.
    T operator()(const AdumbraLeaf &leaf) const
    {
        if (!is_of(leaf) || first + TypeOf<T>::scalars > leaf.count)
            detail::fail(ADUMBRA_STATUS_INDEX, "the leaf is of another closure");
        T value;
        std::memcpy(&value, leaf.arguments + first, sizeof value);
        return value;
    }
};

/// The gradient that a program is asked for: unless it says more, that of all outputs by all inputs,
/// backward.
struct GradientRequest {
    /// The mode.
    AdumbraGradientMode mode = ADUMBRA_GRADIENT_MODE_BACKWARD;
    /// The outputs that it is of; none for all that have floats.
    std::vector<std::string> of{};
    /// Inputs that it is by.
    std::vector<std::string> inputs{};
    /// Globals that it is by.
    std::vector<std::string> globals{};
    /// Whether it is by all inputs that have floats. It is by these, too, if it names nothing.
    bool all_inputs = false;
    /// Whether it is by all globals that have floats and are read.
    bool all_globals = false;
    /// Buffers that it is by.
    std::vector<std::string> buffers{};
    /// Whether it is by all buffers that have floats and are read.
    bool all_buffers = false;
    /// Textures that it is by.
    std::vector<std::string> textures{};
    /// Whether it is by all textures.
    bool all_textures = false;
};

namespace detail {

/// A request for the C API. It keeps what that points at.
class CGradientRequest {
    Names of_, inputs_, globals_, buffers_, textures_;
    AdumbraGradientRequest c_ = {};

public:
    explicit CGradientRequest(const GradientRequest &request)
        : of_(request.of), inputs_(request.inputs), globals_(request.globals), buffers_(request.buffers),
          textures_(request.textures)
    {
        c_.size = sizeof c_;
        c_.mode = request.mode;
        c_.of = of_.data();
        c_.of_count = of_.size();
        c_.inputs = inputs_.data();
        c_.input_count = inputs_.size();
        c_.globals = globals_.data();
        c_.global_count = globals_.size();
        c_.all_inputs = request.all_inputs;
        c_.all_globals = request.all_globals;
        c_.buffers = buffers_.data();
        c_.buffer_count = buffers_.size();
        c_.all_buffers = request.all_buffers;
        c_.textures = textures_.data();
        c_.texture_count = textures_.size();
        c_.all_textures = request.all_textures;
    }
    CGradientRequest(const CGradientRequest &) = delete;
    const AdumbraGradientRequest *get() const noexcept { return &c_; }
};

} // namespace detail

/// A value that the gradient of a program is of or by, and its derivative in that program. The
/// strings live as long as the program.
struct Differentiated {
    /// The name of the value.
    std::string_view name;
    /// The list that has it: outputs if the gradient is of it, else parameters, globals, buffers or
    /// textures.
    AdumbraList list;
    /// Whether the gradient by it is 0 at every point, since no derivative leads from it to an
    /// output.
    bool is_zero;
    /// The list that has its derivative: outputs if the program computes it, globals if the host
    /// gives it for each point, buffers for a buffer.
    AdumbraList derivative_list;
    /// Its derivative: one entry of that list, or, where the host gives it, one for each element of
    /// an array and each member of a struct; none where points add it to a sum, which Sums::buffer
    /// gives.
    std::vector<Variable> derivative;
};

/// A compiled shader. It never changes, copies share it, and any number of threads may use it at
/// once.
class Program {
    std::shared_ptr<AdumbraProgram> handle_;

public:
    /// Takes over a handle of the C API.
    explicit Program(AdumbraProgram *handle) : handle_(handle, adumbra_program_free) {}
    /// Makes a program of the bytes of save. Any bytes may be passed: they are checked in full, and
    /// a RefusedError reports invalid ones.
    static Program load(Span<const std::uint8_t> bytes)
    {
        AdumbraProgram *program = nullptr;
        detail::explained(nullptr, [&](auto found) { return adumbra_program_load(bytes.data(), bytes.size(), &program, found); });
        return Program(program);
    }
    /// Makes a program of a shader that was compiled ahead of time, which has to stay for as long
    /// as the process.
    static Program from_object(const AdumbraObjectShader &shader)
    {
        AdumbraProgram *program = nullptr;
        detail::explained(nullptr, [&](auto found) { return adumbra_program_from_object(&shader, &program, found); });
        return Program(program);
    }
    /// The program as bytecode: the same bytes on every machine, for this version of the library.
    std::vector<std::uint8_t> save() const
    {
        return detail::list<std::uint8_t>([&](auto... to) { return adumbra_program_save(get(), to...); });
    }

    /// The length of a list of the program.
    std::size_t count(AdumbraList list) const
    {
        return detail::got<std::size_t>([&](auto to) { return adumbra_program_count(get(), list, to); });
    }
    /// An entry of a list of the program, by its number.
    Variable variable(AdumbraList list, std::size_t index) const
    {
        return detail::variable([&](auto to) { return adumbra_program_variable(get(), list, index, to); });
    }
    /// An entry of a list of the program by its name; in outputs and parameters also a member of a
    /// struct, as in `ray.origin`.
    Variable find(AdumbraList list, std::string_view path) const
    {
        detail::Name name(path);
        return detail::variable([&](auto to) {
            AdumbraStatus status = adumbra_program_find(get(), list, name, to);
            if (status == ADUMBRA_STATUS_UNKNOWN_NAME)
                unknown(list, path);
            return status;
        });
    }
    /// An output, or a member of one that is a struct.
    Variable output(std::string_view path) const { return find(ADUMBRA_LIST_OUTPUTS, path); }
    /// A parameter, or a member of one that is a struct.
    Variable parameter(std::string_view path) const { return find(ADUMBRA_LIST_PARAMETERS, path); }
    /// The number of a texture in requests.
    std::uint32_t texture(std::string_view name) const { return number(ADUMBRA_LIST_TEXTURES, name); }
    /// The number of a closure in leaves.
    std::uint32_t closure(std::string_view name) const { return number(ADUMBRA_LIST_CLOSURES, name); }
    /// A parameter of a closure; its name is empty, its `first` counts the scalars before it among
    /// the arguments.
    Variable closure_parameter(std::size_t closure, std::size_t index) const
    {
        return detail::variable([&](auto to) { return adumbra_program_closure_parameter(get(), closure, index, to); });
    }
    /// The position of the argument of that number in the leaves of a closure.
    template <class T> Argument<T> argument(std::string_view closure, std::size_t index) const
    {
        std::uint32_t shape = this->closure(closure);
        Variable parameter = closure_parameter(shape, index);
        detail::check_type<T>(parameter);
        return {shape, parameter.first};
    }
    /// The globals that it has, to compare a struct with them or to compile other shaders for the
    /// same globals.
    Layout layout() const
    {
        AdumbraLayout *layout = nullptr;
        detail::check(adumbra_program_layout(get(), &layout));
        return Layout(layout);
    }
    /// Inputs, outputs and textures as the JSON that `adumbra info --json` prints.
    std::string json() const
    {
        return detail::string([&](auto... to) { return adumbra_program_json(get(), to...); });
    }
    /// The statistics of the program. This call costs about as much as saving it.
    AdumbraStats stats() const
    {
        return detail::shown<AdumbraStats>([&](auto to) { return adumbra_program_stats(get(), to); });
    }
    /// A program that computes the outputs of this one and their gradient, or throws a RefusedError
    /// that says why there is none. Where the gradient ends goes to `warnings`.
    Program gradient(const GradientRequest &request = {}, Diagnostics *warnings = nullptr) const
    {
        detail::CGradientRequest c(request);
        AdumbraProgram *made = nullptr;
        detail::explained(warnings, [&](auto found) { return adumbra_program_gradient(get(), c.get(), &made, found); });
        return Program(made);
    }
    /// What the gradient of this program is of, then what it is by; none if it was not made by
    /// gradient.
    std::vector<Differentiated> differentiated() const
    {
        std::size_t count = detail::got<std::size_t>([&](auto to) { return adumbra_program_differentiated_count(get(), to); });
        std::vector<Differentiated> all;
        for (std::size_t i = 0; i < count; i++) {
            auto c = detail::shown<AdumbraDifferentiated>([&](auto to) { return adumbra_program_differentiated(get(), i, to); });
            auto list = static_cast<AdumbraList>(c.derivative_list);
            std::vector<Variable> derivative;
            for (std::size_t at = 0; at < c.derivative_count; at++)
                derivative.push_back(variable(list, c.derivative_index + at));
            all.push_back({detail::view(c.name), static_cast<AdumbraList>(c.list), c.is_zero != 0, list, std::move(derivative)});
        }
        return all;
    }
    /// Throws an Error for a path that a list lacks, with the one that was probably meant.
    [[noreturn]] void unknown(AdumbraList list, std::string_view path) const
    {
        detail::Name name(path);
        detail::unknown(detail::kind_of(list), path,
                        [&](auto... to) { return adumbra_program_closest(get(), list, name, to...); });
    }
    /// The handle of the C API.
    AdumbraProgram *get() const noexcept { return handle_.get(); }

private:
    std::uint32_t number(AdumbraList list, std::string_view name) const
    {
        for (std::size_t i = 0; i < count(list); i++)
            if (variable(list, i).name == name)
                return static_cast<std::uint32_t>(i);
        unknown(list, name);
    }
};

/// Options of a compiler.
struct CompilerOptions {
    /// The source of derivatives.
    AdumbraDerivatives derivatives = ADUMBRA_DERIVATIVES_DUAL;
    /// The treatment of derivatives from quads in non-uniform control flow.
    AdumbraAtDivergence at_divergence = ADUMBRA_AT_DIVERGENCE_REFUSE;
    /// Whether the host reads the derivatives of outputs. Else none is computed for the host, and
    /// reading one fails with ADUMBRA_STATUS_NO_DERIVATIVES.
    bool output_derivatives = false;
    /// Whether each function has one body, for all its callers.
    bool merge_demand = false;
    /// Whether results of textures have derivatives, for a host that answers with their slopes
    /// (Host::sample_sloped). Else they count as 0.
    bool texture_slopes = false;
    /// The name of the shader, if sources have several; else empty.
    std::string shader{};
    /// The closures that the host knows; none to let shaders make any.
    const Closures *closures = nullptr;
};

/// Compiles sources for a host with certain globals. Several threads may compile with it at once.
class Compiler {
    detail::Handle<AdumbraCompiler, adumbra_compiler_free> handle_;

    template <class Call> static Program compiled(Diagnostics *warnings, Call call)
    {
        AdumbraProgram *program = nullptr;
        detail::explained(warnings, [&](auto found) { return call(&program, found); });
        return Program(program);
    }

public:
    /// A compiler for a host with these globals.
    explicit Compiler(const Layout &layout, const CompilerOptions &options = {})
    {
        detail::Name shader(options.shader);
        AdumbraCompilerOptions c = {};
        c.size = sizeof c;
        c.derivatives = options.derivatives;
        c.at_divergence = options.at_divergence;
        c.output_derivatives = options.output_derivatives;
        c.merge_demand = options.merge_demand;
        c.texture_slopes = options.texture_slopes;
        c.shader = options.shader.empty() ? nullptr : static_cast<const char *>(shader);
        c.closures = options.closures ? options.closures->get() : nullptr;
        handle_ = detail::made<decltype(handle_)>([&](auto to) { return adumbra_compiler_new(layout.get(), &c, to); });
    }
    /// Makes a program of a shader, or throws a RefusedError with the errors. Warnings go to
    /// `warnings`.
    Program compile(const Sources &sources, Diagnostics *warnings = nullptr) const
    {
        return compiled(warnings, [&](auto... to) { return adumbra_compile(get(), sources.get(), to...); });
    }
    /// Makes a program of one source, or throws a RefusedError with the errors. Warnings go to
    /// `warnings`.
    Program compile(std::string_view name, std::string_view source, Diagnostics *warnings = nullptr) const
    {
        detail::Name called(name);
        return compiled(warnings, [&](auto... to) { return adumbra_compile_source(get(), called, source.data(), source.size(), to...); });
    }
    /// The handle of the C API.
    AdumbraCompiler *get() const noexcept { return handle_.get(); }
};

/// A program with values for its parameters: a material. Evaluators take a copy, so what is set
/// later does not reach them.
class Instance {
    Program program_;
    detail::Handle<AdumbraInstance, adumbra_instance_free> handle_;

    Instance &set_words(std::string_view path, AdumbraType scalar, const void *words, std::size_t count)
    {
        AdumbraStatus status = adumbra_instance_set(get(), detail::Name(path), scalar, words, count);
        if (status == ADUMBRA_STATUS_UNKNOWN_NAME)
            program_.unknown(ADUMBRA_LIST_PARAMETERS, path);
        if (status == ADUMBRA_STATUS_WRONG_TYPE || status == ADUMBRA_STATUS_SIZE)
            detail::fail(status, "the parameter `" + std::string(path) + "` is of type `" +
                                     std::string(program_.parameter(path).type_name) + "`, not what it is set to");
        detail::check(status);
        return *this;
    }
    template <class T> static constexpr AdumbraType scalar() noexcept
    {
        constexpr AdumbraType type = TypeOf<T>::type;
        return type <= ADUMBRA_TYPE_FLOAT ? type : ADUMBRA_TYPE_FLOAT;
    }

public:
    /// An instance whose parameters have the shader's defaults, or are zero.
    explicit Instance(const Program &program)
        : program_(program),
          handle_(detail::made<decltype(handle_)>([&](auto to) { return adumbra_instance_new(program.get(), to); }))
    {
    }
    /// Sets a parameter, or a member of one that is a struct, as in `ray.origin`. A number of any
    /// type sets a float.
    template <class T> Instance &set(std::string_view path, const T &value)
    {
        if constexpr (std::is_arithmetic_v<T>) {
            if (program_.parameter(path).type == ADUMBRA_TYPE_FLOAT) {
                float number = static_cast<float>(value);
                return set_words(path, ADUMBRA_TYPE_FLOAT, &number, 1);
            }
        }
        if constexpr (std::is_same_v<T, bool>) {
            std::uint32_t word = value;
            return set_words(path, ADUMBRA_TYPE_BOOL, &word, 1);
        } else if constexpr (std::is_same_v<T, double>) {
            float number = static_cast<float>(value);
            return set_words(path, ADUMBRA_TYPE_FLOAT, &number, 1);
        } else {
            static_assert(detail::is_plain<T>());
            return set_words(path, scalar<T>(), &value, TypeOf<T>::scalars);
        }
    }
    /// Sets a parameter that is an array, or a struct of numbers of one type, from all its scalars:
    /// float, std::int32_t or std::uint32_t.
    template <class T> Instance &set_all(std::string_view path, Span<const T> scalars)
    {
        static_assert(TypeOf<T>::scalars == 1);
        return set_words(path, TypeOf<T>::type, scalars.data(), scalars.size());
    }
    /// Sets the numbers of a buffer, element by element, which are copied: float, std::int32_t, or
    /// vectors of floats, as Float2.
    template <class T> Instance &set_buffer(std::string_view name, Span<const T> numbers)
    {
        static_assert(detail::is_plain<T>());
        AdumbraStatus status =
            adumbra_instance_set_buffer(get(), detail::Name(name), scalar<T>(), numbers.data(), numbers.size() * TypeOf<T>::scalars);
        if (status == ADUMBRA_STATUS_UNKNOWN_NAME)
            program_.unknown(ADUMBRA_LIST_BUFFERS, name);
        detail::check(status);
        return *this;
    }
    /// Sets the numbers of a buffer from a vector or an array of them.
    template <class C, class = decltype(std::data(std::declval<const C &>()))>
    Instance &set_buffer(std::string_view name, const C &values)
    {
        using T = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(values))>>;
        return set_buffer<T>(name, Span<const T>(values));
    }
    /// Its program.
    const Program &program() const noexcept { return program_; }
    /// The handle of the C API.
    AdumbraInstance *get() const noexcept { return handle_.get(); }
};

} // namespace adumbra

#endif // ADUMBRA_PROGRAM_HPP
