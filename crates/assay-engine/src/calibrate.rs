//! The instrument's own cost on this host.

use std::time::Duration;

use assay_core::workload::{Op, Pattern, Stop, Sync, Workload};

use crate::contract::EngineKind;
use crate::control::Control;
use crate::repeat::{RepeatSpec, run_repeat};

/// What the null engine does here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NullCost {
    /// Nanoseconds per operation, histogram and sampling on.
    pub ns_per_operation: f64,
}

/// Runs the null engine for `length`: random 4 KiB reads, 32 in flight, one thread.
#[must_use]
pub fn null_cost(length: Duration) -> NullCost {
    let workload = Workload {
        name: "null".to_owned(),
        op: Op::Read,
        read_percent: None,
        pattern: Pattern::Random,
        block_bytes: 4096,
        queue_depth: 32,
        jobs: 1,
        span_bytes: 1 << 30,
        direct: true,
        sync: Sync::End,
        stop: Stop {
            ramp_ns: 1_000_000,
            duration_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX),
            max_bytes: None,
        },
    };
    let report = run_repeat(
        &RepeatSpec {
            workload,
            engine: EngineKind::Null,
            target: None,
            seed: 1,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(30),
            sample_every: Duration::from_secs(1),
        },
        &Control::default(),
        &mut |_| std::ops::ControlFlow::Continue(()),
    );
    NullCost { ns_per_operation: 1e9 / report.iops.max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A nanosecond is beyond any processor, a millisecond beyond any load.
    #[test]
    fn an_operation_of_nothing_takes_between_a_nanosecond_and_a_millisecond() {
        let cost = null_cost(Duration::from_millis(30)).ns_per_operation;
        assert!((1.0..1e6).contains(&cost), "{cost} ns");
    }
}
