//! Where a file lies on its device, as the file system reports it.
//!
//! ext2, ext3, ext4, XFS and others answer FIEMAP (linux/fiemap.h, Documentation/filesystems/fiemap.rst). The kernel's
//! vfat and exfat answer only FIBMAP (linux/fs.h), block by block, and only to root.

use std::fs::File;

use rustix::fs::fstatfs;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::sys::Extent;

/// Btrfs answers with addresses of its own logical space, which it maps to its devices (`BTRFS_SUPER_MAGIC` of
/// linux/magic.h).
const BTRFS: u64 = 0x9123_683e;
/// `MSDOS_SUPER_MAGIC` and `EXFAT_SUPER_MAGIC` of linux/magic.h.
const FATS: [u64; 2] = [0x4d44, 0x2011_bab0];
/// Most extents: a longer map is of no use.
const MOST: usize = 1 << 20;

/// Extents per request.
const AT_ONCE: usize = 128;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// `FIEMAP_EXTENT_UNKNOWN`, `_DELALLOC`, `_ENCODED`, `_DATA_ENCRYPTED`, `_DATA_INLINE` and `_DATA_TAIL`: the data are
/// not there as they are in the file.
const ELSEWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x200 | 0x400;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    more_reserved: [u32; 3],
}

/// `struct fiemap`, with room for the answer.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [FiemapExtent; AT_ONCE],
}

/// `FS_IOC_FIEMAP`: its size is that of the head alone, 32 bytes.
const FIEMAP: Opcode = opcode::read_write::<[u8; 32]>(b'f', 11);
/// `FIBMAP` and `FIGETBSZ`.
const FIBMAP: Opcode = opcode::none(0, 1);
const FIGETBSZ: Opcode = opcode::none(0, 2);

/// Where `bytes` of a file lie; `None` if the file system does not report it in addresses of its device.
pub(crate) fn extents(file: &File, bytes: u64) -> Option<Vec<Extent>> {
    let kind = fstatfs(file).ok()?.f_type as u64;
    if kind == BTRFS {
        return None;
    }
    match fiemap(file, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOTTY) if FATS.contains(&kind) => fibmap(file, bytes),
        answer => answer.ok().flatten(),
    }
}

fn fiemap(file: &File, bytes: u64) -> Result<Option<Vec<Extent>>, Errno> {
    let (mut found, mut from) = (Vec::new(), 0);
    while from < bytes && found.len() < MOST {
        let mut request = Fiemap {
            start: from,
            length: bytes - from,
            // Without `FIEMAP_FLAG_SYNC`: written data are synced before the request.
            flags: 0,
            mapped: 0,
            room: AT_ONCE as u32,
            reserved: 0,
            extents: [FiemapExtent::default(); AT_ONCE],
        };
        // SAFETY: `FIEMAP` takes a `struct fiemap` followed by as many `struct fiemap_extent` as its
        // `fm_extent_count` says; `Fiemap` has both layouts (`repr(C)`, the fields of linux/fiemap.h in their
        // order) and room for `AT_ONCE` extents, which is the count. The kernel writes within it, for the
        // time of the call, and any bytes are values of its fields.
        let asked = unsafe { ioctl(file, Updater::<FIEMAP, Fiemap>::new(&mut request)) };
        asked?;
        let extents = &request.extents[..(request.mapped as usize).min(AT_ONCE)];
        for extent in extents {
            if extent.flags & ELSEWHERE != 0 {
                return Ok(None);
            }
            found.push(Extent { offset: extent.logical, address: extent.physical, bytes: extent.length });
        }
        match extents.last() {
            Some(last) if last.flags & LAST == 0 => from = last.logical.saturating_add(last.length).max(from + 1),
            _ => break,
        }
    }
    Ok((!found.is_empty()).then_some(found))
}

fn fibmap(file: &File, bytes: u64) -> Option<Vec<Extent>> {
    let block = u64::from(asked::<FIGETBSZ>(file, 0)?).max(512);
    // The allocation unit, which is at least a block.
    let cluster = u64::try_from(fstatfs(file).ok()?.f_bsize).ok()?.max(block) / block * block;
    let mut found: Vec<Extent> = Vec::new();
    let mut offset = 0;
    while offset < bytes && found.len() < MOST {
        let at = asked::<FIBMAP>(file, u32::try_from(offset / block).ok()?)?;
        let (address, length) = (u64::from(at) * block, cluster.min(bytes - offset));
        match found.last_mut() {
            // Block 0 means a hole.
            _ if at == 0 => return None,
            Some(last) if last.address + last.bytes == address => last.bytes += length,
            _ => found.push(Extent { offset, address, bytes: length }),
        }
        offset += cluster;
    }
    Some(found)
}

/// An ioctl that takes and returns an `int`.
fn asked<const CODE: Opcode>(file: &File, value: u32) -> Option<u32> {
    let mut number = value;
    // SAFETY: `FIBMAP` and `FIGETBSZ`, the codes that this is used with, read and write one `int` behind the
    // pointer for the time of the call (linux/fs.h); any bits are a value of `u32`.
    unsafe { ioctl(file, Updater::<CODE, u32>::new(&mut number)) }.ok()?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_kernels() {
        assert_eq!(size_of::<FiemapExtent>(), 56);
        assert_eq!(size_of::<Fiemap>(), 32 + AT_ONCE * 56);
        assert_eq!(FIEMAP, 0xc020_660b);
    }

    /// Both ways give the same answer, if a file system supports both.
    #[test]
    fn what_lies_where_is_told_alike_by_both_calls() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; 3 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let Ok(Some(extents)) = fiemap(&file, 3 << 20) else { return };
        let covered: u64 = extents.iter().map(|extent| extent.bytes).sum();
        assert!(covered >= 3 << 20 && extents[0].offset == 0, "{extents:?}");
        if let Some(blocks) = fibmap(&file, 3 << 20) {
            let address = |extents: &[Extent], offset: u64| {
                let at = extents.iter().find(|extent| (extent.offset..extent.offset + extent.bytes).contains(&offset));
                at.map(|extent| extent.address + offset - extent.offset)
            };
            for offset in (0..3 << 20).step_by(4096) {
                assert_eq!(address(&extents, offset), address(&blocks, offset), "{offset}");
            }
        }
    }
}
