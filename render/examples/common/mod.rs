//! What the experiments share: images with their texture requests, and files of images.

#![allow(dead_code, reason = "each experiment uses a part")]

pub(crate) mod drawing;
pub(crate) mod image_file;
pub(crate) mod interior;
pub(crate) mod requests;
