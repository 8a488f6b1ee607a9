//! Options of mount(8), as the kernel lists them.

use super::known::Known;
use super::name::{Key, Kind};

/// Options whose values are addresses (nfs(5), mount.cifs(8)).
const ADDRESSES: [&str; 5] = ["addr", "clientaddr", "mountaddr", "ip", "srcaddr"];

/// Options whose values are words or numbers of a file system's own, and change results (ext4(5), xfs(5),
/// btrfs(5), f2fs of the kernel's documentation, nfs(5), mount.cifs(8), vfat of mount(8)).
const PLAIN: [&str; 61] = [
    "acregmax",
    "acregmin",
    "acdirmax",
    "acdirmin",
    "actimeo",
    "active_logs",
    "alloc_mode",
    "allocsize",
    "background_gc",
    "barrier",
    "cache",
    "checkpoint",
    "codepage",
    "commit",
    "compress",
    "compress-force",
    "compress_algorithm",
    "data",
    "dax",
    "delalloc",
    "discard_unit",
    "dmask",
    "errors",
    "extent_cache",
    "fmask",
    "fsync_mode",
    "gid",
    "inode_readahead_blks",
    "inode64",
    "iocharset",
    "local_lock",
    "logbsize",
    "logbufs",
    "lookupcache",
    "mode",
    "mountproto",
    "mountvers",
    "namlen",
    "nconnect",
    "nr_inodes",
    "port",
    "prjquota",
    "proto",
    "quota",
    "retrans",
    "rsize",
    "sec",
    "shortname",
    "size",
    "soft",
    "space_cache",
    "stripe",
    "subvolid",
    "sunit",
    "swidth",
    "timeo",
    "uid",
    "vers",
    "wsize",
    "atime_quantum",
    "min_batch_time",
];

/// The redacted option: a flag and a plain value are kept, an address gets a short name, and of any other option only
/// the name is kept. `None` where even the name is not plain.
pub(super) fn redacted(option: &str, known: &Known, key: &Key) -> Option<String> {
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let plain = |text: &str, longest: usize| {
        text.len() <= longest && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:,".contains(&b))
    };
    if name.is_empty() || !plain(name, 32) {
        return None;
    }
    let name = known.replaced(name);
    Some(match value {
        None => name,
        Some(address) if ADDRESSES.contains(&name.as_str()) => format!("{name}={}", key.name(Kind::Host, address)),
        Some(value) if PLAIN.contains(&name.as_str()) && plain(value, 40) => {
            format!("{name}={}", known.replaced(value))
        }
        Some(_) => format!("{name}=…"),
    })
}
