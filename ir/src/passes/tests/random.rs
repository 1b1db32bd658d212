//! Lineage, demand and lanes within one function.
