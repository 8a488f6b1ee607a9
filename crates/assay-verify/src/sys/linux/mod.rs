//! Linux.

mod device;
mod extents;
mod host;
mod journal;
mod medium;

pub(crate) use device::{
    block_bytes, cached_device_under, device_bytes, device_under, gone, has_checksums, is_gone, is_program,
    open_to_read, still_there,
};
pub(crate) use extents::extents;
pub(crate) use host::{carriers, file_system, may_write};
pub(crate) use journal::{create, free_bytes, is_volatile, open, reserve, same_disk, sync_names};
pub(crate) use medium::{CACHED_DOUBT, READ_CACHED, forget, reserve_place, set_aside, settle};
