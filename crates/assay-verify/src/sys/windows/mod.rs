//! Windows, from Windows 10 on. Raw devices are neither read nor written.

mod device;
mod host;
mod medium;

pub(crate) use super::no_raw::*;
pub(crate) use device::{gone, is_gone, is_program, still_there};
pub(crate) use host::{carriers, file_system, may_write};
pub(crate) use medium::{CACHED_DOUBT, READ_CACHED, forget, reserve_place, set_aside, settle};
