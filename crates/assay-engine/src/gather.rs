//! Workloads under way: waited for, sampled, and ended where one fails or nothing completes.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::Duration;

use crate::clock::Clock;
use crate::control::Control;
use crate::job::JobReport;
use crate::sampler::{LiveSample, Sampler};
use crate::spec::{RepeatSpec, Trouble};
use crate::threads::{Answer, TICK, Threads};
use crate::timeout::Timeout;

/// A stopped repeat waits no longer than this for a medium that answers nothing.
const AFTER_STOP: Duration = Duration::from_secs(10);

/// Called with every sample and the number of its workload; may end the repeat, which then drains what is in flight
/// and counts.
pub type OnSampleOf<'a> = dyn FnMut(usize, &LiveSample) -> ControlFlow<()> + 'a;

/// What the threads of a workload came to.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) done: Vec<JobReport>,
    /// When each was done, in nanoseconds from the start.
    pub(crate) done_at: Vec<u64>,
    pub(crate) trouble: Option<Trouble>,
}

/// A workload under way.
pub(crate) struct Member<'a> {
    threads: &'a Threads,
    hang_after: Duration,
    pub(crate) sampler: Sampler<'a>,
    pub(crate) all: Gathered,
    /// Operations that were completed when it was last looked.
    completed: u64,
    silence: Timeout,
    /// It is not waited for any more.
    over: bool,
}

impl<'a> Member<'a> {
    pub(crate) fn new(threads: &'a Threads, spec: &RepeatSpec, clock: Clock, control: &'a Control) -> Self {
        Self {
            threads,
            hang_after: spec.hang_after,
            sampler: Sampler::new(&threads.lives, clock, spec.sample_every, control),
            all: Gathered::default(),
            completed: 0,
            silence: Timeout::new(spec.hang_after),
            over: false,
        }
    }

    /// Whether all of its threads came back.
    pub(crate) fn is_back(&self) -> bool {
        self.all.done.len() == self.threads.count
    }

    /// Takes what one of its threads answers.
    fn take(&mut self, answer: Result<JobReport, String>, at_ns: u64) {
        match answer {
            Ok(report) => {
                self.all.done_at.push(at_ns);
                if let Some(failure) = report.failure {
                    let (write, offset, errno) = (failure.write, failure.offset, failure.errno);
                    self.fail(Trouble::Io { write, offset, errno });
                }
                self.all.done.push(report);
                self.over |= self.is_back();
            }
            Err(message) => {
                self.all.trouble = Some(Trouble::Setup(message));
                self.over = true;
            }
        }
    }

    /// Notes what went wrong; what came before says more.
    fn fail(&mut self, trouble: Trouble) {
        self.all.trouble.get_or_insert(trouble);
        self.threads.end();
    }

    /// Gives up where nothing completes for too long.
    fn watch(&mut self, stopped: bool) {
        let operations = self.sampler.operations();
        if operations != self.completed {
            self.completed = operations;
            self.silence.restart();
        } else if self.silence.expired() {
            self.fail(Trouble::Hung { after: self.hang_after });
            self.over = true;
        } else if stopped && self.silence.waited() > AFTER_STOP {
            self.over = true;
        }
    }
}

/// Waits for all of them, with a sample now and then; for no longer where nothing completes. When the threads of one
/// have done what they had to, the others end too: its load would be missing beside them.
pub(crate) fn gather(
    members: &mut [Member<'_>],
    answers: &mpsc::Receiver<Answer>,
    clock: Clock,
    control: &Control,
    on_sample: &mut OnSampleOf<'_>,
) {
    while members.iter().any(|member| !member.over) {
        match answers.recv_timeout(TICK) {
            Ok((number, answer)) => members[number].take(answer, clock.now()),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                for member in members.iter_mut().filter(|member| !member.over) {
                    member.fail(Trouble::Setup("a worker thread ended early".to_owned()));
                }
                break;
            }
        }
        let mut ends = control.stopped();
        for (number, member) in members.iter_mut().enumerate().filter(|(_, member)| !member.over) {
            ends |= member.sampler.tick(&mut |sample| on_sample(number, sample)).is_break();
            member.watch(control.stopped());
        }
        if ends || members.iter().any(|member| member.over || member.all.trouble.is_some()) {
            members.iter().for_each(|member| member.threads.end());
        }
    }
}
