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
mod tests {
    //! Answers of cards, built again from what their owners published.

    use super::*;
    use crate::health::ask::tests::{block, count, refuses_fillers};
    use assay_core::health::CounterKind as K;

    fn counts<const N: usize>(parsed: &Parsed, kinds: [K; N]) -> [i64; N] {
        kinds.map(|kind| count(parsed, kind).unwrap_or_else(|| panic!("{kind:?}")))
    }

    fn be(number: u32) -> [u8; 4] {
        number.to_be_bytes()
    }

    /// The block of a card with a controller of Silicon Motion.
    struct SiliconMotion {
        flash: [u8; 9],
        spare: u16,
        bad: u8,
        good: u16,
        total: u32,
        left: u16,
        mean: u16,
        least: u16,
        most: u16,
        power: u32,
        cut: u16,
        refreshed: u16,
    }

    impl SiliconMotion {
        fn block(&self) -> Vec<u8> {
            block(
                512,
                &[
                    (0, &self.flash),
                    (16, &self.spare.to_be_bytes()),
                    (32, &[self.bad]),
                    (64, &self.good.to_be_bytes()),
                    (80, &be(self.total)),
                    (96, &self.left.to_be_bytes()),
                    (98, &self.mean.to_be_bytes()),
                    (100, &self.least.to_be_bytes()),
                    (102, &self.most.to_be_bytes()),
                    (112, &be(self.power)),
                    (128, &self.cut.to_be_bytes()),
                    (160, &self.refreshed.to_be_bytes()),
                ],
            )
        }
    }

    #[test]
    fn no_argument_sends_data_to_a_card() {
        for argument in Argument::ALL {
            assert_eq!(argument.value() & 1, 1, "{argument:?}: bit 0 is the direction, 1 is from the card");
        }
    }

    #[test]
    fn what_fills_a_buffer_is_no_answer_to_any_argument() {
        for argument in Argument::ALL {
            refuses_fillers(LENGTH, |bytes| parse(argument, bytes));
        }
    }

    #[test]
    fn an_industrial_card_of_western_digital_is_read() {
        // The first 96 bytes as dumped in sdmon issue 16; zeros follow there.
        let head: [u8; 96] = [
            0x44, 0x57, 0x32, 0x30, 0x30, 0x37, 0x31, 0x30, 0x01, 0x01, 0x01, 0x1f, 0x00, 0x00, 0x06, 0x01, 0x01, 0x0c,
            0x44, 0x4d, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x00, 0x03, 0x03, 0x03, 0x02, 0x02, 0x01, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x57, 0x65, 0x73, 0x74, 0x65,
            0x72, 0x6e, 0x20, 0x44, 0x69, 0x67, 0x69, 0x74, 0x61, 0x6c, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20,
            0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        ];
        let parsed = parse(Argument::First, &block(512, &[(0, &head)])).unwrap();
        assert_eq!(counts(&parsed, [K::PercentageUsed, K::PowerCycles]), [0, 17]);
        assert_eq!(parsed.raw.len(), 512);
    }

    #[test]
    fn an_industrial_card_of_sandisk_and_a_purple_one_of_western_digital_are_read() {
        // The examples in the readme of sdmon: dates of manufacture, health 1, feature revision 0x1f, generations 5 and 7; the
        // second was switched on 14 times.
        let card = |date: &'static [u8; 8], generation: u8, maker: &'static [u8], power: u8| {
            let parts = [(0, &date[..]), (8, &[1]), (11, &[0x1f]), (14, &[generation]), (26, &[power]), (49, maker)];
            parse(Argument::First, &block(512, &parts)).unwrap()
        };
        let sandisk = card(b"DS211122", 5, b"SanDisk                         ", 0);
        assert_eq!(count(&sandisk, K::PercentageUsed), Some(0));
        let purple = card(b"DW240403", 7, b"Western Digital                 ", 14);
        assert_eq!(counts(&purple, [K::PercentageUsed, K::PowerCycles]), [0, 14]);
        // Of Western Digital's manual: 0x64 is 99 to 99.99 % used, more is beyond; 0 is no health.
        for (said, used) in [(0x64, 99), (0x65, 100), (0xc8, 199)] {
            let parsed = parse(Argument::First, &block(512, &[(0, b"DS211122"), (8, &[said])])).unwrap();
            assert_eq!(count(&parsed, K::PercentageUsed), Some(used));
        }
        assert_eq!(parse(Argument::First, &block(512, &[(0, b"DS211122")])).unwrap_err().why, NoAnswer::Inconsistent);
    }

    #[test]
    fn an_i400_of_micron_is_read() {
        // sdmon issue 15: signature 0x4d 0x45, steps of 1 %, of a new card.
        let parsed = parse(Argument::Micron, &block(512, &[(0, b"ME"), (7, &[1, 1, 0])])).unwrap();
        assert_eq!(count(&parsed, K::PercentageUsed), Some(1));
        assert_eq!(parse(Argument::Micron, &block(512, &[(0, b"ME")])).unwrap_err().why, NoAnswer::Inconsistent);
    }

    #[test]
    fn an_s_56u_of_swissbit_is_read() {
        // sdmon pull request 19.
        let answer = block(
            512,
            &[
                (0, b"Sw"),
                (32, b"W0112"),
                (48, &be(0x0001_86a0)),
                (52, &be(3)),
                (56, &be(0x08b6)),
                (60, &be(1)),
                (68, &be(1)),
                (72, &be(0x28)),
                (80, &[99]),
                (86, &[0x18, 0x10]),
                (88, &be(0x01e2)),
                (92, &be(0x63)),
                (116, &be(19)),
            ],
        );
        let parsed = parse(Argument::Swissbit, &answer).unwrap();
        let kinds = [K::RatedEraseCycles, K::MostEraseCycles, K::TotalEraseCycles, K::MeanEraseCycles];
        assert_eq!(counts(&parsed, kinds), [100_000, 3, 2230, 1]);
        let kinds = [K::LifeLeftPercent, K::SpareBlocks, K::LaterBadBlocks, K::CrcErrors, K::PowerCycles];
        assert_eq!(counts(&parsed, kinds), [99, 482, 0, 0, 19]);
    }

    #[test]
    fn an_iudd33k_of_adata_and_a_460t_of_transcend_are_read() {
        // sdmon pull request 22.
        let adata = block(
            512,
            &[
                (0, &[0x09, 0x41]),
                (24, &10u16.to_be_bytes()),
                (27, &[34]),
                (36, &be(1)),
                (40, &be(2)),
                (64, &be(60_351)),
                (68, &30u16.to_be_bytes()),
                (70, &[100]),
                (76, &be(8)),
                (88, b"SM2706"),
                (128, b"V0217"),
            ],
        );
        let parsed = parse(Argument::Adata, &adata).unwrap();
        let kinds =
            [K::InitialBadBlocks, K::LaterBadBlocks, K::MostEraseCycles, K::TotalEraseCycles, K::LifeLeftPercent];
        assert_eq!(counts(&parsed, kinds), [10, 0, 1, 2, 100]);
        assert_eq!(count(&parsed, K::PowerCycles), Some(8));
        // sdmon issue 44: the card of Transcend answers in this form.
        let transcend = block(
            512,
            &[
                (0, &[0x09, 0x41]),
                (24, &5u16.to_be_bytes()),
                (30, &198u16.to_be_bytes()),
                (36, &be(2)),
                (40, &be(405)),
                (68, &30u16.to_be_bytes()),
                (70, &[100]),
                (76, &be(12)),
            ],
        );
        let asked = |argument| if argument == Argument::Adata { Ok(transcend.clone()) } else { Ok(vec![0xff; 512]) };
        let parsed = first_usable(Argument::of_maker(0x74, true), asked).unwrap();
        let kinds = [K::InitialBadBlocks, K::SpareBlocks, K::MostEraseCycles, K::TotalEraseCycles, K::PowerCycles];
        assert_eq!(counts(&parsed, kinds), [5, 198, 2, 405, 12]);
    }

    #[test]
    fn a_230i_of_transcend_is_read() {
        // sdmon pull request 20.
        let answer =
            block(512, &[(0, b"Tr"), (16, &[0x10]), (18, &[4, 3]), (27, &[0x33]), (70, &[100]), (87, b"SM2707E")]);
        let parsed = parse(Argument::Transcend, &answer).unwrap();
        assert_eq!(counts(&parsed, [K::LaterBadBlocks, K::SpareBlocks, K::LifeLeftPercent]), [0, 51, 100]);
    }

    #[test]
    fn a_card_of_longsys_is_read() {
        // A Viofo Industrial of 64 GB has this signature, `2` at byte 2, 78 at byte 8 and 0x91 at byte 11 (sdmon issue 13). What
        // stands at the places of the layout (sdmon as of 94cda42) is made up: no owner published it.
        let answer = block(
            512,
            &[
                (0, &[0x70, 0x58, b'2']),
                (8, &[78]),
                (11, &[0x91]),
                (16, &20u32.to_le_bytes()),
                (20, &1u32.to_le_bytes()),
                (24, &2_000_000u64.to_le_bytes()),
                (32, &40u32.to_le_bytes()),
                (44, &98u32.to_le_bytes()),
            ],
        );
        let parsed = parse(Argument::First, &answer).unwrap();
        let kinds = [K::InitialBadBlocks, K::LaterBadBlocks, K::WrittenBytes, K::SpareBlocks, K::LifeLeftPercent];
        assert_eq!(counts(&parsed, kinds), [20, 1, 1_024_000_000, 40, 98]);
    }

    #[test]
    fn a_card_of_innodisk_is_read() {
        // Layout of sdmon as of 94cda42 (signature 0x4c 0x58); figures made up: no owner published any.
        let answer = block(512, &[(0, b"LX"), (24, &[60, 4, 1]), (36, &be(9)), (44, &be(5))]);
        let parsed = parse(Argument::Innodisk, &answer).unwrap();
        let kinds = [K::SpareBlocks, K::InitialBadBlocks, K::LaterBadBlocks, K::MostEraseCycles, K::MeanEraseCycles];
        assert_eq!(counts(&parsed, kinds), [60, 4, 1, 9, 5]);
    }

    const SDCE: SiliconMotion = SiliconMotion {
        flash: [0x98, 0x3e, 0xa8, 0x03, 0x7a, 0xe4, 0x08, 0x16, 0x00],
        spare: 12,
        bad: 24,
        good: 9981,
        total: 66,
        left: 9997,
        mean: 1,
        least: 1,
        most: 1,
        power: 16,
        cut: 0,
        refreshed: 0,
    };

    #[test]
    fn an_sdce_of_kingston_and_an_m1aa_of_goodram_are_read() {
        // sdmon issue 30.
        let parsed = parse(Argument::SiliconMotion, &SDCE.block()).unwrap();
        let kinds = [K::SpareBlocks, K::InitialBadBlocks, K::LifeLeftPercent, K::TotalEraseCycles, K::PowerCycles];
        assert_eq!(counts(&parsed, kinds), [12, 24, 99, 66, 16]);
        // sdmon issue 40.
        let goodram = SiliconMotion {
            flash: [0x98, 0x3a, 0x98, 0xb3, 0x76, 0x72, 0x08, 0x0e, 0x00],
            spare: 9,
            bad: 4,
            good: 9973,
            total: 2402,
            left: 9990,
            mean: 3,
            least: 1,
            most: 4,
            power: 38,
            cut: 4,
            refreshed: 0,
        };
        let parsed = parse(Argument::SiliconMotion, &goodram.block()).unwrap();
        let kinds = [K::LeastEraseCycles, K::MeanEraseCycles, K::MostEraseCycles, K::UnsafeShutdowns];
        assert_eq!(counts(&parsed, kinds), [1, 3, 4, 4]);
    }

    #[test]
    fn cards_of_apacer_and_viofo_and_an_ultra_of_sandisk_are_read() {
        // The readme of sdmon; its issue 13 (Viofo Industrial, 32 GB); its issue 41 (SanDisk Ultra, 128 GB).
        let apacer = SiliconMotion {
            flash: [0x98, 0x3c, 0x98, 0xb3, 0x76, 0x72, 0x08, 0x0e, 0x00],
            spare: 46,
            bad: 72,
            good: 9756,
            total: 1380,
            left: 9997,
            most: 5,
            power: 55,
            ..SDCE
        };
        let viofo = SiliconMotion {
            flash: [0x89, 0xa4, 0x08, 0x32, 0xa1, 0x00, 0x00, 0x00, 0x00],
            spare: 13,
            bad: 13,
            good: 9871,
            total: 2,
            left: 9994,
            power: 11,
            ..SDCE
        };
        let ultra = SiliconMotion {
            flash: [0x45, 0x3e, 0x98, 0x03, 0x76, 0x6c, 0x08, 0x1e, 0x00],
            spare: 11,
            bad: 15,
            good: 9977,
            total: 3404,
            left: 9994,
            mean: 2,
            most: 4,
            power: 78,
            refreshed: 1,
            ..SDCE
        };
        let kinds = [K::SpareBlocks, K::InitialBadBlocks, K::TotalEraseCycles, K::MostEraseCycles, K::PowerCycles];
        for (card, expected) in
            [(apacer, [46, 72, 1380, 5, 55]), (viofo, [13, 13, 2, 1, 11]), (ultra, [11, 15, 3404, 4, 78])]
        {
            let parsed = parse(Argument::SiliconMotion, &card.block()).unwrap();
            assert_eq!(counts(&parsed, kinds), expected);
            assert_eq!(count(&parsed, K::LifeLeftPercent), Some(99));
        }
    }

    #[test]
    fn a_card_of_apacer_that_claims_453_percent_of_life_keeps_its_other_counters() {
        // sdmon issue 2.
        let apacer = SiliconMotion {
            flash: [0x98, 0xde, 0x94, 0x93, 0x76, 0x51, 0x08, 0x04, 0x04],
            spare: 45,
            bad: 77,
            good: 9820,
            total: 13_807_590,
            left: 45_300,
            mean: 13_590,
            least: 3,
            most: 13_665,
            power: 208,
            cut: 0,
            refreshed: 2877,
        };
        let parsed = parse(Argument::SiliconMotion, &apacer.block()).unwrap();
        assert_eq!(count(&parsed, K::LifeLeftPercent), None);
        let kinds = [K::MeanEraseCycles, K::MostEraseCycles, K::RefreshedBlocks, K::PowerCycles];
        assert_eq!(counts(&parsed, kinds), [13_590, 13_665, 2877, 208]);
    }

    #[test]
    fn what_is_no_health_is_refused() {
        // sdmon issue 18: a nameless card answers with the code of a boot sector.
        let boot = block(512, &[(0, &[0xfa, 0xb8, 0x00, 0x10, 0x8e, 0xd0, 0xbc, 0x00, 0xb0]), (510, &[0x55, 0xaa])]);
        for argument in Argument::ALL {
            assert_eq!(parse(argument, &boot).unwrap_err().why, NoAnswer::Inconsistent, "{argument:?}");
        }
        let disordered = SiliconMotion { least: 9, ..SDCE };
        assert_eq!(parse(Argument::SiliconMotion, &disordered.block()).unwrap_err().why, NoAnswer::Inconsistent);
        let good = SiliconMotion { good: 10_001, ..SDCE };
        assert_eq!(parse(Argument::SiliconMotion, &good.block()).unwrap_err().why, NoAnswer::Inconsistent);
    }

    #[test]
    fn who_publishes_no_layout_is_not_asked() {
        let never = |_| panic!("asked");
        let refusal = first_usable(Argument::of_maker(0x1b, true), never).unwrap_err(); // Samsung
        assert_eq!(refusal.why, NoAnswer::NoPublicLayout);
        // A maker that is not known may be one whose number is not public.
        let mut asked = Vec::new();
        let refusal = first_usable(Argument::of_maker(0xad, false), |argument| {
            asked.push(argument);
            Err(NoAnswer::TimedOut.into())
        });
        assert_eq!(refusal.unwrap_err().why, NoAnswer::TimedOut);
        assert_eq!(asked, [Argument::First, Argument::Micron, Argument::Innodisk]);
        // Without root there is no second question.
        let mut asked = 0;
        let _ = first_usable(Argument::of_maker(0xad, false), |_| {
            asked += 1;
            Err(NoAnswer::NeedsRoot.into())
        });
        assert_eq!(asked, 1);
    }
}
