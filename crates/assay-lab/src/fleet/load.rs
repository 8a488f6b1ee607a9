//! Loads that matter for the choice of a card.

use assay_core::workload::{Op, Pattern, Stop, Workload};

/// Length of a repeat.
pub(super) const REPEAT_NS: u64 = 10_000_000_000;

/// A load, and the speed of a medium under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The load.
    pub workload: Workload,
    /// Operations per second of a model with the ratio 1.
    pub iops: f64,
}

impl Load {
    /// A load at a queue depth.
    #[must_use]
    pub fn new(op: Op, pattern: Pattern, block_bytes: u64, queue_depth: u32, iops: f64) -> Self {
        let kind = |random, sequential| if pattern == Pattern::Random { random } else { sequential };
        let does = if op == Op::Read { "read" } else { "write" };
        let name = format!("{}-{does}-{}k-q{queue_depth}", kind("rand", "seq"), block_bytes >> 10);
        Self {
            workload: Workload {
                queue_depth,
                span_bytes: 256 << 20,
                stop: Stop { ramp_ns: 0, duration_ns: REPEAT_NS, max_bytes: None },
                ..Workload::new(&name, op, pattern, block_bytes)
            },
            iops,
        }
    }

    /// Random reads of 4 KiB, one at a time.
    #[must_use]
    pub fn random_read() -> Self {
        Self::new(Op::Read, Pattern::Random, 4096, 1, 1500.0)
    }

    /// Sequential reads of 1 MiB.
    #[must_use]
    pub fn sequential_read() -> Self {
        Self::new(Op::Read, Pattern::Sequential, 1 << 20, 8, 40.0)
    }

    /// The loads of class A1, each at its threshold times a factor: sequential writes, random reads, random writes.
    #[must_use]
    pub fn class_a1(factors: [f64; 3]) -> Vec<Self> {
        let [sequential, read, write] = factors;
        vec![
            Self::new(Op::Read, Pattern::Random, 4096, 32, 1500.0 * read),
            Self::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 10e6 / f64::from(1 << 20) * sequential),
            Self::new(Op::Write, Pattern::Random, 4096, 32, 500.0 * write),
        ]
    }

    /// Eight loads of a usual suite: reads and writes, sequential and random, at queue depth 1 and deeper.
    #[must_use]
    pub fn eight() -> Vec<Self> {
        vec![
            Self::sequential_read(),
            Self::random_read(),
            Self::new(Op::Read, Pattern::Random, 4096, 32, 2500.0),
            Self::new(Op::Read, Pattern::Random, 16384, 1, 1000.0),
            Self::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 20.0),
            Self::new(Op::Write, Pattern::Random, 4096, 1, 500.0),
            Self::new(Op::Write, Pattern::Random, 4096, 32, 700.0),
            Self::new(Op::Write, Pattern::Random, 16384, 1, 300.0),
        ]
    }

    /// Bytes per second at `iops` operations per second.
    pub(super) fn rate(&self, iops: f64) -> f64 {
        iops * self.workload.block_bytes as f64
    }
}
