//! Expansion of a struct to its implementation of `ShaderGlobals`, or to all errors at their spans.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result};

/// The implementation of `ShaderGlobals` for a struct.
///
/// # Errors
/// An error that keeps a struct from being globals: no named fields, generic, not `repr(C)`, an
/// unknown attribute, a name that is invalid or taken.
pub(crate) fn shader_globals(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields(input)?;
    let mut errors = Errors::default();
    if !input.generics.params.is_empty() {
        errors.add(
            &input.generics,
            "globals have one layout: the struct must not be generic",
        );
    }
    if let Err(error) = is_repr_c(input) {
        errors.push(error);
    }
    let mut names: Vec<String> = Vec::new();
    let mut members = TokenStream::new();
    for field in fields {
        let ident = field.ident.as_ref().expect("the fields are named");
        let name = match name(field) {
            Ok(name) => name,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        if names.contains(&name.value()) {
            let message = format!("there is a global `{}` already", name.value());
            errors.push(Error::new(name.span(), message));
        }
        names.push(name.value());
        let ty = &field.ty;
        // An error about the type has the type's span, also in code of a macro.
        let place = ty.span().resolved_at(Span::call_site());
        members.extend(quote_spanned! { place =>
            ::adumbra::globals::MemberVisitor::member::<#ty>(visitor, #name, |globals| &globals.#ident);
        });
    }
    errors.none()?;
    let struct_name = &input.ident;
    let types = fields.iter().map(|field| &field.ty);
    Ok(quote! {
        impl ::adumbra::ShaderGlobals for #struct_name {
            fn members<__Visitor: ::adumbra::globals::MemberVisitor<Self>>(visitor: &mut __Visitor) {
                let _ = &visitor;
                #members
            }
        }

        const _: () = assert!(
            ::core::mem::size_of::<#struct_name>() == 0 #(+ ::core::mem::size_of::<#types>())*,
            "globals have no padding between or after their members",
        );
    })
}

/// The fields of a struct that has named ones.
fn fields(input: &DeriveInput) -> Result<&syn::punctuated::Punctuated<Field, syn::Token![,]>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(&fields.named),
            _ => Err(Error::new_spanned(
                &input.ident,
                "globals are known by name: give the struct named fields",
            )),
        },
        _ => Err(Error::new_spanned(
            &input.ident,
            "only a struct can hold globals",
        )),
    }
}

/// Whether the fields keep their order.
fn is_repr_c(input: &DeriveInput) -> Result<()> {
    const HELP: &str =
        "globals lie in memory as declared: write `#[repr(C)]`, and nothing else of that kind";
    let mut reprs = input
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("repr"));
    match (reprs.next(), reprs.next()) {
        (Some(repr), None) => match repr.parse_args::<syn::Ident>() {
            Ok(ident) if ident == "C" => Ok(()),
            _ => Err(Error::new_spanned(repr, HELP)),
        },
        (Some(_), Some(second)) => Err(Error::new_spanned(second, HELP)),
        (None, _) => Err(Error::new_spanned(&input.ident, HELP)),
    }
}

/// The name of a field's global: the field's own unless `#[globals(name = "…")]` says otherwise.
fn name(field: &Field) -> Result<LitStr> {
    let mut given: Option<LitStr> = None;
    for attr in &field.attrs {
        if !attr.path().is_ident("globals") {
            continue;
        }
        attr.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("only `name = \"…\"` is known here"));
            }
            if given.is_some() {
                return Err(meta.error("the global has a name already"));
            }
            given = Some(meta.value()?.parse()?);
            Ok(())
        })?;
    }
    let ident = field.ident.as_ref().expect("the fields are named");
    let name = given.unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span()));
    let text = name.value();
    if !is_word(&text) && !is_seed(&text) {
        let message = format!(
            "`{text}` cannot be written in `global_value<…>`: a name has letters of ASCII, digits and `_`"
        );
        return Err(Error::new(name.span(), message));
    }
    Ok(name)
}

/// Whether a shader can write a name.
fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| !first.is_ascii_digit())
        && (text.bytes()).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a name is that of a seed of a gradient: `d(o)`, `d2(o)`, with members and elements of
/// `o` (`d(o.list[1])`), or of a global that has an input's name (`d(global:x)`).
fn is_seed(text: &str) -> bool {
    let parts = text.split_once('(');
    parts.is_some_and(|(order, value)| {
        let order = order.strip_prefix('d');
        let value = value.strip_suffix(')');
        let of = value.map(|value| value.strip_prefix("global:").unwrap_or(value));
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.[]".contains(&byte);
        order.is_some_and(|order| order.bytes().all(|byte| byte.is_ascii_digit()))
            && of.is_some_and(|of| {
                let starts = of
                    .bytes()
                    .next()
                    .is_some_and(|first| !first.is_ascii_digit());
                starts && (of.bytes().all(is_part) || is_seed(of))
            })
    })
}

/// Errors that are reported together.
#[derive(Default)]
struct Errors(Option<Error>);

impl Errors {
    fn add(&mut self, place: impl ToTokens, message: &str) {
        self.push(Error::new_spanned(place, message));
    }

    fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    fn none(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str) -> Vec<String> {
        let input: DeriveInput = syn::parse_str(text).expect("it is an item");
        match shader_globals(&input) {
            Ok(_) => Vec::new(),
            Err(error) => error.into_iter().map(|error| error.to_string()).collect(),
        }
    }

    #[test]
    fn members_are_listed_in_order() {
        let text = "#[repr(C)] struct Hit {
            /// Documented.
            uvw: Dual<[f32; 3]>,
            #[globals(name = \"I\")] incoming: Dual<[f32; 3]>,
            r#type: Dual<i32>,
        }";
        let tokens = shader_globals(&syn::parse_str(text).unwrap()).unwrap();
        let written = tokens.to_string().replace(' ', "");
        let places: Vec<_> = [
            "(visitor,\"uvw\",|globals|&globals.uvw)",
            "(visitor,\"I\",|globals|&globals.incoming)",
            "(visitor,\"type\",|globals|&globals.r#type)",
        ]
        .map(|member| written.find(member).expect(member))
        .into();
        assert!(places.is_sorted(), "{written}");
        assert!(!written.contains("unsafe"), "{written}");
    }

    #[test]
    fn invalid_derive_inputs_are_refused() {
        for (text, message) in [
            ("enum E { A }", "only a struct"),
            ("union U { a: u32 }", "only a struct"),
            ("#[repr(C)] struct T(Dual<f32>);", "named fields"),
            ("#[repr(C)] struct U;", "named fields"),
            ("struct S { a: Dual<f32> }", "#[repr(C)]"),
            (
                "#[repr(transparent)] struct S { a: Dual<f32> }",
                "#[repr(C)]",
            ),
            (
                "#[repr(C, align(16))] struct S { a: Dual<f32> }",
                "#[repr(C)]",
            ),
            (
                "#[repr(C)] #[repr(packed)] struct S { a: Dual<f32> }",
                "#[repr(C)]",
            ),
            (
                "#[repr(C)] struct S<T> { a: Dual<T> }",
                "must not be generic",
            ),
            (
                "#[repr(C)] struct S { #[globals(label = \"b\")] a: Dual<f32> }",
                "only `name",
            ),
            (
                "#[repr(C)] struct S { #[globals(name = 3)] a: Dual<f32> }",
                "expected string",
            ),
            (
                "#[repr(C)] struct S { #[globals(name = \"b\", name = \"c\")] a: Dual<f32> }",
                "a name already",
            ),
            (
                "#[repr(C)] struct S { #[globals(name = \"3d\")] a: Dual<f32> }",
                "`3d` cannot",
            ),
            (
                "#[repr(C)] struct S { #[globals(name = \"\")] a: Dual<f32> }",
                "`` cannot",
            ),
            ("#[repr(C)] struct S { größe: Dual<f32> }", "`größe` cannot"),
            (
                "#[repr(C)] struct S { a: Dual<f32>, #[globals(name = \"a\")] b: Dual<f32> }",
                "a global `a` already",
            ),
        ] {
            let found = errors(text);
            assert!(
                found.len() == 1 && found[0].contains(message),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn names_of_seeds_are_known() {
        for seed in ["d(o)", "d2(o)", "d(o.list[1])", "d(global:x)", "d2(d(o))"] {
            assert!(is_seed(seed), "{seed}");
        }
        for other in [
            "d", "d(", "d()", "e(o)", "dx(o)", "d(o", "d(1)", "d(o)(", "d(o p)",
        ] {
            assert!(
                !is_seed(other) && (!is_word(other) || other == "d"),
                "{other}"
            );
        }
        let text = "#[repr(C)] struct S { #[globals(name = \"d(o)\")] weight: f32 }";
        assert_eq!(errors(text), Vec::<String>::new());
    }

    #[test]
    fn all_errors_are_reported_together() {
        let text = "struct S<T> { #[globals(name = \"-\")] a: Dual<T>, #[globals(x)] b: Dual<T> }";
        assert_eq!(errors(text).len(), 4);
    }
}
