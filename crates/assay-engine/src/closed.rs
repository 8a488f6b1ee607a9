//! The hot loop: a closed load from its first operation to the last. As soon as one is done the next begins, so that as
//! many as asked for are in flight. What of it is measured is in the module `window`.

use crate::address::Places;
use crate::batching::Chooser;
use crate::contract::{Completion, Engine};
use crate::job::{JobReport, JobSpec};
use crate::pauses::Pauses;
use crate::window::{Pause, Window};
use crate::work::{Begun, Work};

/// Runs a job on its engine until duration, quota, a failure or `stop` ends it. Everything that the window needs is
/// allocated before it.
pub(crate) fn drive<E: Engine>(engine: &mut E, places: impl Into<Places>, spec: &JobSpec<'_>) -> JobReport {
    let JobSpec { workload, depth, clock, live, .. } = *spec;
    let mut work: Work<'_, u64> = Work::new(places, spec);
    let mut pauses = Pauses::new(workload.think);
    let mut batches = Chooser::new(depth, workload.stop.ramp_ns, spec.wait_for, spec.votes.clone());
    let mut window = Window::new(spec, &pauses);
    let mut now = window.start();
    loop {
        // Refill.
        let before = now;
        let issuing = !window.is_closed() && work.failure.is_none();
        let mut done_at_once: Option<Completion> = None;
        while issuing && work.issued < pauses.next_at && !work.exhausted() {
            let ahead = spec.flow.as_ref().is_some_and(|flow| work.has_room() && !flow.admits());
            if ahead {
                break;
            }
            match work.begin(engine, || now) {
                Begun::InFlight => {}
                Begun::Not => break,
                Begun::Done(completion) => {
                    done_at_once = Some(completion);
                    break;
                }
            }
        }
        let in_flight = work.in_flight();
        if in_flight == 0 {
            if issuing && !work.exhausted() && pauses.take(work.issued, spec.stop) {
                window.burst_ended();
                now = clock.now();
                continue;
            }
            // Ahead of the others: they end all when they end.
            if let (Some(flow), true, false) = (&spec.flow, issuing, work.over()) {
                flow.wait(spec.stop);
                now = clock.now();
                continue;
            }
            break;
        }

        // Wait, and take all that is done. One look at the clock for the whole batch.
        let mut seen = 0u64;
        let mut finish = |completion: Completion| {
            if seen == 0 {
                seen = clock.now();
            }
            if let Some(flight) = work.land(completion) {
                let latency = seen - flight.times;
                live.latency(latency);
                work.count(&flight, latency);
            }
        };
        match done_at_once {
            Some(completion) => finish(completion),
            None => {
                if let Err(error) = engine.reap(batches.wait_for, &mut finish) {
                    work.lost(&error);
                    break;
                }
            }
        }
        if seen == 0 {
            continue;
        }
        live.publish(work.totals, work.sum_ns);
        now = window.after(Pause { began: before, ended: seen, in_flight }, &work, &mut batches);
    }
    live.publish(work.totals, work.sum_ns);
    window.report(now, &work, batches.chosen())
}

#[cfg(test)]
#[path = "closed_tests.rs"]
mod tests;
