/* Adumbra: a shading language and virtual machine whose values carry their screen-space derivatives.
 *
 * How to build with it, and what holds of all functions, is in docs/c-api.md. In short:
 *
 * - Functions give an AdumbraStatus and write results where the caller says. If the status is not ADUMBRA_STATUS_OK nothing was
 *   done, and a handle to be made is NULL.
 * - Handles are made by functions that are given where to put them, and freed by one that ends in _free; NULL may be freed. Each
 *   keeps alive what it was made from, so they may be freed in any order.
 * - A struct begins with its size, which the caller sets: `AdumbraHost host = {0}; host.size = sizeof host;`. Zero everywhere else
 *   is the usual.
 * - Texts are UTF-8. Those that are given without a length end with NUL. Those that come out belong to the handle that they are of.
 * - Any thread may use any handle. What evaluates or can be changed serves one call at a time; others get ADUMBRA_STATUS_BUSY.
 *
 * Made by cbindgen from the crate `capi`; do not edit. */


#ifndef ADUMBRA_H
#define ADUMBRA_H

#include <stddef.h>
#include <stdint.h>

/// The length of a text that ends with NUL.
#define ADUMBRA_TO_NUL SIZE_MAX

/// The number of the interface that this header describes. It grows when something is added; what is there stays.
#define ADUMBRA_API 4



/// What a call came to. Whatever is not `ADUMBRA_STATUS_OK` says why nothing was done.
enum AdumbraStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// It was done.
    ADUMBRA_STATUS_OK = 0,
    /// A pointer is NULL that must not be.
    ADUMBRA_STATUS_NULL = 1,
    /// A pointer is not aligned for what it should point at.
    ADUMBRA_STATUS_MISALIGNED = 2,
    /// A size, a length or a number of things is not what is asked for, or more than there can be.
    ADUMBRA_STATUS_SIZE = 3,
    /// The buffer is too small; how much is needed was written down.
    ADUMBRA_STATUS_BUFFER_TOO_SMALL = 4,
    /// A text is not UTF-8.
    ADUMBRA_STATUS_NOT_UTF8 = 5,
    /// There is nothing of that name.
    ADUMBRA_STATUS_UNKNOWN_NAME = 6,
    /// The name is there already.
    ADUMBRA_STATUS_TWICE = 7,
    /// It has another type, or can have no such type.
    ADUMBRA_STATUS_WRONG_TYPE = 8,
    /// There is nothing of that number.
    ADUMBRA_STATUS_INDEX = 9,
    /// A number names none of its enumeration.
    ADUMBRA_STATUS_INVALID_VALUE = 10,
    /// The texts, or the bytes, are at fault; findings say how.
    ADUMBRA_STATUS_REFUSED = 11,
    /// This machine, or a program that was loaded as bytecode, cannot do it: instructions or machine code for a processor that this is not, the engine that
    /// needs source text.
    ADUMBRA_STATUS_UNAVAILABLE = 12,
    /// The handle is being used, by another thread or by the evaluation that calls back.
    ADUMBRA_STATUS_BUSY = 13,
    /// No point waits for a texture.
    ADUMBRA_STATUS_NOT_WAITING = 14,
    /// As many points are parked as the limits allow, or the memory that they allow is full.
    ADUMBRA_STATUS_TOO_MANY_PARKED = 15,
    /// The point was parked by an evaluator of another instance, engine or limits.
    ADUMBRA_STATUS_WRONG_EVALUATOR = 16,
    /// Points are not evaluated in quads, or not in whole ones.
    ADUMBRA_STATUS_QUADS = 17,
    /// The globals are not those that the program was compiled for.
    ADUMBRA_STATUS_WRONG_GLOBALS = 18,
    /// A mistake in the library: it panicked, now or in an earlier call on the handle, which is of no more use.
    ADUMBRA_STATUS_PANICKED = 19,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraStatus AdumbraStatus;
#else
typedef uint32_t AdumbraStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// How far a point came.
enum AdumbraOutcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The shader returned.
    ADUMBRA_OUTCOME_FINISHED = 0,
    /// A limit was met: outputs are zero, closures empty; the last fault says why.
    ADUMBRA_OUTCOME_STOPPED = 1,
    /// The point waits for a texture.
    ADUMBRA_OUTCOME_PENDING = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraOutcome AdumbraOutcome;
#else
typedef uint32_t AdumbraOutcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What a host answers to a request.
enum AdumbraAnswer
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The texel is there.
    ADUMBRA_ANSWER_READY = 0,
    /// Not yet: the point waits, and the request is not made again.
    ADUMBRA_ANSWER_PENDING = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraAnswer AdumbraAnswer;
#else
typedef uint32_t AdumbraAnswer;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What becomes of derivatives from quads where points may have parted.
enum AdumbraAtDivergence
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// They are refused.
    ADUMBRA_AT_DIVERGENCE_REFUSE = 0,
    /// Both arms of such branches are evaluated where they only compute; the rest is refused.
    ADUMBRA_AT_DIVERGENCE_LIVE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraAtDivergence AdumbraAtDivergence;
#else
typedef uint32_t AdumbraAtDivergence;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What a node of a closure tree is.
enum AdumbraClosureKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The closure that reflects nothing.
    ADUMBRA_CLOSURE_KIND_EMPTY = 0,
    /// What `make_closure` made.
    ADUMBRA_CLOSURE_KIND_LEAF = 1,
    /// The sum of `left` and `right`.
    ADUMBRA_CLOSURE_KIND_ADD = 2,
    /// `left`, times a number, which stands in `weight` three times.
    ADUMBRA_CLOSURE_KIND_SCALE = 3,
    /// `left`, times a colour, which is `weight`.
    ADUMBRA_CLOSURE_KIND_TINT = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraClosureKind AdumbraClosureKind;
#else
typedef uint32_t AdumbraClosureKind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Who compiles a program that is evaluated by `ADUMBRA_TIER_AUTO`, and thereby when.
enum AdumbraCompileWhen
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// A thread of the library's own, one for the process, while evaluators go on interpreting. It ends with the process, so a library that was loaded while the
    /// process ran must not be unloaded once there was such an evaluator.
    ADUMBRA_COMPILE_WHEN_BACKGROUND = 0,
    /// The evaluator that finds that it is time, at once: its batch begins later.
    ADUMBRA_COMPILE_WHEN_AT_ONCE = 1,
    /// Nobody.
    ADUMBRA_COMPILE_WHEN_NEVER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraCompileWhen AdumbraCompileWhen;
#else
typedef uint32_t AdumbraCompileWhen;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// A point of a quad.
enum AdumbraCorner
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The first point.
    ADUMBRA_CORNER_UPPER_LEFT = 0,
    /// One to the right of the first.
    ADUMBRA_CORNER_UPPER_RIGHT = 1,
    /// One below the first.
    ADUMBRA_CORNER_LOWER_LEFT = 2,
    /// One to the right and one below.
    ADUMBRA_CORNER_LOWER_RIGHT = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraCorner AdumbraCorner;
#else
typedef uint32_t AdumbraCorner;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Where derivatives come from.
enum AdumbraDerivatives
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// From shadows beside the values.
    ADUMBRA_DERIVATIVES_DUAL = 0,
    /// From nowhere: all are zero.
    ADUMBRA_DERIVATIVES_OFF = 1,
    /// From the neighbours in a quad of points, of each point's own row and column.
    ADUMBRA_DERIVATIVES_QUAD_FINE = 2,
    /// From one row and one column of the quad, those that meet in the upper left point.
    ADUMBRA_DERIVATIVES_QUAD_COARSE = 3,
    /// The same for the upper right point.
    ADUMBRA_DERIVATIVES_QUAD_COARSE_UPPER_RIGHT = 4,
    /// The same for the lower left point.
    ADUMBRA_DERIVATIVES_QUAD_COARSE_LOWER_LEFT = 5,
    /// The same for the lower right point.
    ADUMBRA_DERIVATIVES_QUAD_COARSE_LOWER_RIGHT = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraDerivatives AdumbraDerivatives;
#else
typedef uint32_t AdumbraDerivatives;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What evaluates. All engines give the same bits.
enum AdumbraEngine
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The usual one.
    ADUMBRA_ENGINE_POINT = 0,
    /// A slow one that the others are measured by. It needs a program made from text.
    ADUMBRA_ENGINE_REFERENCE = 1,
    /// The one for batches, one point at a time.
    ADUMBRA_ENGINE_BATCH = 2,
    /// The usual one with machine code, where `adumbra_tier_is_available` says that `ADUMBRA_TIER_NATIVE` is there.
    ADUMBRA_ENGINE_NATIVE = 3,
    /// The one that suits: for single points the usual one.
    ADUMBRA_ENGINE_AUTO = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraEngine AdumbraEngine;
#else
typedef uint32_t AdumbraEngine;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Whom a text is for.
enum AdumbraFormat
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// People.
    ADUMBRA_FORMAT_TEXT = 0,
    /// Programs: one JSON value.
    ADUMBRA_FORMAT_JSON = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraFormat AdumbraFormat;
#else
typedef uint32_t AdumbraFormat;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// What a program has several of.
enum AdumbraList
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// What comes out.
    ADUMBRA_LIST_OUTPUTS = 0,
    /// What the host may set for a material.
    ADUMBRA_LIST_PARAMETERS = 1,
    /// What the host fills for every point.
    ADUMBRA_LIST_GLOBALS = 2,
    /// Textures that may be sampled, by the numbers that requests have.
    ADUMBRA_LIST_TEXTURES = 3,
    /// Closures that may be made, by the numbers that leaves have in `shape`.
    ADUMBRA_LIST_CLOSURES = 4,
    /// Resources that closures are given, by the numbers that stand for them.
    ADUMBRA_LIST_RESOURCES = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraList AdumbraList;
#else
typedef uint32_t AdumbraList;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Value, ddx or ddy.
enum AdumbraPart
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// What it is.
    ADUMBRA_PART_VALUE = 0,
    /// Its change per pixel along x.
    ADUMBRA_PART_DDX = 1,
    /// Its change per pixel along y.
    ADUMBRA_PART_DDY = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraPart AdumbraPart;
#else
typedef uint32_t AdumbraPart;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// How bad a finding is.
enum AdumbraSeverity
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// There is a program, or a result, perhaps not what was wanted.
    ADUMBRA_SEVERITY_WARNING = 0,
    /// There is none.
    ADUMBRA_SEVERITY_ERROR = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraSeverity AdumbraSeverity;
#else
typedef uint32_t AdumbraSeverity;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// Who computes the rows of a program, all else being the same: the results too, to the bit.
enum AdumbraTier
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// The batch interpreter: no time goes into compiling.
    ADUMBRA_TIER_INTERPRETER = 0,
    /// Machine code that is compiled for the program. x86-64 with AVX2 and FMA, or aarch64.
    ADUMBRA_TIER_NATIVE = 1,
    /// The interpreter first, and machine code once the program has been evaluated at many points, if it is measured to be faster. Where there is no machine code,
    /// the interpreter.
    ADUMBRA_TIER_AUTO = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraTier AdumbraTier;
#else
typedef uint32_t AdumbraTier;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// A type of the shading language.
enum AdumbraType
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /// `bool`: 0 or 1 in four bytes.
    ADUMBRA_TYPE_BOOL = 0,
    /// `int`: 32 bits.
    ADUMBRA_TYPE_INT = 1,
    /// `uint`: 32 bits.
    ADUMBRA_TYPE_UINT = 2,
    /// `float`: 32 bits.
    ADUMBRA_TYPE_FLOAT = 3,
    /// `float2`.
    ADUMBRA_TYPE_FLOAT2 = 4,
    /// `float3`, which is also `color`.
    ADUMBRA_TYPE_FLOAT3 = 5,
    /// `float4`.
    ADUMBRA_TYPE_FLOAT4 = 6,
    /// `float2x2`, row by row.
    ADUMBRA_TYPE_FLOAT2X2 = 7,
    /// `float3x3`, row by row.
    ADUMBRA_TYPE_FLOAT3X3 = 8,
    /// `float4x4`, row by row.
    ADUMBRA_TYPE_FLOAT4X4 = 9,
    /// A closure, by its number; 0 is the empty one.
    ADUMBRA_TYPE_CLOSURE = 10,
    /// A resource of the host, by its number among the program's.
    ADUMBRA_TYPE_RESOURCE = 11,
    /// A texture.
    ADUMBRA_TYPE_TEXTURE = 12,
    /// An array, element by element.
    ADUMBRA_TYPE_ARRAY = 13,
    /// A struct, member by member.
    ADUMBRA_TYPE_STRUCT = 14,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AdumbraType AdumbraType;
#else
typedef uint32_t AdumbraType;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/// One thread's means to evaluate an instance at hundreds of points at once. Each shows, to the bit, what it shows alone. What came out can be read until
/// the next evaluation.
typedef struct AdumbraBatchEvaluator AdumbraBatchEvaluator;

/// The globals of a batch: of every scalar of every global its values, and those of its ddx and ddy, either the same for all points or from a plane of the
/// caller's. Zero for all points until set.
///
/// Planes are not copied: they are read while points are evaluated, and must be there whenever that happens with this handle; in between they may be
/// written, as from one tile of a picture to the next.
typedef struct AdumbraBatchGlobals AdumbraBatchGlobals;

/// The closures that a host knows, with their parameters. A compiler that has such a list refuses shaders that make others, or give them other arguments.
typedef struct AdumbraClosures AdumbraClosures;

/// Compiles texts for a host with certain globals. Several threads may compile with it at once.
typedef struct AdumbraCompiler AdumbraCompiler;

/// One thread's means to evaluate an instance at single points. What came out can be read until the next evaluation.
typedef struct AdumbraEvaluator AdumbraEvaluator;

/// Errors and warnings of a compilation, or faults of a point, with the texts that they speak of.
typedef struct AdumbraFindings AdumbraFindings;

/// A program with values for its parameters: a material. Evaluators take a copy, so what is set later does not reach them.
typedef struct AdumbraInstance AdumbraInstance;

/// The globals that a host fills for every point, in order: names and types.
///
/// In memory each stands as its value, its ddx and its ddy, one behind the other without gaps: numbers of four bytes, a bool as 0 or 1. An int, uint or
/// bool has room for derivatives, too, which nobody reads. So globals are a C struct of floats and integers:
/// `struct Hit { float uv[3][2]; float normal[3][3]; int32_t bounce[3]; }` has `uv[0]` as the value of a float2, `uv[1]` as its ddx, `uv[2]` as its ddy.
typedef struct AdumbraLayout AdumbraLayout;

/// A shader in an object file that `adumbra aot` wrote, with its bytecode and machine code. The header that goes with the file declares it.
typedef struct AdumbraObjectShader AdumbraObjectShader;

/// A point that waits for a texture apart from any evaluator. Freeing it gives the point up.
typedef struct AdumbraParkedPoint AdumbraParkedPoint;

/// A compiled shader. It never changes, and any number of threads may use it at once.
typedef struct AdumbraProgram AdumbraProgram;

/// Where an answer of a loader goes.
typedef struct AdumbraReply AdumbraReply;

/// The texts of one compilation. The first holds the shader, the others what it may use.
typedef struct AdumbraSources AdumbraSources;

/// A member of a host's struct of globals, to be compared with a layout: `{"uv", ADUMBRA_TYPE_FLOAT2, offsetof(struct Hit, uv)}`. A list has them one behind the
/// other, so this struct never grows.
typedef struct AdumbraMember {
    /// The global that it is to be.
    const char *name;
    /// The `AdumbraType` of its value, behind which ddx and ddy follow.
    uint32_t type;
    /// Bytes from the start of the struct to its value.
    size_t offset;
} AdumbraMember;

/// Answers with a text by `adumbra_reply`, and 0; or with the reason why there is none, for people, and another number.
typedef uint32_t (*AdumbraLoad)(void *user, const char *name, const char *from, struct AdumbraReply *reply);

/// Where included texts come from. Callbacks must return.
typedef struct AdumbraLoader {
    /// Bytes of this struct.
    uint32_t size;
    /// Handed to the callbacks.
    void *user;
    /// Says what the text is called that `from` includes as `name`: the same for the same text. NULL if it is called as it is included.
    AdumbraLoad resolve;
    /// Gives the text of that name; `from` is NULL.
    AdumbraLoad load;
} AdumbraLoader;

/// What a compiler is asked for. Zero everywhere is the usual.
typedef struct AdumbraCompilerOptions {
    /// Bytes of this struct.
    uint32_t size;
    /// An `AdumbraDerivatives`.
    uint32_t derivatives;
    /// An `AdumbraAtDivergence`.
    uint32_t at_divergence;
    /// 1 if the host reads the derivatives of outputs. Else none is computed for its sake, and they read as 0.
    uint32_t output_derivatives;
    /// 1 for one body of each function, whoever calls it.
    uint32_t merge_demand;
    /// The name of the shader, if texts have several; or NULL.
    const char *shader;
    /// The closures that the host knows; NULL to let shaders make any.
    const struct AdumbraClosures *closures;
} AdumbraCompilerOptions;

/// One finding. The texts live as long as the findings.
typedef struct AdumbraFinding {
    /// Bytes of this struct.
    uint32_t size;
    /// Its `AdumbraSeverity`.
    uint32_t severity;
    /// Its code, as in `E0201`.
    const char *code;
    /// What is wrong, in one sentence.
    const char *message;
    /// How to mend it, or NULL.
    const char *help;
    /// The name of the text that it speaks of; `<bytecode>` for a program that was loaded.
    const char *file;
    /// The first byte of the place in the text.
    uint32_t start;
    /// The first byte behind it.
    uint32_t end;
    /// Its line, counted from 1; 0 if the text is not known.
    uint32_t line;
    /// Its column in characters, counted from 1; 0 if the text is not known.
    uint32_t column;
} AdumbraFinding;

/// Something named of a program. The texts live as long as the program.
typedef struct AdumbraVariable {
    /// Bytes of this struct.
    uint32_t size;
    /// Its `AdumbraType`.
    uint32_t type;
    /// Its name; of a member of a struct, the name of the whole.
    const char *name;
    /// Its type as the language writes it.
    const char *type_name;
    /// How many scalars stand before it in its list. A global begins at byte 12 * first of the globals.
    size_t first;
    /// How many scalars it has; of a closure, those of all its arguments.
    size_t scalars;
    /// Of globals, whether the program reads it; 1 for others.
    uint32_t is_read;
} AdumbraVariable;

/// How large a program is, and how long it took to make.
typedef struct AdumbraStats {
    /// Bytes of this struct.
    uint32_t size;
    /// 1 if points are evaluated in quads.
    uint32_t in_quads;
    /// Microseconds from text to program; 0 for one that was loaded.
    double compile_microseconds;
    /// Instructions of the intermediate representation; 0 for a program that was loaded.
    uint64_t ir_ops;
    /// Instructions of the register machine.
    uint64_t bytecode_ops;
    /// Bytes of the program as a file.
    uint64_t bytecode_bytes;
    /// Derivatives that instructions compute, counted per instruction and direction.
    uint64_t lanes;
    /// Words of registers, arrays and outputs.
    uint64_t registers;
    /// Bytes of the program in memory.
    uint64_t memory;
} AdumbraStats;

/// How far points may go before they are stopped, and how many may wait for textures. Zero is the usual limit.
typedef struct AdumbraLimits {
    /// Bytes of this struct.
    uint32_t size;
    /// Functions that may be active at once.
    uint32_t call_depth;
    /// Turns of loops and calls of a point.
    uint64_t steps;
    /// Array elements that active functions may hold together.
    uint64_t array_elements;
    /// Nodes and argument words of a point's closures.
    uint32_t closure_size;
    /// Points of one evaluator that may be parked at once.
    uint32_t parked;
    /// Bytes that these may take together.
    uint64_t parked_bytes;
} AdumbraLimits;

/// How an evaluator is to be. Zero everywhere is the usual.
typedef struct AdumbraEvaluatorOptions {
    /// Bytes of this struct.
    uint32_t size;
    /// An `AdumbraEngine`.
    uint32_t engine;
    /// What bounds points; may be NULL.
    const struct AdumbraLimits *limits;
} AdumbraEvaluatorOptions;

/// What a point wants from a texture: where, and how both coordinates change towards the next pixel along x and y.
typedef struct AdumbraSampleRequest {
    /// Bytes of this struct.
    uint32_t size;
    /// Which texture, by its number among the program's.
    uint32_t texture;
    /// Which point asks: its number in the batch, 0 to 3 in a quad, 0 for a point alone. 0 also where it is read what an evaluator or a parked point waits for.
    size_t point;
    /// Coordinate along the texture's width; the image spans 0 to 1.
    float u;
    /// Coordinate along its height.
    float v;
    /// du/dx, per pixel.
    float dudx;
    /// du/dy, per pixel.
    float dudy;
    /// dv/dx, per pixel.
    float dvdx;
    /// dv/dy, per pixel.
    float dvdy;
    /// The level of detail that the shader asks for itself, if `has_level`; the four changes are 0 then.
    float level;
    /// 1 if the shader asks for a level of detail itself.
    uint32_t has_level;
    /// 1 if the point is evaluated for its neighbours alone; 0 where it is read what an evaluator or a parked point waits for.
    uint32_t is_helper;
} AdumbraSampleRequest;

/// Writes red, green, blue, alpha, and gives an `AdumbraAnswer`.
typedef uint32_t (*AdumbraSample)(void *user, const struct AdumbraSampleRequest *request, float *texel);

/// What many points of a batch want from a texture at one place of the shader: each field of the requests as a row of `count` numbers.
typedef struct AdumbraSampleBatch {
    /// Bytes of this struct.
    uint32_t size;
    /// Which texture, by its number among the program's.
    uint32_t texture;
    /// How many points ask.
    size_t count;
    /// Which: their numbers in the batch, rising.
    const size_t *points;
    /// Coordinates along the texture's width; the image spans 0 to 1.
    const float *u;
    /// Coordinates along its height.
    const float *v;
    /// du/dx, per pixel.
    const float *dudx;
    /// du/dy, per pixel.
    const float *dudy;
    /// dv/dx, per pixel.
    const float *dvdx;
    /// dv/dy, per pixel.
    const float *dvdy;
    /// The levels of detail that the shader asks for itself; NULL if it does not.
    const float *level;
} AdumbraSampleBatch;

/// Writes red, green, blue, alpha for each point, one behind the other, and for each an `AdumbraAnswer` into `answers`, which are `ADUMBRA_ANSWER_READY` before.
typedef void (*AdumbraSampleMany)(void *user, const struct AdumbraSampleBatch *batch, float *texels, uint8_t *answers);

/// Takes a message that a point gives with `printf`; `text` ends with NUL and has `length` bytes before it.
typedef void (*AdumbraTakeMessage)(void *user, size_t point, const char *text, size_t length);

/// Gives a number other than 0 if the point is to be stopped. It is asked every thousand steps or so.
typedef uint32_t (*AdumbraIsCancelled)(void *user);

/// What an evaluation asks its host. All may be NULL: then textures are white, messages are lost, and nobody loses patience.
///
/// Callbacks run on the thread that evaluates, and must return: no exceptions, no `longjmp`. The floating-point mode is the library's while they run; one
/// that changes it gives it back.
typedef struct AdumbraHost {
    /// Bytes of this struct.
    uint32_t size;
    /// Handed to the callbacks.
    void *user;
    /// Answers one request.
    AdumbraSample sample;
    /// Answers the requests of many points at once. If it is NULL, or for helpers of quads, `sample` is asked for each.
    AdumbraSampleMany sample_many;
    /// Takes messages.
    AdumbraTakeMessage message;
    /// Says when it has been too long.
    AdumbraIsCancelled is_cancelled;
} AdumbraHost;

/// A node of a closure tree. Nodes have numbers, which mean something until the evaluator's next evaluation; 0 is the empty closure. A sum of a closure with
/// itself has the same number twice, and a loop can make a tree thousands of nodes deep: walk it with a stack of your own.
typedef struct AdumbraClosure {
    /// Bytes of this struct.
    uint32_t size;
    /// Its `AdumbraClosureKind`.
    uint32_t kind;
    /// Of a leaf, which closure of the program it is, by its number in `ADUMBRA_LIST_CLOSURES`.
    uint32_t shape;
    /// Of a leaf, how many scalars its arguments have together.
    uint32_t arguments;
    /// Number of the first, or only, closure below.
    uint32_t left;
    /// Of a sum, number of the second one.
    uint32_t right;
    /// What the closure below is multiplied by; 1 of others.
    float weight[3];
} AdumbraClosure;

/// A leaf of a closure tree, with all that it is multiplied by on the way to it. A list has them one behind the other, so this struct never grows.
typedef struct AdumbraLeaf {
    /// The product of all numbers and colours on the way to it; their sum, if it is reached along several ways.
    float weight[3];
    /// Which closure of the program it is, by its number in `ADUMBRA_LIST_CLOSURES`.
    uint32_t shape;
    /// The scalars of its arguments, all one behind the other: numbers of four bytes, until the evaluator's next evaluation. A closure among them is a
    /// number, which has leaves of its own.
    const uint32_t *arguments;
    /// How many these are.
    uint32_t count;
    /// The number of its node.
    uint32_t number;
} AdumbraLeaf;

/// How a batch evaluator is to be. Zero everywhere is the usual.
typedef struct AdumbraBatchOptions {
    /// Bytes of this struct.
    uint32_t size;
    /// The most points at once, up to 1024; 0 for what suits the program.
    uint32_t width;
    /// What bounds each point; may be NULL.
    const struct AdumbraLimits *limits;
    /// `baseline`, `avx2` or `avx512`; NULL for what the environment names in `ADUMBRA_SIMD`, else the best.
    const char *simd;
    /// Names of globals whose values are the same for all points of a call.
    const char *const *uniform;
    /// How many these are.
    size_t uniform_count;
    /// An `AdumbraTier`.
    uint32_t tier;
    /// With `ADUMBRA_TIER_AUTO`: an `AdumbraCompileWhen`.
    uint32_t compile_when;
    /// With `ADUMBRA_TIER_AUTO`: the program is compiled once so many of its points were evaluated; 0 for the usual number.
    uint64_t compile_after;
} AdumbraBatchOptions;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The version of the library, as in `0.1.0`. The text lives for ever.
const char *adumbra_version(void);

/// The `ADUMBRA_API` that the library was built with: at least that of the header that a host was compiled with, or functions are missing.
uint32_t adumbra_api(void);

/// What a status means, for people; "no status" for other numbers. The text lives for ever.
const char *adumbra_status_text(uint32_t status);

/// Makes a layout without globals.
AdumbraStatus adumbra_layout_new(struct AdumbraLayout **layout);

/// Makes a layout of the six float3 that a renderer knows of a hit point: uvw, position, normal, gnormal, I, tangent.
AdumbraStatus adumbra_layout_new_hit(struct AdumbraLayout **layout);

/// Adds a global behind the others: `type` is an `AdumbraType`, a number, a vector or a matrix. Compilers that were made before do not see it.
AdumbraStatus adumbra_layout_add(struct AdumbraLayout *layout,
                                 const char *name,
                                 uint32_t type);

/// Says that the derivatives of a global are never set: they stay 0, and a shader that asks for one is warned.
AdumbraStatus adumbra_layout_shadowless(struct AdumbraLayout *layout, const char *name);

/// The bytes of the globals of one point: what `sizeof` of the host's struct should be.
AdumbraStatus adumbra_layout_bytes(const struct AdumbraLayout *layout, size_t *bytes);

/// Compares a struct of the host, of so many bytes, with the globals: names, types, offsets and size. If anything differs the status is
/// `ADUMBRA_STATUS_WRONG_GLOBALS`, and findings, where they are wanted, say which member, and which global was probably meant.
AdumbraStatus adumbra_layout_check(const struct AdumbraLayout *layout,
                                   const struct AdumbraMember *members,
                                   size_t count,
                                   size_t bytes,
                                   struct AdumbraFindings **findings);

/// The global that a name probably means which is none, as a text that ends with NUL; a name that is one means itself. `ADUMBRA_STATUS_UNKNOWN_NAME` says that
/// none is near. `needed`, unless it is NULL, is its length with that NUL, also if the buffer is too small.
AdumbraStatus adumbra_layout_closest(const struct AdumbraLayout *layout,
                                     const char *name,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *needed);

/// Makes a layout of the globals that a program has, as of one that was loaded: to compare a struct with it, or to compile other shaders for the same globals.
AdumbraStatus adumbra_program_layout(const struct AdumbraProgram *program,
                                     struct AdumbraLayout **layout);

/// Frees a layout.
void adumbra_layout_free(struct AdumbraLayout *layout);

/// Makes a list without closures.
AdumbraStatus adumbra_closures_new(struct AdumbraClosures **closures);

/// Adds a closure with so many parameters: names, and an `AdumbraType` each. Compilers that were made before do not see it.
AdumbraStatus adumbra_closures_add(struct AdumbraClosures *closures,
                                   const char *name,
                                   const char *const *parameter_names,
                                   const uint32_t *parameter_types,
                                   size_t parameters);

/// Frees a list of closures.
void adumbra_closures_free(struct AdumbraClosures *closures);

/// Answers a loader's callback, within it: a text of so many bytes, which is copied, or one that ends with NUL if the length is `ADUMBRA_TO_NUL`.
AdumbraStatus adumbra_reply(struct AdumbraReply *reply,
                            const char *text,
                            size_t length);

/// Makes a compilation of one text of so many bytes, which is copied, or one that ends with NUL if the length is `ADUMBRA_TO_NUL`; `name` is what findings
/// call it.
AdumbraStatus adumbra_sources_new(const char *name,
                                  const char *text,
                                  size_t length,
                                  struct AdumbraSources **sources);

/// Adds a text whose functions, structs and constants the first may use.
AdumbraStatus adumbra_sources_add(struct AdumbraSources *sources, const char *name, const char *text, size_t length);

/// Adds all texts that these include and that are not there already. If one cannot be loaded nothing is added, and findings, where they are wanted,
/// say which.
AdumbraStatus adumbra_sources_include(struct AdumbraSources *sources,
                                      const struct AdumbraLoader *loader,
                                      struct AdumbraFindings **findings);

/// Frees texts. Programs that were made of them keep what they need.
void adumbra_sources_free(struct AdumbraSources *sources);

/// Makes a compiler for a host with these globals, or without any if `layout` is NULL; `options` may be NULL.
AdumbraStatus adumbra_compiler_new(const struct AdumbraLayout *layout,
                                   const struct AdumbraCompilerOptions *options,
                                   struct AdumbraCompiler **compiler);

/// Makes a program of a shader. The errors, or the warnings, go to `findings`, which is NULL afterwards if there is nothing to say; a host that does not
/// want to know gives NULL for the place.
AdumbraStatus adumbra_compile(const struct AdumbraCompiler *compiler,
                              const struct AdumbraSources *sources,
                              struct AdumbraProgram **program,
                              struct AdumbraFindings **findings);

/// The same of one text, which is not copied by the caller: of so many bytes, or one that ends with NUL if the length is `ADUMBRA_TO_NUL`.
AdumbraStatus adumbra_compile_text(const struct AdumbraCompiler *compiler,
                                   const char *name,
                                   const char *text,
                                   size_t length,
                                   struct AdumbraProgram **program,
                                   struct AdumbraFindings **findings);

/// Frees a compiler.
void adumbra_compiler_free(struct AdumbraCompiler *compiler);

/// How many findings there are.
AdumbraStatus adumbra_findings_count(const struct AdumbraFindings *findings, size_t *count);

/// One of the findings, in the order found.
AdumbraStatus adumbra_findings_get(const struct AdumbraFindings *findings,
                                   size_t index,
                                   struct AdumbraFinding *finding);

/// All findings: by `format`, an `AdumbraFormat`, the reports that the command prints, or a JSON array of what it prints with `--json`. The text ends with NUL,
/// and `needed`, unless it is NULL, is its length with that NUL, also if the buffer is too small.
AdumbraStatus adumbra_findings_text(const struct AdumbraFindings *findings,
                                    uint32_t format,
                                    char *buffer,
                                    size_t capacity,
                                    size_t *needed);

/// Frees findings.
void adumbra_findings_free(struct AdumbraFindings *findings);

/// How many there are in a list of the program, which is an `AdumbraList`.
AdumbraStatus adumbra_program_count(const struct AdumbraProgram *program, uint32_t list, size_t *count);

/// One of a list of the program, which is an `AdumbraList`.
AdumbraStatus adumbra_program_variable(const struct AdumbraProgram *program,
                                       uint32_t list,
                                       size_t index,
                                       struct AdumbraVariable *variable);

/// One of a list of the program by its name; in outputs and parameters also a member of one that is a struct, as in `ray.origin`.
AdumbraStatus adumbra_program_find(const struct AdumbraProgram *program,
                                   uint32_t list,
                                   const char *path,
                                   struct AdumbraVariable *variable);

/// What a path probably means that is none of a list of the program, an `AdumbraList`, as a text that ends with NUL; a path that is one means itself.
/// `ADUMBRA_STATUS_UNKNOWN_NAME` says that none is near. `needed`, unless it is NULL, is its length with that NUL, also if the buffer is too small.
AdumbraStatus adumbra_program_closest(const struct AdumbraProgram *program,
                                      uint32_t list,
                                      const char *path,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *needed);

/// A parameter of a closure that the program may make; its `name` is empty, its `first` counts the scalars before it among the arguments.
AdumbraStatus adumbra_program_closure_parameter(const struct AdumbraProgram *program,
                                                size_t closure,
                                                size_t index,
                                                struct AdumbraVariable *variable);

/// Inputs, outputs and textures as the JSON that `adumbra info --json` prints, with defaults and metadata. It ends with NUL, and `needed`, unless it is NULL,
/// is its length with that NUL, also if the buffer is too small.
AdumbraStatus adumbra_program_json(const struct AdumbraProgram *program,
                                   char *buffer,
                                   size_t capacity,
                                   size_t *needed);

/// The figures of the program. Asking costs about as much as writing it to a file.
AdumbraStatus adumbra_program_stats(const struct AdumbraProgram *program, struct AdumbraStats *stats);

/// The program as a file: the same bytes on every machine, for this version of the library. `needed`, unless it is NULL, is their number, also if the buffer
/// is too small.
AdumbraStatus adumbra_program_save(const struct AdumbraProgram *program,
                                   uint8_t *buffer,
                                   size_t capacity,
                                   size_t *needed);

/// Makes a program of a file. Any bytes may be given: they are checked in full.
AdumbraStatus adumbra_program_load(const uint8_t *bytes,
                                   size_t length,
                                   struct AdumbraProgram **program,
                                   struct AdumbraFindings **findings);

/// Frees a program. Instances that were made of it live on.
void adumbra_program_free(struct AdumbraProgram *program);

/// Makes a program of a shader that was compiled ahead of time, which has to stay for as long as the process. Evaluators whose engine or tier is native run
/// its machine code.
AdumbraStatus adumbra_program_from_object(const struct AdumbraObjectShader *shader,
                                          struct AdumbraProgram **program,
                                          struct AdumbraFindings **findings);

/// Makes an instance. Every parameter has the shader's default, or is zero.
AdumbraStatus adumbra_instance_new(const struct AdumbraProgram *program, struct AdumbraInstance **instance);

/// Sets a parameter, or a member of one that is a struct, as in `ray.origin`: all of its scalars, `count` numbers of four bytes, which are all of one type,
/// `ADUMBRA_TYPE_FLOAT`, `_INT`, `_UINT` or `_BOOL` (0 is false, all others are true).
AdumbraStatus adumbra_instance_set(struct AdumbraInstance *instance,
                                   const char *path,
                                   uint32_t scalar,
                                   const void *values,
                                   size_t count);

/// Frees an instance. Evaluators that were made of it live on.
void adumbra_instance_free(struct AdumbraInstance *instance);

/// Makes an evaluator; `options` may be NULL.
AdumbraStatus adumbra_evaluator_new(const struct AdumbraInstance *instance,
                                    const struct AdumbraEvaluatorOptions *options,
                                    struct AdumbraEvaluator **evaluator);

/// Evaluates one point, whose globals stand in so many bytes as the layout says. A point that waits here is given up. `host` and `outcome` may be NULL.
///
/// If points are evaluated in quads, this is the upper left one; its neighbours' globals are its own plus their derivatives.
AdumbraStatus adumbra_evaluator_evaluate(struct AdumbraEvaluator *evaluator,
                                         const void *globals,
                                         size_t bytes,
                                         const struct AdumbraHost *host,
                                         AdumbraOutcome *outcome);

/// Evaluates the four points of a quad, row by row from the upper left one: `globals` are four addresses of so many bytes each, `helpers` four numbers,
/// other than 0 for points that are evaluated for their neighbours alone, or NULL. What comes out is read of one after the other by `adumbra_evaluator_show`;
/// `outcome` is that of the first.
AdumbraStatus adumbra_evaluator_evaluate_quad(struct AdumbraEvaluator *evaluator,
                                              const void *const *globals,
                                              size_t bytes,
                                              const uint8_t *helpers,
                                              const struct AdumbraHost *host,
                                              AdumbraOutcome *outcome);

/// Says of which point of the quad, an `AdumbraCorner`, is read from here on until the next evaluation; `outcome` is that point's, or NULL.
AdumbraStatus adumbra_evaluator_show(struct AdumbraEvaluator *evaluator,
                                     uint32_t corner,
                                     AdumbraOutcome *outcome);

/// Reads value, ddx or ddy (`part` is an `AdumbraPart`) of `count` scalars of the outputs from the one numbered `first`, as `adumbra_program_find` says of an
/// output: numbers of four bytes. A closure is a number to read its tree by.
AdumbraStatus adumbra_evaluator_read(const struct AdumbraEvaluator *evaluator,
                                     uint32_t part,
                                     size_t first,
                                     size_t count,
                                     void *to);

/// How many different things went wrong in the last evaluation.
AdumbraStatus adumbra_evaluator_fault_count(const struct AdumbraEvaluator *evaluator, size_t *count);

/// What went wrong in the last evaluation, as findings, which may be none.
AdumbraStatus adumbra_evaluator_faults(const struct AdumbraEvaluator *evaluator, struct AdumbraFindings **findings);

/// A node of a closure tree of the last evaluation by its number; one that there is not is empty.
AdumbraStatus adumbra_evaluator_closure(const struct AdumbraEvaluator *evaluator,
                                        uint32_t number,
                                        struct AdumbraClosure *closure);

/// The scalars of the arguments of a leaf, all one behind the other: numbers of four bytes. `needed`, unless it is NULL, is how many, also if the buffer
/// is too small.
AdumbraStatus adumbra_evaluator_closure_arguments(const struct AdumbraEvaluator *evaluator,
                                                  uint32_t number,
                                                  void *to,
                                                  size_t capacity,
                                                  size_t *needed);

/// The leaves of a closure tree as a flat list, each once, with the product of all that it is multiplied by; what is multiplied by 0 is left out. `needed`, unless
/// it is NULL, is how many there are, also if the buffer is too small.
AdumbraStatus adumbra_evaluator_leaves(const struct AdumbraEvaluator *evaluator,
                                       uint32_t number,
                                       struct AdumbraLeaf *leaves,
                                       size_t capacity,
                                       size_t *needed);

/// A whole closure tree as a text: by `format`, an `AdumbraFormat`, as the language would write it, or as JSON. `ADUMBRA_STATUS_SIZE` says that it has too many
/// nodes to be written. The text ends with NUL, and `needed`, unless it is NULL, is its length with that NUL, also if the buffer is too small.
AdumbraStatus adumbra_evaluator_closure_text(const struct AdumbraEvaluator *evaluator,
                                             uint32_t number,
                                             uint32_t format,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *needed);

/// What the point asks that waits here.
AdumbraStatus adumbra_evaluator_request(const struct AdumbraEvaluator *evaluator, struct AdumbraSampleRequest *request);

/// Goes on with the point that waits here: `texel` is red, green, blue, alpha. All that follows has the bits that it would have had if nobody had waited.
AdumbraStatus adumbra_evaluator_answer(struct AdumbraEvaluator *evaluator,
                                       const float *texel,
                                       const struct AdumbraHost *host,
                                       AdumbraOutcome *outcome);

/// Moves the point that waits out of the evaluator, which is then free for other points.
AdumbraStatus adumbra_evaluator_park(struct AdumbraEvaluator *evaluator, struct AdumbraParkedPoint **parked);

/// Goes on with a parked point as `adumbra_evaluator_answer` does, on any evaluator of the same instance, engine and limits. With `ADUMBRA_STATUS_OK` the
/// parked point is used up and freed; else it waits as before.
AdumbraStatus adumbra_evaluator_resume(struct AdumbraEvaluator *evaluator,
                                       struct AdumbraParkedPoint *parked,
                                       const float *texel,
                                       const struct AdumbraHost *host,
                                       AdumbraOutcome *outcome);

/// Bytes that the evaluator takes beside its program.
AdumbraStatus adumbra_evaluator_memory(const struct AdumbraEvaluator *evaluator, size_t *bytes);

/// Frees an evaluator. One that is being used, as by the callback that calls this, is not freed.
void adumbra_evaluator_free(struct AdumbraEvaluator *evaluator);

/// What the point waits for.
AdumbraStatus adumbra_parked_point_request(const struct AdumbraParkedPoint *parked,
                                           struct AdumbraSampleRequest *request);

/// Gives a parked point up.
void adumbra_parked_point_free(struct AdumbraParkedPoint *parked);

/// Makes the globals of a batch for a program: all zero.
AdumbraStatus adumbra_batch_globals_new(const struct AdumbraProgram *program, struct AdumbraBatchGlobals **globals);

/// Takes value, ddx or ddy (`part` is an `AdumbraPart`) of one scalar of a global from a plane of `count` numbers of four bytes: that of the first point, then
/// every `stride`th one. With a stride of 0 all points have the first.
AdumbraStatus adumbra_batch_globals_plane(struct AdumbraBatchGlobals *globals,
                                          const char *name,
                                          uint32_t part,
                                          size_t scalar,
                                          const void *plane,
                                          size_t count,
                                          size_t stride);

/// Sets value, ddx or ddy (`part` is an `AdumbraPart`) of a global, the same for all points: all of its scalars, `count` numbers of four bytes, which
/// are copied.
AdumbraStatus adumbra_batch_globals_same(struct AdumbraBatchGlobals *globals,
                                         const char *name,
                                         uint32_t part,
                                         const void *values,
                                         size_t count);

/// Takes all globals from an array of so many points' globals, each as `adumbra_evaluator_evaluate` takes those of one.
AdumbraStatus adumbra_batch_globals_points(struct AdumbraBatchGlobals *globals, const void *array, size_t points);

/// Frees the globals of a batch. Its planes are the caller's. Those that are being used, as by the callback that calls this, are not freed.
void adumbra_batch_globals_free(struct AdumbraBatchGlobals *globals);

/// Whether an `AdumbraTier` is there for this processor: 1, or 0. Evaluators that are to use one that is not get `ADUMBRA_STATUS_UNAVAILABLE`, as they do for
/// `ADUMBRA_TIER_NATIVE` together with the instructions `baseline`.
AdumbraStatus adumbra_tier_is_available(uint32_t tier,
                                        uint32_t *available);

/// Makes a batch evaluator; `options` may be NULL.
AdumbraStatus adumbra_batch_evaluator_new(const struct AdumbraInstance *instance,
                                          const struct AdumbraBatchOptions *options,
                                          struct AdumbraBatchEvaluator **evaluator);

/// The most points that one evaluation may have.
AdumbraStatus adumbra_batch_evaluator_width(const struct AdumbraBatchEvaluator *evaluator, size_t *width);

/// Who computed the rows of the last evaluation, or will compute those of the first: `ADUMBRA_TIER_INTERPRETER` or `ADUMBRA_TIER_NATIVE`.
AdumbraStatus adumbra_batch_evaluator_tier(const struct AdumbraBatchEvaluator *evaluator,
                                           uint32_t *tier);

/// The name of the instructions that it uses, which lives for ever.
AdumbraStatus adumbra_batch_evaluator_simd(const struct AdumbraBatchEvaluator *evaluator, const char **name);

/// Evaluates points `first` to `first + points` of a batch, no more than the width; none at all wherever `first` is. Points that wait here are given up.
/// `host` may be NULL.
///
/// If points are evaluated in quads, each four are one, row by row from the upper left; `helpers` then tells by a number other than 0 which of
/// the `points` are evaluated for their neighbours alone. It may be NULL, and must be for other programs.
AdumbraStatus adumbra_batch_evaluator_evaluate(struct AdumbraBatchEvaluator *evaluator,
                                               const struct AdumbraBatchGlobals *globals,
                                               size_t first,
                                               size_t points,
                                               const uint8_t *helpers,
                                               const struct AdumbraHost *host);

/// How far each point of the last evaluation came. `needed`, unless it is NULL, is how many points there were, also if the buffer is too small.
AdumbraStatus adumbra_batch_evaluator_outcomes(const struct AdumbraBatchEvaluator *evaluator,
                                               AdumbraOutcome *outcomes,
                                               size_t capacity,
                                               size_t *needed);

/// Copies value, ddx or ddy (`part` is an `AdumbraPart`) of one scalar of the outputs, numbered as `adumbra_program_find` says of an output, for all points of
/// the last evaluation: to every `stride`th number of a plane of `capacity` numbers of four bytes. What stands between them stays.
AdumbraStatus adumbra_batch_evaluator_copy(const struct AdumbraBatchEvaluator *evaluator,
                                           uint32_t part,
                                           size_t scalar,
                                           void *plane,
                                           size_t capacity,
                                           size_t stride);

/// The points of the last evaluation at which something went wrong. `needed`, unless it is NULL, is how many there are, also if the buffer is too small.
AdumbraStatus adumbra_batch_evaluator_faulty(const struct AdumbraBatchEvaluator *evaluator,
                                             size_t *points,
                                             size_t capacity,
                                             size_t *needed);

/// What went wrong at a point of the last evaluation, numbered from its first one, as findings, which may be none.
AdumbraStatus adumbra_batch_evaluator_faults(const struct AdumbraBatchEvaluator *evaluator,
                                             size_t point,
                                             struct AdumbraFindings **findings);

/// A node of a closure tree of a point of the last evaluation, as `adumbra_evaluator_closure` shows one.
AdumbraStatus adumbra_batch_evaluator_closure(const struct AdumbraBatchEvaluator *evaluator,
                                              size_t point,
                                              uint32_t number,
                                              struct AdumbraClosure *closure);

/// The scalars of the arguments of a leaf of a point, as `adumbra_evaluator_closure_arguments` gives them.
AdumbraStatus adumbra_batch_evaluator_closure_arguments(const struct AdumbraBatchEvaluator *evaluator,
                                                        size_t point,
                                                        uint32_t number,
                                                        void *to,
                                                        size_t capacity,
                                                        size_t *needed);

/// The leaves of a closure tree of a point as a flat list, as `adumbra_evaluator_leaves` gives them.
AdumbraStatus adumbra_batch_evaluator_leaves(const struct AdumbraBatchEvaluator *evaluator,
                                             size_t point,
                                             uint32_t number,
                                             struct AdumbraLeaf *leaves,
                                             size_t capacity,
                                             size_t *needed);

/// A whole closure tree of a point as a text, as `adumbra_evaluator_closure_text` writes it.
AdumbraStatus adumbra_batch_evaluator_closure_text(const struct AdumbraBatchEvaluator *evaluator,
                                                   size_t point,
                                                   uint32_t number,
                                                   uint32_t format,
                                                   char *buffer,
                                                   size_t capacity,
                                                   size_t *needed);

/// The points of the last evaluation that wait for textures. `needed`, unless it is NULL, is how many there are, also if the buffer is too small.
AdumbraStatus adumbra_batch_evaluator_waiting(const struct AdumbraBatchEvaluator *evaluator,
                                              size_t *points,
                                              size_t capacity,
                                              size_t *needed);

/// What a point asks that waits, numbered from the first one of the evaluation; in the request it has its number in the batch.
AdumbraStatus adumbra_batch_evaluator_request(const struct AdumbraBatchEvaluator *evaluator,
                                              size_t point,
                                              struct AdumbraSampleRequest *request);

/// Goes on with a point that waits, alone or with its quad: `texel` is red, green, blue, alpha. `host` and `outcome` may be NULL.
AdumbraStatus adumbra_batch_evaluator_answer(struct AdumbraBatchEvaluator *evaluator,
                                             size_t point,
                                             const float *texel,
                                             const struct AdumbraHost *host,
                                             AdumbraOutcome *outcome);

/// Moves a point that waits out of the evaluator, with its quad if it stands in one. It goes on in any `AdumbraEvaluator` of the same instance and
/// limits, with the engine `ADUMBRA_ENGINE_POINT`.
AdumbraStatus adumbra_batch_evaluator_park(struct AdumbraBatchEvaluator *evaluator,
                                           size_t point,
                                           struct AdumbraParkedPoint **parked);

/// Bytes that the evaluator takes beside its program.
AdumbraStatus adumbra_batch_evaluator_memory(const struct AdumbraBatchEvaluator *evaluator, size_t *bytes);

/// Frees a batch evaluator. One that is being used, as by the callback that calls this, is not freed.
void adumbra_batch_evaluator_free(struct AdumbraBatchEvaluator *evaluator);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ADUMBRA_H */
