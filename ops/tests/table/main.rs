//! The op table, tested by enumeration: a new op is tested without further code.
//!
//! `values` compares f32 values with their specs, `partials` derivative rules with differences of
//! the specs. `kinks` has the policy at exceptional points, `mutation` tests the checks themselves,
//! `words` the ops without derivative, `definitions` the data of ops.

mod definitions;
mod draw;
mod kinks;
mod mutation;
mod partials;
mod values;
mod words;
