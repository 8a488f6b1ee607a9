//! From the first look to the judgement.

use assay_core::verification::{FakeKind, Verdict};

use super::contract::Device;
use super::plan::{FAN, UNIT, UNIT_BLOCKS};
use super::round::Search;
use super::session::{End, Phase};
use super::stamp::{BLOCK, Seen};

/// So many lost samples up to the end are a missing part, whatever else is bad.
const TAIL: usize = 8;
/// Of so many samples, one may be bad before the end of the real part of a fake.
const STRAY: usize = 50;

/// What the search came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    pub(crate) kind: Option<FakeKind>,
    pub(crate) real_bytes: Option<u64>,
}

const fn damaged(real_bytes: Option<u64>) -> Judgement {
    Judgement { verdict: Verdict::Damaged, kind: None, real_bytes }
}

/// What samples in the order of their places look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pattern {
    AllHold,
    /// Everything from some place on is lost: between these two blocks, the first of which holds.
    Ends {
        holds: Option<u64>,
        lost: u64,
        silent: bool,
    },
    Mixed,
}

fn pattern(results: &[(u64, Seen)]) -> Pattern {
    let lost = results.iter().filter(|(_, seen)| !seen.holds()).count();
    if lost == 0 {
        return Pattern::AllHold;
    }
    let tail = results.iter().rev().take_while(|(_, seen)| !seen.holds()).count();
    let stray = lost - tail;
    if tail == 0 || (stray > 0 && (tail < TAIL || stray * STRAY > results.len())) {
        return Pattern::Mixed;
    }
    let (before, after) = results.split_at(results.len() - tail);
    Pattern::Ends {
        holds: before.last().map(|(block, _)| *block),
        lost: after[0].0,
        silent: after.iter().any(|(_, seen)| *seen != Seen::Unreadable),
    }
}

impl<D: Device> Search<'_, '_, D> {
    /// The whole search.
    pub(crate) fn judge(&mut self) -> Result<Judgement, End> {
        let all = self.session.blocks() * BLOCK;
        let found = self.discover()?;
        if found.alias.is_none() && found.lost.is_none() {
            return match found.erred {
                false => Ok(Judgement {
                    verdict: Verdict::Genuine,
                    kind: None,
                    real_bytes: Some(self.session.device.bytes()),
                }),
                true => self.only_errors(),
            };
        }
        let mut period = None;
        if let Some(pair) = found.alias {
            period = self.period(pair)?;
        }
        loop {
            if let Some(period) = period {
                self.forget_beyond(period);
                self.enter(period);
            }
            let results = self.sample()?;
            return match pattern(&results) {
                Pattern::AllHold if period.is_some() => Ok(fake(FakeKind::Wraparound, self.arena * BLOCK)),
                Pattern::AllHold => Ok(damaged(None)),
                Pattern::Ends { holds, lost, silent } => {
                    let real = self.narrow(holds, lost)?;
                    match (silent, period) {
                        (true, _) if real < UNIT && holds.is_none() => Ok(damaged(Some(real))),
                        (true, Some(_)) => Ok(fake(FakeKind::Chain, real)),
                        (true, None) => Ok(fake(FakeKind::Limbo, real)),
                        (false, _) => Ok(damaged(Some(real))),
                    }
                }
                Pattern::Mixed => match (period, self.suspect_without(period, &results)?) {
                    (None, Some(found)) => {
                        period = Some(found);
                        continue;
                    }
                    (Some(period), _) if period * BLOCK < all => Ok(fake(FakeKind::Wraparound, self.arena * BLOCK)),
                    _ => Ok(damaged(None)),
                },
            };
        }
    }

    fn suspect_without(&mut self, period: Option<u64>, results: &[(u64, Seen)]) -> Result<Option<u64>, End> {
        if period.is_some() {
            return Ok(None);
        }
        match self.suspect(results)? {
            Some(pair) => self.period(pair),
            None => Ok(None),
        }
    }

    /// Nothing is lost but with an error: worn or broken, and no lie. Where all from some place on
    /// errs, the part before is given.
    fn only_errors(&mut self) -> Result<Judgement, End> {
        let results: Vec<(u64, Seen)> =
            self.session.findings.iter().map(|(block, finding)| (*block, finding.seen)).collect();
        match pattern(&results) {
            Pattern::Ends { holds, lost, .. } => self.narrow(holds, lost).map(|real| damaged(Some(real))),
            _ => Ok(damaged(None)),
        }
    }

    /// What holds beyond the period holds in place of something before it.
    fn forget_beyond(&mut self, period: u64) {
        self.session.findings.retain(|block, finding| *block < period || !finding.seen.holds());
    }

    /// Narrows the end of the real part to within a unit; in bytes. Places in between are tested
    /// many at once, so that few rounds of eviction are needed.
    fn narrow(&mut self, holds: Option<u64>, lost: u64) -> Result<u64, End> {
        self.session.phase = Phase::Narrowing;
        // The first block that may be lost, and the first that is known to be.
        let (mut low, mut high) = (holds.map_or(0, |block| block + 1), lost);
        while high - low > UNIT_BLOCKS {
            self.keep_clear(&(low..high));
            let step = (high - low) / (FAN + 1);
            let step = step.max(1);
            let jitter = |search: &mut Self| super::round::below(&mut search.session.random, step.max(2) / 2);
            let mut points = Vec::new();
            for part in 1..=FAN {
                let block = low + part * step - 1 + jitter(self) / 2;
                if block > low && block < high - 1 && !self.evictor.is_decoy(block) && !self.in_canary(block) {
                    points.push(block);
                }
            }
            let mut order = points.clone();
            super::round::shuffle(&mut order, &mut self.session.random);
            let results = self.round(&order)?;
            let bad = results.iter().position(|(_, seen)| !seen.holds()).unwrap_or(results.len());
            let (before, after) = (low, high);
            if let Some((block, _)) = bad.checked_sub(1).and_then(|index| results.get(index)) {
                low = block + 1;
            }
            if let Some((block, _)) = results.get(bad) {
                high = *block;
            }
            if (before, after) == (low, high) {
                break; // No place could be tested: no nearer than this.
            }
        }
        // Memory comes in whole units; one that ends in the gap is the likely end.
        let round = low.next_multiple_of(UNIT_BLOCKS);
        Ok(if round <= high { round } else { low } * BLOCK)
    }

    fn in_canary(&self, block: u64) -> bool {
        self.canary.as_ref().is_some_and(|canary| canary.writes.contains(&block))
    }
}

fn fake(kind: FakeKind, real_bytes: u64) -> Judgement {
    Judgement { verdict: Verdict::Fake, kind: Some(kind), real_bytes: Some(real_bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::verification::SectorClass;

    fn of(text: &str) -> Vec<(u64, Seen)> {
        let seen = |letter| match letter {
            'o' => Seen::Holds,
            'x' => Seen::Lost(SectorClass::Corrupted),
            _ => Seen::Unreadable,
        };
        (0..).map(|n| n * 10).zip(text.chars().map(seen)).collect()
    }

    #[test]
    fn patterns_of_samples() {
        assert_eq!(pattern(&of("oooo")), Pattern::AllHold);
        assert_eq!(pattern(&of("ooxx")), Pattern::Ends { holds: Some(10), lost: 20, silent: true });
        assert_eq!(pattern(&of("ooee")), Pattern::Ends { holds: Some(10), lost: 20, silent: false });
        assert_eq!(pattern(&of("xx")), Pattern::Ends { holds: None, lost: 0, silent: true });
        assert_eq!(pattern(&of("oxox")), Pattern::Mixed);
        assert_eq!(pattern(&of("oxoo")), Pattern::Mixed);
        // One bad place before a large missing part is a fake with a bad place.
        let text = format!("{}x{}{}", "o".repeat(30), "o".repeat(40), "x".repeat(60));
        assert_eq!(pattern(&of(&text)), Pattern::Ends { holds: Some(700), lost: 710, silent: true });
    }
}
