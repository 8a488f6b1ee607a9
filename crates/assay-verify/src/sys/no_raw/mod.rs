//! Systems where raw devices are neither read nor written.

mod device;
mod extents;
mod journal;

pub(crate) use device::{block_bytes, cached_device_under, device_bytes, device_under, has_checksums, open_to_read};
pub(crate) use extents::extents;
pub(crate) use journal::{create, free_bytes, is_volatile, open, reserve, same_disk, sync_names};
