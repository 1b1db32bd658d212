//! The op table, tested by enumeration: a new row arrives tested.
//!
//! `values` holds f32 values against their specs, `partials` derivative rules against differences of the specs, `kinks` the policy at
//! exceptional points, `mutation` shows that those checks bite, `words` the rows without derivative, `rows` the data of rows.

mod draw;
mod kinks;
mod mutation;
mod partials;
mod rows;
mod values;
mod words;
