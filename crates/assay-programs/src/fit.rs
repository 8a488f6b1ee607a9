//! How much of a program the medium can do within time, bytes and space.

use std::time::Duration;

use assay_core::program::Program;
use assay_core::units::Bytes;

/// Share of its time in which what a program writes has to reach the medium; the rest is for all else that it does.
const WRITING: f64 = 0.7;
/// Fewer writes than this say nothing of a stream.
const LEAST_WRITES: u32 = 16;

/// What a repeat of a program may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Time.
    pub time: Duration,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes in files at once.
    pub space_bytes: u64,
    /// How fast the medium was written before; none where that is not known.
    pub bytes_per_second: Option<f64>,
}

impl Limits {
    /// Most bytes that can be written and synced in this share of the time.
    fn durable(&self, share: f64) -> u64 {
        let by_time = self.bytes_per_second.map_or(u64::MAX, |rate| (rate * self.time.as_secs_f64() * share) as u64);
        self.write_bytes.min(by_time)
    }
}

/// The program as it can run within the limits.
///
/// # Errors
/// Why it is left out.
pub fn fit(program: &Program, limits: &Limits) -> Result<Program, String> {
    match *program {
        Program::Stream { block, count } => {
            let bytes = limits.durable(WRITING).min(limits.space_bytes);
            let fits = u32::try_from(bytes / block.0).unwrap_or(u32::MAX).min(count);
            if fits < LEAST_WRITES.min(count) {
                return Err(too_little(bytes));
            }
            Ok(Program::Stream { block, count: fits })
        }
        _ => Ok(program.clone()),
    }
}

fn too_little(bytes: u64) -> String {
    format!("time, write limit or space leave {} for it", Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_secs(20),
        write_bytes: 1 << 40,
        space_bytes: 1 << 40,
        bytes_per_second: Some(100e6),
    };

    #[test]
    fn a_stream_is_as_long_as_the_medium_can_take_it() {
        let asked = Program::Stream { block: Bytes(8192), count: 50_000 };
        assert_eq!(fit(&asked, &LIMITS).as_ref(), Ok(&asked));
        let count = |limits: Limits| match fit(&asked, &limits) {
            Ok(Program::Stream { count, .. }) => Some(count),
            _ => None,
        };
        assert_eq!(count(Limits { bytes_per_second: Some(1e6), ..LIMITS }), Some(1708), "14 s of 20 at 1 MB/s");
        assert_eq!(count(Limits { space_bytes: 8 << 20, ..LIMITS }), Some(1024));
        assert_eq!(count(Limits { write_bytes: 8 << 20, ..LIMITS }), Some(1024));
        assert_eq!(count(Limits { bytes_per_second: None, ..LIMITS }), Some(50_000));
        assert_eq!(count(Limits { write_bytes: 1000, ..LIMITS }), None);
    }
}
