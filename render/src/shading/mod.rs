//! Materials evaluated in batches, their closures as lobes, direct light and paths.
