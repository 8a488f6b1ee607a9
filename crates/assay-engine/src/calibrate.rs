//! The instrument's own cost on this host.

use std::time::Duration;

use assay_core::units::nanoseconds;
use assay_core::workload::{Op, Pattern, Stop, Workload};

use crate::contract::EngineKind;
use crate::control::Control;
use crate::repeat::run_repeat;
use crate::spec::RepeatSpec;

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
        queue_depth: 32,
        span_bytes: 1 << 30,
        stop: Stop { ramp_ns: 1_000_000, duration_ns: nanoseconds(length), max_bytes: None },
        ..Workload::new("null", Op::Read, Pattern::Random, 4096)
    };
    let report = run_repeat(
        EngineKind::Null,
        &RepeatSpec {
            workload,
            target: None,
            seed: 1,
            repeat: 0,
            repeats: 1,
            hang_after: Duration::from_secs(30),
            sample_every: Duration::from_secs(1),
            wait_for: None,
            begin_at_ns: None,
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
