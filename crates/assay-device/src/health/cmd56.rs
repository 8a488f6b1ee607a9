//! Health of SD cards by CMD56 (GEN_CMD; SD Physical Layer Simplified Specification, 4.13), for which each maker has a layout of
//! its own.
//!
//! Arguments and layouts as makers and public tools tell them: Micron TN-SD-02, Western Digital's manual of industrial cards, and
//! sdmon (<https://github.com/Ognian/sdmon> as of 94cda42; a source of facts: it is GPL, and nothing of its code is here).
//! Bit 0 of the argument is the direction: 1 is from card to host. Arguments without it are not representable here, so cards
//! that want data first (many with controllers of Silicon Motion: Apacer, Kingston) mostly give no answer.

use assay_core::health::{CounterKind, NoAnswer};

use super::ask::{Argument, Parsed, Refusal, high_first, low_first, whole};

/// Bytes of an answer.
pub const LENGTH: usize = 512;

/// What an answer to `argument` says.
///
/// # Errors
/// Where it has not the signature or the form that it should have.
pub fn parse(argument: Argument, bytes: &[u8]) -> Result<Parsed, Refusal> {
    let block = whole(bytes, LENGTH)?;
    let signature = [block[0], block[1]];
    let mut parsed = match (argument, signature) {
        (Argument::First, [b'D', b'S' | b'W']) => sandisk(block)?,
        (Argument::First, [0x70, 0x58]) => longsys(block),
        (Argument::Adata, [0x09, 0x41]) => adata(block),
        (Argument::Transcend, [b'T', b'r']) => transcend(block),
        (Argument::Micron, [b'M', b'E']) => micron(block)?,
        (Argument::Innodisk, [b'L', b'X']) => innodisk(block),
        (Argument::Swissbit, [b'S', b'w']) => swissbit(block),
        (Argument::SiliconMotion, _) => silicon_motion(block)?,
        (_, [a, b]) => return Err(Refusal::contradiction(&format!("signature {a:02x} {b:02x}"))),
    };
    parsed.raw = block.to_vec();
    Ok(parsed)
}

/// The share of life used in steps of 1 %: 1 is below 1 %, 100 below 100 %, more is beyond.
fn sandisk(block: &[u8]) -> Result<Parsed, Refusal> {
    let mut parsed = Parsed::default();
    let used = block[8].checked_sub(1).ok_or_else(|| Refusal::contradiction("health 0"))?;
    parsed.put(CounterKind::PercentageUsed, used);
    parsed.put(CounterKind::PowerCycles, high_first(block, 24, 3));
    Ok(parsed)
}

fn longsys(block: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let word = |at| low_first(block, at, 4) as u32;
    parsed.put(CounterKind::InitialBadBlocks, word(16));
    parsed.put(CounterKind::LaterBadBlocks, word(20));
    parsed.put(CounterKind::WrittenBytes, low_first(block, 24, 8).saturating_mul(512));
    parsed.put(CounterKind::SpareBlocks, word(32));
    parsed.percent(CounterKind::LifeLeftPercent, word(44));
    parsed
}

fn adata(block: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::InitialBadBlocks, high_first(block, 24, 2));
    parsed.put(CounterKind::LaterBadBlocks, block[26]);
    parsed.put(CounterKind::SpareBlocks, high_first(block, 30, 2));
    cycles(&mut parsed, block, [32, 36, 40, 44]);
    parsed.put(CounterKind::RatedEraseCycles, high_first(block, 68, 2));
    parsed.percent(CounterKind::LifeLeftPercent, block[70].into());
    parsed.put(CounterKind::PowerCycles, high_first(block, 76, 4));
    parsed.put(CounterKind::RefreshedBlocks, high_first(block, 136, 4));
    parsed
}

/// The order of bytes of its longer numbers is not certain, so these stay raw.
fn transcend(block: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::LaterBadBlocks, block[26]);
    parsed.put(CounterKind::SpareBlocks, block[27]);
    parsed.percent(CounterKind::LifeLeftPercent, block[70].into());
    parsed
}

/// TN-SD-02: wear of the TLC and of the SLC area, each in steps of a stated percentage.
fn micron(block: &[u8]) -> Result<Parsed, Refusal> {
    let mut parsed = Parsed::default();
    let step = u32::from(block[7]);
    if !(1..=100).contains(&step) {
        return Err(Refusal::contradiction(&format!("steps of {step} %")));
    }
    parsed.put(CounterKind::PercentageUsed, step * u32::from(block[8].max(block[9])));
    Ok(parsed)
}

fn innodisk(block: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::SpareBlocks, block[24]);
    parsed.put(CounterKind::InitialBadBlocks, block[25]);
    parsed.put(CounterKind::LaterBadBlocks, block[26]);
    cycles(&mut parsed, block, [32, 36, 40, 44]);
    parsed
}

fn swissbit(block: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let word = |at| high_first(block, at, 4);
    parsed.put(CounterKind::RatedEraseCycles, word(48));
    parsed.put(CounterKind::MostEraseCycles, word(52));
    parsed.put(CounterKind::TotalEraseCycles, word(56));
    parsed.put(CounterKind::MeanEraseCycles, word(60));
    parsed.percent(CounterKind::LifeLeftPercent, block[80].into());
    parsed.put(CounterKind::SpareBlocks, word(88));
    parsed.put(CounterKind::LaterBadBlocks, word(96));
    parsed.put(CounterKind::RefreshedBlocks, word(104));
    parsed.put(CounterKind::CrcErrors, word(112));
    parsed.put(CounterKind::PowerCycles, word(116));
    parsed
}

/// It has no signature, so its numbers have to agree: shares are at most 100.00 %, and least, mean and most erase cycles are
/// in order.
fn silicon_motion(block: &[u8]) -> Result<Parsed, Refusal> {
    let good = high_first(block, 64, 2);
    let split = |high: usize, low: usize| high_first(block, high, 2) << 16 | high_first(block, low, 2);
    let (mean, least, most) = (split(104, 98), split(106, 100), split(108, 102));
    if good > 10_000 || good == 0 {
        return Err(Refusal::contradiction("its share of good blocks is none"));
    }
    if !(least..=most).contains(&mean) {
        return Err(Refusal::contradiction("erase cycles are not in order"));
    }
    let sum = |places: std::ops::Range<usize>| block[places].iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let mut parsed = Parsed::default();
    parsed.put(CounterKind::SpareBlocks, high_first(block, 16, 2));
    parsed.put(CounterKind::InitialBadBlocks, sum(32..64));
    parsed.put(CounterKind::LaterBadBlocks, sum(184..216));
    parsed.put(CounterKind::TotalEraseCycles, high_first(block, 80, 4));
    // In hundredths.
    parsed.percent(CounterKind::LifeLeftPercent, high_first(block, 96, 2) as u32 / 100);
    parsed.put(CounterKind::LeastEraseCycles, least);
    parsed.put(CounterKind::MeanEraseCycles, mean);
    parsed.put(CounterKind::MostEraseCycles, most);
    parsed.put(CounterKind::PowerCycles, high_first(block, 112, 4));
    parsed.put(CounterKind::UnsafeShutdowns, high_first(block, 128, 2));
    parsed.put(CounterKind::RefreshedBlocks, high_first(block, 160, 2));
    Ok(parsed)
}

/// Least, most, total and mean at these places.
fn cycles(parsed: &mut Parsed, block: &[u8], places: [usize; 4]) {
    let kinds = [
        CounterKind::LeastEraseCycles,
        CounterKind::MostEraseCycles,
        CounterKind::TotalEraseCycles,
        CounterKind::MeanEraseCycles,
    ];
    for (kind, at) in kinds.into_iter().zip(places) {
        parsed.put(kind, high_first(block, at, 4));
    }
}

/// The first usable answer to one of `arguments`.
///
/// # Errors
/// Where there is none: the reason of the last one, or that the maker publishes no layout.
pub(super) fn first_usable(
    arguments: &[Argument],
    mut ask: impl FnMut(Argument) -> Result<Vec<u8>, Refusal>,
) -> Result<Parsed, Refusal> {
    let mut last = Refusal::from(NoAnswer::NoPublicLayout);
    for argument in arguments {
        match ask(*argument).and_then(|bytes| parse(*argument, &bytes)) {
            Ok(parsed) => return Ok(parsed),
            // Other questions would fail alike.
            Err(refusal) if refusal.why == NoAnswer::NeedsRoot => return Err(refusal),
            Err(refusal) => last = refusal,
        }
    }
    Err(last)
}

#[cfg(test)]
#[path = "cmd56_tests.rs"]
mod tests;
