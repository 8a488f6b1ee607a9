//! A line of numbers in sysfs (kernel Documentation/block/stat.rst; the sectors there are always 512 bytes).

use std::fs::File;

use super::totals::Counters;
use crate::block::{Node, SECTOR};
use crate::error::{DeviceError, shown};
use crate::sysroot::Sysroot;
use crate::system;

/// The counters of one device, open.
#[derive(Debug)]
pub(super) struct Source {
    path: String,
    file: File,
}

impl Source {
    pub(super) fn open(sysroot: &Sysroot, name: &str) -> Result<Self, DeviceError> {
        let path = match Node::by_name(sysroot, name) {
            Some(node) => node.dir.join("stat"),
            None => sysroot.path("/sys/class/block").join(name).join("stat"),
        };
        let file = File::open(&path).map_err(|error| DeviceError::from_io(&path, error))?;
        Ok(Self { path: shown(&path), file })
    }

    pub(super) fn read(&self) -> Result<Counters, DeviceError> {
        let mut buffer = [0u8; 512];
        let unreadable = |source| DeviceError::Unreadable { path: self.path.clone(), source };
        let length = system::read_at(&self.file, &mut buffer, 0).map_err(unreadable)?;
        let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default());
        parse(&text).ok_or_else(|| unreadable(std::io::ErrorKind::InvalidData.into()))
    }
}

/// Fields: reads, merged, sectors, ms; writes, merged, sectors, ms; in flight, busy ms, queue ms;
/// discards ×4 (4.18); flushes, ms (5.5).
fn parse(text: &str) -> Option<Counters> {
    let fields: Vec<u64> = text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let field = |index: usize| fields.get(index).copied();
    Some(Counters {
        read_bytes: field(2)?.wrapping_mul(SECTOR),
        written_bytes: field(6)?.wrapping_mul(SECTOR),
        read_ops: field(0)?,
        write_ops: field(4)?,
        flush_ops: field(15).unwrap_or(0),
        busy_ms: field(9)?,
        in_flight: field(8)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_stat_lines_are_read() {
        let new =
            parse("  56705 10670 5900794 16314 31669 18465 3535152 10751 2 10300 27871 1 2 3 4 4395 155").unwrap();
        assert_eq!(new.read_bytes, 5_900_794 * 512);
        assert_eq!(new.written_bytes, 3_535_152 * 512);
        assert_eq!(
            (new.read_ops, new.write_ops, new.in_flight, new.busy_ms, new.flush_ops),
            (56705, 31669, 2, 10300, 4395)
        );
        assert_eq!(parse("1 0 8 1 2 0 16 3 0 4 5").unwrap().flush_ops, 0);
        assert_eq!(parse("1 0 8"), None);
        assert_eq!(parse("all wrong"), None);
    }
}
