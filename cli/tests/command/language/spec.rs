//! The index of the language's specification: each row, and the programs that show it. Refused
//! programs are in `tests/diagnostics`.
//!
//! The rows are copied by hand, shortened, from the first version of the specification. The tests
//! see that each row names programs, and that each program is named. A row that the specification
//! gains is added here.

use super::support::{path, programs};

/// Sentences about types and conversions.
const TYPES: &[(&str, &[&str])] = &[
    (
        "names of float vectors convert by call",
        &["aliases_convert_by_call"],
    ),
    (
        "a user's declaration hides them",
        &["user_types_hide_aliases"],
    ),
    ("float w[8], float[8] w", &["array_declarations"]),
    ("arrays of anything", &["nested_arrays"]),
    ("matrices are m[row][col]", &["matrices"]),
    ("structs", &["structs", "nested_structs"]),
    (
        "int to float by itself, whole constants to int, bool by + and -",
        &["conversions"],
    ),
    ("C casts", &["casts"]),
    ("int and float as conditions", &["int_as_condition"]),
    ("int is 32-bit two's complement", &["int_arithmetic"]),
    (
        "uint wraps, shifts and compares without sign",
        &["uint_arithmetic"],
    ),
    (
        "(int)f truncates, saturates, NaN gives 0",
        &["int_of_float"],
    ),
    ("float is IEEE binary32", &["float_arithmetic"]),
    ("min, max, clamp", &["min_max"]),
    (
        "round, sign, step, select, mod, fmod",
        &["rounding_functions"],
    ),
    ("NaN results are one quiet NaN", &["nan_leaves_canonical"]),
];

/// Sentences and rows about programs.
const PROGRAM: &[(&str, &[&str])] = &[
    ("overloads", &["overloads"]),
    ("prototypes defined later", &["prototypes"]),
    ("positional calls bind left to right", &["left_to_right"]),
    ("file-scope constants and arrays", &["file_scope"]),
    ("a file without a shader is a library", &["library"]),
    ("statements", &["statements"]),
    ("switch", &["switch"]),
    ("expressions", &["expressions"]),
    ("swizzles", &["swizzles"]),
    ("comma in for headers", &["comma_in_for"]),
    ("&&, || and ?: short-circuit", &["short_circuit"]),
    (
        "a name after global_value and the like, and one >",
        &["keywords_with_names"],
    ),
    ("int as condition", &["int_as_condition"]),
    (
        "loop condition with a side effect",
        &["condition_with_side_effect"],
    ),
    ("recursion", &["recursion"]),
    ("default arguments, also not last", &["default_arguments"]),
    ("default on an out parameter", &["default_on_out"]),
    ("metadata", &["metadata"]),
    ("qualifiers", &["qualifiers"]),
    ("out read back", &["out_read_back"]),
    (
        "out never written keeps its default or 0, of a shader",
        &["default_on_out"],
    ),
    // The specification says the same of functions: see `docs/decisions/0049-out-parameters.md`.
    (
        "out never written keeps its default or what the caller had, of a function",
        &["out_read_back"],
    ),
    ("struct member as an out argument", &["member_as_out"]),
    (
        "array initialiser shorter than the array",
        &["short_initialiser"],
    ),
    (
        "nested structs, struct return, struct at each use",
        &["nested_structs"],
    ),
    (
        "user names equal to built-ins shadow them",
        &["user_names_shadow"],
    ),
    ("vector and scalar, both orders", &["vector_and_scalar"]),
    ("vector set by component", &["vector_by_component"]),
    ("closure arithmetic", &["closures"]),
    ("host globals", &["host_globals"]),
    ("texture and alpha", &["textures"]),
    (
        "explicit gradients and level, pair",
        &["explicit_footprints"],
    ),
    ("host resource as closure parameter", &["resources"]),
    ("messages, which never block derivatives", &["messages"]),
    ("literals", &["literals"]),
    ("comments anywhere", &["comments"]),
    ("shadowing of parameters and globals", &["shadowing"]),
    ("declaration as an unbraced body", &["unbraced_declaration"]),
    (
        "names starting with _; local named like its function",
        &["names"],
    ),
    ("file shapes", &["several_shaders", "library"]),
    ("faults that shading survives", &["faults_survived"]),
    (
        "faults that stop the point",
        &["fault_step_budget", "fault_call_depth"],
    ),
];

/// The table of derivatives, and sentences around it.
const DERIVATIVES: &[(&str, &[&str])] = &[
    ("-a, a±b, a·b, a/b", &["derivatives_of_arithmetic"]),
    ("sin cos tan", &["derivatives_of_sine"]),
    ("asin acos atan atan2", &["derivatives_of_arcs"]),
    ("sinh cosh tanh", &["derivatives_of_hyperbolics"]),
    ("asinh acosh atanh", &["derivatives_of_inverse_hyperbolics"]),
    ("rcp copysign", &["derivatives_of_reciprocals"]),
    (
        "exp exp2 log log2 log10 sqrt rsqrt cbrt pow",
        &["derivatives_of_powers"],
    ),
    (
        "abs floor ceil round trunc sign step fract mod fmod",
        &["derivatives_of_steps"],
    ),
    (
        "min max clamp saturate mix smoothstep select hypot",
        &["derivatives_of_choices"],
    ),
    (
        "dot cross length distance normalize reflect refract faceforward",
        &["derivatives_of_geometry"],
    ),
    (
        "kinks and edges; a zero shadow where the partial is infinite",
        &["derivatives_at_kinks", "derivatives_past_infinity"],
    ),
    ("along the executed path", &["derivatives_through_branches"]),
    (
        "ddx of vectors and of structs' members",
        &["derivatives_of_vectors"],
    ),
    (
        "a derivative of a derivative is 0, never silently",
        &["second_order"],
    ),
    (
        "texture results have zero shadows",
        &["textures_have_no_shadows"],
    ),
    (
        "branches ask apart; --merge-demand",
        &["ternaries_ask_apart"],
    ),
    ("--derivatives off", &["derivatives_off"]),
];

/// Refused programs, each with its own code, span and help.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "unknown names, with a suggestion",
        &[
            "unknown_name",
            "unknown_name_suggestion",
            "undefined_function",
            "unknown_function",
            "unknown_type",
            "unknown_member",
            "unknown_global",
            "unknown_texture",
            "input_in_function",
            "follows_from_unknown_type",
        ],
    ),
    (
        "wrong types",
        &[
            "float_to_int",
            "fraction_to_int",
            "wrong_argument_type",
            "vector_sizes",
            "void_value",
            "ternary_types",
            "array_to_float",
            "shift_of_float",
            "struct_compared",
            "vector_as_condition",
            "closure_as_condition",
        ],
    ),
    (
        "wrong counts",
        &[
            "wrong_argument_count",
            "constructor_count",
            "too_many_initialisers",
            "default_before_required",
        ],
    ),
    (
        "writing a const",
        &[
            "const_written",
            "const_parameter_written",
            "const_array_written",
            "assigned_input",
        ],
    ),
    (
        "redeclaring in one scope",
        &[
            "redeclared",
            "local_named_parameter",
            "parameter_twice",
            "struct_member_twice",
            "function_twice",
        ],
    ),
    (
        "a missing return on some path",
        &["missing_return", "missing_return_in_loop"],
    ),
    ("recursion on every path", &["endless_recursion"]),
    (
        "break outside a loop",
        &["break_outside", "continue_outside"],
    ),
    (
        "a recursive struct",
        &["recursive_struct", "indirect_recursive_struct"],
    ),
    ("an ambiguous overload", &["ambiguous_overload"]),
    (
        "a call of a function that hides the library's",
        &["hidden_overload"],
    ),
    ("a shader without outputs", &["output_forgotten"]),
    (
        "out arguments that are not places",
        &["out_argument_not_a_place", "out_argument_type"],
    ),
    (
        "a function declared but never defined",
        &["external_function"],
    ),
    (
        "ddx, ddy of an int or bool, of closures, of too much",
        &[
            "ddx_of_int",
            "ddy_of_bool",
            "ddx_of_closure",
            "ddx_of_array",
        ],
    ),
    (
        "closures in arithmetic that is not + or scaling",
        &[
            "closure_minus",
            "closure_product",
            "closure_divided",
            "closure_compared",
            "closure_from_number",
        ],
    ),
    ("a chained comparison", &["chained_comparison"]),
    ("a type as an argument", &["type_as_argument"]),
    (
        "binary arithmetic on bool",
        &["bool_arithmetic", "modulo_of_bool", "increment_of_bool"],
    ),
    ("double, int2", &["double_refused", "int_vector_refused"]),
    (
        "a cast to what is no keyword type",
        &["cast_of_alias", "cast_of_vector"],
    ),
    (
        "a derivative of a function that is not marked, or that loses a gradient",
        &["lost_gradient", "unmarked_method"],
    ),
    (
        "a derivative that is zero by rule",
        &["derivative_of_texture", "second_order"],
    ),
    (
        "a derivative from neighbours that may have diverged",
        &["quad_divergent"],
    ),
    (
        "what other languages have",
        &[
            "foreign_functions",
            "foreign_glsl",
            "foreign_globals",
            "foreign_osl",
            "foreign_types",
            "foreign_values",
            "array_by_call",
            "array_of_vectors_by_call",
            "foreign_numbers",
            "future_features",
            "gradient_calls",
            "macro_matrix",
            "older_slang",
            "osl_selectors",
            "static_variable",
            "texture_initialiser",
            "alpha_of_sample",
            "constant_buffer",
            "constructor_in_struct",
            "macro_constants",
            "method_call",
            "qualifier_after_parameter",
            "sample_as_method",
            "coloured_closure",
            "vector_in_parentheses",
            "output_parameter",
            "mul_by_number",
            "metadata_in_brackets",
            "name_without_angles",
            "preprocessor",
            "directive",
            "group_as_shader",
        ],
    ),
    (
        "includes that cannot be",
        &[
            "include_in_a_body",
            "include_in_brackets",
            "include_not_found",
        ],
    ),
    (
        "sources that are not of the grammar",
        &[
            "bad_number",
            "uint_literal_too_large",
            "unknown_character",
            "unterminated_comment",
            "missing_brace",
            "missing_parenthesis",
            "missing_semicolon",
            "struct_without_semicolon",
            "nested_too_deep",
            "two_errors_in_two_functions",
            "misspelt_keyword",
            "capitalised_keyword",
            "call_without_parentheses",
        ],
    ),
    (
        "names used as what they are not",
        &[
            "call_of_variable",
            "shader_called",
            "shader_as_value",
            "texture_as_value",
            "many_shaders",
        ],
    ),
    (
        "arrays: their sizes, elements and initialisers",
        &[
            "array_arithmetic",
            "array_assigned_sizes",
            "array_no_length",
            "array_size_float",
            "array_too_large",
            "constant_index",
            "index_not_int",
            "index_of_scalar",
        ],
    ),
    (
        "arrays sized while shading, as wholes",
        &[
            "run_time_array_list",
            "run_time_array_passed",
            "run_time_length",
        ],
    ),
    (
        "members and swizzles that are not there",
        &[
            "member_of_float",
            "bad_swizzle",
            "twice_in_swizzle",
            "not_a_place",
        ],
    ),
    ("matrices", &["matrix_count", "matrix_product"]),
    (
        "what must be constant",
        &[
            "constant_of_global",
            "default_of_parameter",
            "constant_cycle",
        ],
    ),
    (
        "switch",
        &[
            "switch_labels",
            "switch_over_float",
            "switch_can_end_without_return",
            "continue_in_switch",
        ],
    ),
    (
        "returns that do not fit",
        &["return_value_from_void", "return_without_value"],
    ),
    (
        "types where they cannot be",
        &[
            "void_variable",
            "resource_in_struct",
            "unknown_shader_param",
            "closure_argument",
            "vector_times_closure_vector2",
        ],
    ),
    ("textures' coordinates", &["sample_arguments"]),
    ("messages", &["messages"]),
    ("metadata", &["metadata"]),
    ("blocks to be left out, and hooks", &["eliminable_blocks"]),
];

/// The rows whose files are missing, or that have none.
fn missing(folder: &str, rows: &[(&str, &[&str])]) -> Vec<String> {
    let mut missing = Vec::new();
    for (row, files) in rows {
        if files.is_empty() {
            missing.push(format!("nothing shows: {row}"));
        }
        for file in *files {
            if !path(&format!("{folder}/{file}.adu")).is_file() {
                missing.push(format!("{row}: {folder}/{file}.adu is missing"));
            }
        }
    }
    missing
}

/// The programs of a folder that no row names.
fn unnamed(folder: &str, rows: &[&[(&str, &[&str])]]) -> Vec<String> {
    let mut unnamed = Vec::new();
    for file in programs(folder) {
        let name = file.file_stem().and_then(|s| s.to_str()).expect("a name");
        let mut named = rows.iter().copied().flatten();
        if !named.any(|(_, files)| files.contains(&name)) {
            unnamed.push(format!("no row names {folder}/{name}.adu"));
        }
    }
    unnamed
}

#[test]
fn every_specification_row_has_programs() {
    let shown = [TYPES, PROGRAM, DERIVATIVES];
    let mut wrong: Vec<String> = shown
        .iter()
        .flat_map(|rows| missing("lang/spec", rows))
        .collect();
    wrong.extend(missing("diagnostics", REFUSED));
    wrong.extend(unnamed("lang/spec", &shown));
    wrong.extend(unnamed("diagnostics", &[REFUSED]));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
