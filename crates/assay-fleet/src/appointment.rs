//! A start at a time of day, without a coordinator.

use std::time::Duration;

use assay_core::cluster::ClusterPart;
use assay_engine::{Control, monotonic};
use assay_runner::{Rendezvous, Start, Step, Word};

/// How often it is looked for the end of the run while waiting.
const TICK: Duration = Duration::from_millis(50);

/// The first repeat begins at one moment; the others follow as ever. How far the clocks of two hosts are apart is then for
/// those to know who set them.
#[derive(Debug)]
pub struct Appointment {
    /// By the monotonic clock, in nanoseconds.
    at_ns: Option<u64>,
}

impl Appointment {
    /// In so long from now.
    #[must_use]
    pub fn after(left: Duration) -> Self {
        Self { at_ns: Some(monotonic() + left.as_nanos() as u64) }
    }
}

impl Rendezvous for Appointment {
    fn ready(&mut self, _: Step, control: &Control) -> Word {
        let Some(at_ns) = self.at_ns.take() else { return Word::Alone };
        // The last of it is slept by who begins.
        while monotonic() + (2 * TICK + assay_runner::SET_UP).as_nanos() as u64 <= at_ns && !control.stopped() {
            std::thread::sleep(TICK);
        }
        if control.stopped() {
            return Word::Alone;
        }
        Word::Begin(Start { at_ns, planned_ns: 0, bound_ns: None, nodes: 1 })
    }

    fn part(&mut self) -> Option<ClusterPart> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_repeat_alone_has_an_appointment() {
        let (mut appointment, control) = (Appointment::after(Duration::from_millis(400)), Control::default());
        let before = monotonic();
        let step = Step { stage: 0, round: 0, workload: 0 };
        let Word::Begin(start) = appointment.ready(step, &control) else { panic!("no start") };
        assert!(start.at_ns >= before + 390_000_000 && monotonic() < start.at_ns, "{start:?}");
        assert_eq!((appointment.ready(step, &control), appointment.part()), (Word::Alone, None));
        control.stop();
        assert_eq!(Appointment::after(Duration::from_secs(3600)).ready(step, &control), Word::Alone);
    }
}
