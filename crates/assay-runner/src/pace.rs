//! How fast the medium has been so far, and what it can therefore do in the time there is.

use std::time::Duration;

use assay_core::arrivals::{Arrivals, MOST_IOPS, Rate};
use assay_core::cluster::Look;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_core::suite::SuiteWorkload;
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern};
use assay_engine::{AlignedBuffer, FileExt, Target, fill_unique};

use crate::look::{Looks, look_of};

/// A full queue may take this share of a repeat to drain; the rest measures.
const DRAIN_SHARE: f64 = 0.34;
/// No block is scaled below this (or the alignment, if that is larger).
const LEAST_BLOCK: u64 = 4096;
/// The block size to which the pace of a stream refers.
const STREAM_BLOCK: u64 = 1 << 20;

/// What is known of the medium's speed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pace {
    known: Vec<Known>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    op: Op,
    pattern: Pattern,
    block: u64,
    /// Seconds that one operation of this block takes at worst, at any depth.
    seconds_per_operation: f64,
    /// The same of most operations: one that waited for something else does not count.
    usual: Look,
    each_synced: bool,
}

impl Pace {
    /// Notes what a repeat or the layout came to.
    pub(crate) fn note(&mut self, op: Op, pattern: Pattern, block: u64, each_synced: bool, operations_per_second: f64) {
        if operations_per_second.is_finite() && operations_per_second > 0.0 {
            let seconds = 1.0 / operations_per_second;
            let usual = Look { seconds, operations: 0 };
            self.know(Known { op, pattern, block, seconds_per_operation: seconds, usual, each_synced });
        }
    }

    fn know(&mut self, new: Known) {
        let same =
            |k: &Known| (k.op, k.pattern, k.block, k.each_synced) == (new.op, new.pattern, new.block, new.each_synced);
        self.known.retain(|k| !same(k));
        self.known.push(new);
    }

    /// Notes how long each of some single operations took.
    fn note_looks(&mut self, op: Op, pattern: Pattern, block: u64, looks: &[Duration]) {
        let seconds: Vec<f64> = looks.iter().map(|time| time.as_secs_f64().max(1e-9)).collect();
        let Some(usual) = look_of(&seconds) else { return };
        let seconds_per_operation = seconds.iter().sum::<f64>() / seconds.len() as f64;
        self.know(Known { op, pattern, block, seconds_per_operation, usual, each_synced: false });
    }

    /// By what most operations took, for hosts that compare themselves: of a few single ones the mean is that of the one that
    /// waited for something else.
    pub(crate) fn usual(&self) -> Self {
        let usual = |known: &Known| Known { seconds_per_operation: known.usual.seconds, ..*known };
        Self { known: self.known.iter().map(usual).collect() }
    }

    /// Seconds that `operations` of this kind would take; `None` where nothing is known.
    ///
    /// The nearest known kind answers: the same pattern first, then the nearest block size. A
    /// larger block takes longer in proportion. A smaller one takes less in proportion where the
    /// stream rules, and as long where latency does (random blocks known from random blocks).
    fn seconds(&self, workload: &SuiteWorkload, block: u64, operations: u64) -> Option<f64> {
        let (nearest, factor) = self.nearest(workload, block)?;
        Some(nearest.seconds_per_operation * factor * operations as f64)
    }

    /// The nearest known kind, and by how much longer an operation of this block takes.
    fn nearest(&self, workload: &SuiteWorkload, block: u64) -> Option<(&Known, f64)> {
        let nearest = self
            .known
            .iter()
            .filter(|k| k.op == workload.op || workload.op == Op::Mixed)
            .filter(|k| k.each_synced == workload.sync.each() || !k.each_synced)
            .min_by_key(|k| {
                let distance = k.block.max(block) / k.block.min(block).max(1);
                (k.pattern != workload.pattern, k.each_synced != workload.sync.each(), distance)
            })?;
        let latency_rules = workload.pattern == Pattern::Random && nearest.pattern == Pattern::Random;
        let in_proportion = block as f64 / nearest.block as f64;
        let factor = if latency_rules { in_proportion.max(1.0) } else { in_proportion };
        Some((nearest, factor))
    }

    /// Notes how fast the test area was written, and how many seconds a byte of each piece took.
    pub(crate) fn note_layout(&mut self, bytes_per_second: f64, pieces: &[f64]) {
        let (op, pattern, block) = (Op::Write, Pattern::Sequential, STREAM_BLOCK);
        self.note(op, pattern, block, false, bytes_per_second / block as f64);
        let of_block: Vec<f64> = pieces.iter().map(|seconds| (seconds * block as f64).max(1e-9)).collect();
        let same = |known: &&mut Known| (known.op, known.pattern, known.block) == (op, pattern, block);
        if let (Some(looked), Some(known)) = (look_of(&of_block), self.known.iter_mut().find(same)) {
            // The pace is that of the whole; the pieces say how sure it is.
            known.usual = Look { seconds: known.usual.seconds, ..looked };
        }
    }

    /// Reads a little here and there, only to know whether the medium reads at a crawl.
    pub(crate) fn look_at_reads(&mut self, target: &Target, span: u64, seed: u64, looks: Looks) {
        const LARGE: u64 = 64 << 10;
        let Ok(mut buffer) = AlignedBuffer::new(LARGE as usize) else { return };
        for (pattern, block) in [(Pattern::Random, LEAST_BLOCK), (Pattern::Sequential, LARGE)] {
            let blocks = span / block;
            if blocks == 0 {
                continue;
            }
            let looked = looks.take(|look| {
                let at = seed.wrapping_mul(look * 2 + 1) % blocks * block;
                target.file().read_exact_at(&mut buffer.as_mut_slice()[..block as usize], at).is_ok()
            });
            self.note_looks(Op::Read, pattern, block, &looked);
        }
    }

    /// Writes a few random blocks of any content within the area. Returns the bytes written.
    pub(crate) fn look_at_writes(&mut self, target: &Target, span: u64, seed: u64, looks: Looks) -> u64 {
        let blocks = span / LEAST_BLOCK;
        let Some(mut buffer) = AlignedBuffer::new(LEAST_BLOCK as usize).ok().filter(|_| blocks > 0) else { return 0 };
        let looked = looks.take(|look| {
            let block = seed.wrapping_mul(look * 2 + 1) % blocks;
            fill_unique(buffer.as_mut_slice(), seed ^ look, block * LEAST_BLOCK);
            let done = target.file().write_all_at(buffer.as_slice(), block * LEAST_BLOCK);
            // A cached write is none of the medium's before it is synced.
            done.and_then(|()| if target.direct() { Ok(()) } else { target.sync() }).is_ok()
        });
        self.note_looks(Op::Write, Pattern::Random, LEAST_BLOCK, &looked);
        looked.len() as u64 * LEAST_BLOCK
    }

    /// Seconds that one operation of this workload takes, as far as is known.
    pub(crate) fn expected(&self, workload: &SuiteWorkload) -> Option<f64> {
        self.seconds(workload, workload.block.0, 1)
    }

    /// The same of most operations, and how many they were.
    pub(crate) fn usual_of(&self, workload: &SuiteWorkload) -> Option<Look> {
        let (nearest, factor) = self.nearest(workload, workload.block.0)?;
        let Look { seconds, operations } = nearest.usual;
        let look = Look { seconds: seconds * factor, operations };
        (look.seconds.is_finite() && look.seconds > 0.0).then_some(look)
    }

    /// The workload as it can run in repeats of `slot` on `span` bytes: queue depth, then jobs,
    /// then block size are reduced until a full queue drains within a third of the repeat.
    pub(crate) fn fit(&self, asked: &SuiteWorkload, slot: Duration, span: u64, alignment: u64) -> SuiteWorkload {
        let mut w = asked.clone();
        let floor = LEAST_BLOCK.max(alignment);
        // Of several sizes each stays what it is.
        let shrinks = |w: &SuiteWorkload| !w.has_sizes() && w.refined.is_empty() && w.block.0 > floor;
        while w.block.0 * u64::from(w.jobs) > span && (w.jobs > 1 || shrinks(&w)) {
            if w.jobs > 1 {
                w.jobs /= 2;
            } else {
                w.block = Bytes((w.block.0 / 2).max(floor));
            }
        }
        let limit = slot.as_secs_f64() * DRAIN_SHARE;
        loop {
            let in_flight = u64::from(w.queue_depth) * u64::from(w.jobs);
            match self.seconds(&w, w.block.0, in_flight) {
                Some(seconds) if seconds > limit => {}
                _ => break,
            }
            if w.queue_depth > 1 {
                w.queue_depth = w.queue_depth.div_ceil(2);
            } else if w.jobs > 1 {
                w.jobs /= 2;
            } else if shrinks(&w) {
                w.block = Bytes((w.block.0 / 2).max(floor));
            } else {
                break;
            }
        }
        w
    }
}

// The rate of an open loop.

/// The rate is a share of what another workload reached, which has no repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnknownRate;

/// When operations are to begin: as in the repeats before, and in the first as the suite asks for it. An error where
/// that is a share of what another workload reached, which has no repeat.
pub(crate) fn offered(
    workload: &SuiteWorkload,
    measurements: &[Measurement],
    index: usize,
) -> Result<Option<Arrivals>, UnknownRate> {
    let Some(rate) = &workload.rate else { return Ok(None) };
    let own = measurements.get(index).filter(|m| !m.repeats.is_empty());
    if let Some(before) = own.and_then(|m| m.workload.arrivals) {
        return Ok(Some(before));
    }
    let iops = match (rate.iops(workload.mean_block()), rate) {
        (Some(iops), _) => iops,
        (None, Rate::Share { percent, of }) => {
            let other = measurements.iter().find(|m| m.workload.name == *of);
            let first = other.and_then(|m| m.repeats.iter().find(|r| r.outcome == Outcome::Completed && r.iops > 0.0));
            percent / 100.0 * first.ok_or(UnknownRate)?.iops
        }
        (None, _) => return Err(UnknownRate),
    };
    let iops = iops.min(MOST_IOPS);
    Ok(Some(Arrivals { iops, process: workload.process }))
}

/// The time in which no operation of an open loop may be due, which is no hang: ten intervals are exceeded by one in
/// 22,000 of a Poisson process.
pub(crate) fn time_between(arrivals: Option<Arrivals>) -> Duration {
    arrivals.map_or(Duration::ZERO, |a| Duration::from_secs_f64((10.0 / a.iops).clamp(0.0, 86_400.0)))
}

#[cfg(test)]
mod tests {
    use assay_core::arrivals::Process;
    use assay_core::workload::{Op, Pattern};

    use super::*;
    use crate::evidence::measurement;
    use crate::samples::asked;

    const SLOT: Duration = Duration::from_secs(3);

    #[test]
    fn a_fast_medium_gets_what_was_asked_for() {
        let mut pace = Pace::default();
        pace.note(Op::Write, Pattern::Sequential, 1 << 20, false, 20.0);
        let asked = asked(Op::Write, Pattern::Sequential, 1 << 20, 8);
        assert_eq!(pace.fit(&asked, SLOT, 1 << 28, 512), asked);
        assert_eq!(Pace::default().fit(&asked, SLOT, 1 << 28, 512), asked, "nothing known yet");
    }

    #[test]
    fn twenty_kilobytes_a_second_are_scaled_down() {
        let mut pace = Pace::default();
        pace.note(Op::Write, Pattern::Sequential, 16_384, false, 20_000.0 / 16_384.0);
        let fitted = pace.fit(&asked(Op::Write, Pattern::Sequential, 1 << 20, 8), SLOT, 1 << 28, 512);
        assert_eq!(fitted.queue_depth, 1);
        assert!(fitted.block.0 as f64 / 20_000.0 <= 3.0 * DRAIN_SHARE, "{}", fitted.block);
        let random = pace.fit(&asked(Op::Write, Pattern::Random, 4096, 32), SLOT, 1 << 28, 512);
        assert_eq!((random.block, random.queue_depth), (Bytes(4096), 4), "4.9 IOPS for a third of 3 s");
    }

    /// A card that takes 200 ms for a random block of 64 KiB takes about as long for one of 4 KiB: it erases the
    /// same. A larger block takes longer in proportion, and in a stream so does a smaller one less.
    #[test]
    fn the_time_of_a_small_random_block_is_that_of_a_larger_one() {
        let mut pace = Pace::default();
        pace.note(Op::Write, Pattern::Random, 65_536, false, 5.0);
        let seconds = |pattern, block| pace.expected(&asked(Op::Write, pattern, block, 1)).unwrap();
        assert!((seconds(Pattern::Random, 4096) - 0.2).abs() < 1e-9);
        assert!((seconds(Pattern::Random, 65_536) - 0.2).abs() < 1e-9);
        assert!((seconds(Pattern::Random, 131_072) - 0.4).abs() < 1e-9);
        assert!((seconds(Pattern::Sequential, 32_768) - 0.1).abs() < 1e-9, "a stream");
        let fitted = pace.fit(&asked(Op::Write, Pattern::Random, 4096, 32), SLOT, 1 << 28, 512);
        assert_eq!(fitted.queue_depth, 4, "5 operations a second for a third of 3 s");
    }

    #[test]
    fn a_first_look_reads_within_the_area() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[7; 1 << 18]).unwrap();
        let target = Target::from_file(file, false);
        for seed in [0, 1, 0x1234_5678_9abc_def1] {
            let mut pace = Pace::default();
            pace.look_at_reads(&target, 1 << 18, seed, Looks::ALONE);
            for (pattern, block) in [(Pattern::Random, 4096), (Pattern::Sequential, 64 << 10)] {
                let seconds = pace.expected(&asked(Op::Read, pattern, block, 1));
                assert!(seconds.is_some_and(|seconds| seconds < 1.0), "{seed} {pattern:?}: {seconds:?}");
            }
        }
    }

    /// One of eight reads waited for a neighbour: by itself a host counts it, beside others it does not.
    #[test]
    fn one_operation_that_waited_is_not_the_usual_one() {
        let mut pace = Pace::default();
        let mut looks = vec![Duration::from_millis(1); 8];
        looks[2] = Duration::from_millis(793);
        pace.note_looks(Op::Read, Pattern::Random, 4096, &looks);
        let read = asked(Op::Read, Pattern::Random, 4096, 32);
        assert!((pace.expected(&read).unwrap() - 0.1).abs() < 1e-9);
        assert!((pace.usual().expected(&read).unwrap() - 0.001).abs() < 1e-9);
        assert_eq!(pace.fit(&read, SLOT, 1 << 28, 512).queue_depth, 8);
        assert_eq!(pace.usual().fit(&read, SLOT, 1 << 28, 512).queue_depth, 32);
    }

    #[test]
    fn a_first_look_writes_within_the_area() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 18).unwrap();
        let target = Target::from_file(file, false);
        for seed in [0, 1, 0x1234_5678_9abc_def1] {
            let mut pace = Pace::default();
            let written = pace.look_at_writes(&target, 1 << 18, seed, Looks::ALONE);
            assert!(written >= 4096 && target.file().metadata().unwrap().len() == 1 << 18, "{seed}: {written}");
            assert!(pace.expected(&asked(Op::Write, Pattern::Random, 4096, 1)).is_some());
            assert_eq!(pace.look_at_writes(&target, 4095, seed, Looks::ALONE), 0, "no room for a block");
        }
    }

    #[test]
    fn the_layout_tells_on_how_many_operations_its_rate_rests() {
        let mut pace = Pace::default();
        pace.note_layout(1e6, &[]);
        let write = asked(Op::Write, Pattern::Sequential, 1 << 19, 1);
        assert_eq!(pace.usual_of(&write).map(|look| look.operations), Some(0));
        pace.note_layout(1e6, &[1e-6; 20]);
        let look = pace.usual_of(&write).unwrap();
        assert!((look.seconds - 0.524_288).abs() < 1e-9 && look.operations == 20, "{look:?}");
    }

    #[test]
    fn a_block_larger_than_the_span_shrinks() {
        let fitted = Pace::default().fit(&asked(Op::Read, Pattern::Sequential, 1 << 20, 8), SLOT, 300_000, 4096);
        assert_eq!(fitted.block, Bytes(1 << 18));
    }

    #[test]
    fn what_is_known_of_the_same_kind_counts_more_than_what_is_not() {
        let mut pace = Pace::default();
        pace.note(Op::Write, Pattern::Sequential, 1 << 20, false, 20.0);
        pace.note(Op::Write, Pattern::Random, 4096, false, 5.6);
        let fitted = pace.fit(&asked(Op::Write, Pattern::Random, 4096, 32), SLOT, 1 << 28, 512);
        assert_eq!(fitted.queue_depth, 4, "5.6 IOPS for a third of 3 s");
    }

    #[test]
    fn a_share_is_one_of_the_first_repeat_and_stays() {
        let mut full = measurement(&[&[1000.0], &[3000.0]]);
        full.workload.name = "full".to_owned();
        let mut own = measurement(&[]);
        let rate = Rate::Share { percent: 25.0, of: "full".to_owned() };
        let workload = SuiteWorkload { rate: Some(rate), ..asked(Op::Read, Pattern::Random, 4096, 1) };
        let first = offered(&workload, &[full.clone(), own.clone()], 1).unwrap();
        assert_eq!(first, Some(Arrivals { iops: 250.0, process: Process::Poisson }));
        own.workload.arrivals = Some(Arrivals { iops: 200.0, process: Process::Poisson });
        assert_eq!(offered(&workload, &[full.clone(), own.clone()], 1).unwrap().map(|a| a.iops), Some(250.0));
        own.repeats.clone_from(&full.repeats);
        assert_eq!(offered(&workload, &[full, own], 1).unwrap().map(|a| a.iops), Some(200.0), "as before");
        assert_eq!(offered(&workload, &[measurement(&[])], 1), Err(UnknownRate));
    }

    #[test]
    fn bytes_are_operations_of_the_block_that_runs() {
        let rate = Some(Rate::BytesPerSecond(8192.0));
        let workload = SuiteWorkload { rate, ..asked(Op::Read, Pattern::Random, 4096, 1) };
        let arrivals = offered(&workload, &[], 0).unwrap();
        assert_eq!(arrivals.map(|a| a.iops), Some(2.0));
        assert_eq!((time_between(arrivals), time_between(None)), (Duration::from_secs(5), Duration::ZERO));
    }
}
