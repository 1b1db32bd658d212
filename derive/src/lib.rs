//! `#[derive(ShaderGlobals)]`, for the root crate, which exports it beside the trait and documents
//! both there.
//!
//! The generated code is safe: a list of the members, each with its name and an accessor. The
//! facade checks the list where memory is read, so this crate need not be trusted.

mod expand;

use proc_macro::TokenStream;

/// Makes a struct the globals of a shader: implements `ShaderGlobals` for a `#[repr(C)]` struct
/// whose fields are `Dual<T>`, or `T` where there are no derivatives, with T a value that globals
/// can have.
///
/// A field is the global of its name; `#[globals(name = "N")]` gives it another: also that of a
/// seed of a gradient, `d(o)`.
#[proc_macro_derive(ShaderGlobals, attributes(globals))]
pub fn derive_shader_globals(input: TokenStream) -> TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand::shader_globals(&input));
    expanded
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
