//! Images of results: beauty, levels, footprints, derivatives, differences.
