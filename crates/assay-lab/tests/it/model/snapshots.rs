//! What the owner reads afterwards.

use assay_lab::media::{
    Cache, Decay, DroppedRead, Eviction, InitialContent, Layout, MediumSpec, Misaddress, Operations, Pattern,
    Retention, WritePolicy,
};

use super::{Card, GIB, KIB, MIB};

#[test]
fn a_change_is_seen_until_it_is_put_back() {
    let mut card = Card::new(&MediumSpec::genuine(GIB));
    let before = card.0.snapshot();
    let saved = card.read(5 * MIB, 4 * KIB);
    card.write(5 * MIB + 512, 512, 7);
    assert_eq!(card.0.changed_since(&before), [5 * MIB + 512]);
    card.put(5 * MIB, &saved);
    assert!(card.0.changed_since(&before).is_empty());
    // Reading changes nothing, and the counters exclude the comparison.
    let traffic = card.0.traffic();
    let _ = card.0.changed_since(&before);
    assert_eq!(card.0.traffic(), traffic);
}

#[test]
fn only_what_the_owner_can_see_counts() {
    // Dropped writes change nothing.
    let mut limbo = Card::new(&MediumSpec::limbo(GIB, 8 * MIB));
    let before = limbo.0.snapshot();
    limbo.write(100 * MIB, MIB, 7);
    assert!(limbo.0.changed_since(&before).is_empty());
    // A write to a later lap changes the first.
    let mut wrap = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(8 * MIB)));
    let before = wrap.0.snapshot();
    wrap.write(16 * MIB + 512, 512, 7);
    assert_eq!(wrap.0.changed_since(&before), [512]);
    // Where reads repeat the real part, its change is counted there, once.
    let mut elsewhere = Card::new(&MediumSpec::limbo(GIB, 8 * MIB).with_dropped(DroppedRead::Elsewhere));
    let before = elsewhere.0.snapshot();
    elsewhere.write(512, 512, 7);
    assert_eq!(elsewhere.0.changed_since(&before), [512]);
    // Data that cannot be read do not count.
    let mut bad = Card::new(&MediumSpec::genuine(GIB).with_errors(MIB..2 * MIB, Operations::Reads));
    let before = bad.0.snapshot();
    bad.write(MIB, 512, 7);
    assert!(bad.0.changed_since(&before).is_empty());
}

#[test]
fn a_shifted_write_is_seen_at_the_address_that_reads_it() {
    let misaddress = Some(Misaddress::Shift { from_bytes: 32 * MIB, by_sectors: -1, on: Operations::Reads });
    let mut card = Card::new(&MediumSpec { misaddress, ..MediumSpec::genuine(64 * MIB) });
    let before = card.0.snapshot();
    card.write(40 * MIB, 512, 7);
    assert_eq!(card.0.changed_since(&before), [40 * MIB + 512]);
    // No address reads the last cell.
    card.write(64 * MIB - 512, 512, 7);
    assert_eq!(card.0.changed_since(&before), [40 * MIB + 512]);
}

#[test]
fn what_a_cache_holds_back_is_counted() {
    // Two addresses share a cell: the content of the page evicted last remains.
    for (eviction, changed) in [(Eviction::FirstIn, vec![]), (Eviction::LeastRecentlyWritten, vec![0])] {
        let cache =
            Cache { write_policy: WritePolicy::Back { ignores_flush: true }, eviction, ..Cache::with_bytes(MIB) };
        let mut card = Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(8 * MIB)).with_cache(cache));
        let before = card.0.snapshot();
        let saved = card.sector(0);
        card.write(8 * MIB, 512, 7);
        assert_eq!(card.0.changed_since(&before), [0]);
        card.put(0, &saved);
        assert!(card.0.changed_since(&before).is_empty());
        card.write(8 * MIB, 512, 8);
        assert_eq!(card.sector(0), saved);
        assert_eq!(card.0.changed_since(&before), changed, "{eviction:?}");
    }
}

#[test]
fn data_that_decay_are_missed() {
    let decay = Some(Decay { retention: Retention::Reads(2), range: 0..GIB });
    let mut card = Card::new(&MediumSpec { decay, ..MediumSpec::genuine(GIB) });
    let before = card.0.snapshot();
    card.read(8 * KIB, 512);
    assert!(card.0.changed_since(&before).is_empty());
    card.read(8 * KIB, 512);
    assert_eq!(card.0.changed_since(&before), (16..24).map(|sector| sector * 512).collect::<Vec<_>>());
}

#[test]
fn the_content_before_is_what_was_asked_for() {
    let card = |pattern| {
        let before = InitialContent { pattern, used_bytes: 32 * MIB };
        Card::new(&MediumSpec { before, ..MediumSpec::genuine(64 * MIB) })
    };
    assert_eq!((card(Pattern::Ones).value(MIB), card(Pattern::Ones).value(32 * MIB)), (Some(0xff), Some(0)));
    assert_eq!(card(Pattern::Zeros).value(MIB), Some(0));
    let sequence = card(Pattern::Sequence).sector(5 * MIB);
    assert_eq!(sequence[..8], (5 * MIB).to_le_bytes());
    assert_eq!(sequence[8..16], (5 * MIB * 4_294_967_311 + 17).to_le_bytes());
    let mut stamps = card(Pattern::Stamps);
    assert_eq!(stamps.sector(0)[..16], stamps.sector(9 * MIB)[..16]);
}

#[test]
fn the_same_seed_makes_the_same_medium() {
    let spec = |seed| MediumSpec { seed, ..MediumSpec::limbo(GIB, 8 * MIB).with_dropped(DroppedRead::Random) };
    let reads = |seed| {
        let mut card = Card::new(&spec(seed));
        (card.sector(0), card.sector(100 * MIB), card.sector(100 * MIB))
    };
    assert_eq!(reads(1), reads(1));
    assert_ne!(reads(1), reads(2));
}
