//! Caches that return data lost by the memory.

use assay_lab::media::{Cache, CachedWrites, Eviction, Layout, MediumSpec, WritePolicy};
use assay_verify::probe::Device;

use super::{Card, GIB, KIB, MIB};

/// Writes from here on are dropped.
const REAL: u64 = 64 * MIB;
/// A place without memory to read.
const CANARY: u64 = 900 * MIB;

fn limbo(cache: Cache) -> Card {
    Card::new(&MediumSpec::limbo(GIB, REAL).with_cache(cache))
}

/// Writes the canary, then `pages` other pages of 4 KiB. With `reading`, it reads the canary after each.
fn survives(card: &mut Card, pages: u64, reading: bool) -> bool {
    card.write(CANARY, 4 * KIB, 7);
    for page in 0..pages {
        card.write(100 * MIB + page * 4 * KIB, 4 * KIB, 1);
        if reading {
            card.value(CANARY);
        }
    }
    card.value(CANARY) == Some(7)
}

#[test]
fn a_cache_answers_for_its_size_and_no_more() {
    for kib in [4, 64, 1024] {
        let most = kib / 4;
        assert!(survives(&mut limbo(Cache::with_bytes(kib * KIB)), most - 1, false), "{kib} KiB");
        assert!(!survives(&mut limbo(Cache::with_bytes(kib * KIB)), most, false), "{kib} KiB");
    }
    assert!(!survives(&mut limbo(Cache::with_bytes(0)), 0, false));
}

#[test]
fn pages_are_kept_and_evicted_as_a_whole() {
    for page_bytes in [512, 4096, 65_536] {
        let mut card = limbo(Cache { page_bytes, ..Cache::with_bytes(4 * u64::from(page_bytes)) });
        for page in 0..4 {
            card.write(CANARY + page * u64::from(page_bytes), 512, 7);
        }
        assert_eq!(card.value(CANARY), Some(7), "{page_bytes}");
        // One sector of a fifth page evicts the first page.
        card.write(CANARY + MIB, 512, 7);
        assert_eq!((card.value(CANARY), card.value(CANARY + u64::from(page_bytes))), (Some(0), Some(7)));
        // The cache does not answer for a sector of a page that was not written.
        if page_bytes > 512 {
            assert_eq!(card.value(CANARY + MIB + 512), Some(0), "{page_bytes}");
        }
    }
}

#[test]
fn policies_differ_in_what_keeps_a_page_alive() {
    let card = |eviction| limbo(Cache { eviction, ..Cache::with_bytes(MIB) });
    // Reading keeps the page cached only if the policy counts reads.
    assert!(!survives(&mut card(Eviction::LeastRecentlyWritten), 300, true));
    assert!(survives(&mut card(Eviction::LeastRecentlyUsed), 300, true));
    assert!(!survives(&mut card(Eviction::FirstIn), 300, true));

    // Writing it again does not keep it under first in, first out.
    for (eviction, alive) in [(Eviction::LeastRecentlyWritten, true), (Eviction::FirstIn, false)] {
        let mut card = card(eviction);
        card.write(CANARY, 4 * KIB, 7);
        for page in 0..256 {
            card.write(100 * MIB + page * 4 * KIB, 4 * KIB, 1);
            if page == 200 {
                card.write(CANARY, 4 * KIB, 7);
            }
        }
        assert_eq!(card.value(CANARY) == Some(7), alive, "{eviction:?}");
    }

    // Reads evict pages only if they fill the cache.
    for (eviction, alive) in [(Eviction::LeastRecentlyUsed, true), (Eviction::LeastRecentlyUsedFilledByReads, false)] {
        let mut card = card(eviction);
        card.write(CANARY, 4 * KIB, 7);
        card.read(0, MIB);
        assert_eq!(card.value(CANARY) == Some(7), alive, "{eviction:?}");
    }
}

#[test]
fn replacement_at_random_keeps_some_pages_for_long() {
    let mut card = limbo(Cache { eviction: Eviction::Random, ..Cache::with_bytes(MIB) });
    for page in 0..256 {
        card.write(CANARY + page * 4 * KIB, 4 * KIB, 7);
    }
    // After writes of the cache size, a share of 1/e of the 256 pages survives: 94, with a deviation of 8.
    for page in 0..256 {
        card.write(100 * MIB + page * 4 * KIB, 4 * KIB, 1);
    }
    let alive = (0..256).filter(|page| card.value(CANARY + page * 4 * KIB) == Some(7)).count();
    assert!((60..130).contains(&alive), "{alive}");
}

#[test]
fn caches_for_random_and_sequential_writes_are_apart() {
    let random = Cache { takes: CachedWrites::Random, ..Cache::with_bytes(8 * KIB) };
    let sequential = Cache { takes: CachedWrites::Sequential, ..Cache::with_bytes(MIB) };
    let mut card = Card::new(&MediumSpec::limbo(GIB, REAL).with_cache(random).with_cache(sequential));
    card.write(CANARY, 4 * KIB, 7);
    // A long run goes to the other cache and evicts nothing.
    for step in 0..100 {
        card.write(100 * MIB + step * 64 * KIB, 64 * KIB, 1);
    }
    assert_eq!((card.value(CANARY), card.value(100 * MIB)), (Some(7), Some(0)));
    assert_eq!(card.value(100 * MIB + 99 * 64 * KIB), Some(1));
    // Nor do contiguous short writes.
    for step in 0..100 {
        card.write(500 * MIB + step * 512, 512, 1);
    }
    assert_eq!((card.value(CANARY), card.value(500 * MIB + 99 * 512)), (Some(7), Some(1)));
    // Two random pages do evict.
    card.write(200 * MIB, 4 * KIB, 1);
    card.write(300 * MIB, 4 * KIB, 1);
    assert_eq!((card.value(CANARY), card.value(300 * MIB)), (Some(0), Some(1)));
    // Data in one cache become stale when the other one takes their address.
    card.write(300 * MIB - 64 * KIB, 128 * KIB, 2);
    assert_eq!(card.value(300 * MIB), Some(2));
}

#[test]
fn a_write_goes_to_the_first_cache_that_takes_it() {
    let caches = |first: u64, second: u64| {
        Card::new(
            &MediumSpec::limbo(GIB, REAL).with_cache(Cache::with_bytes(first)).with_cache(Cache::with_bytes(second)),
        )
    };
    assert!(survives(&mut caches(MIB, 4 * KIB), 100, false));
    assert!(!survives(&mut caches(4 * KIB, MIB), 100, false));
}

#[test]
fn written_back_is_what_the_memory_learns_on_eviction_or_flush() {
    // Two addresses share a cell: a read at the other one shows the content of the memory.
    let wrap = |ignores_flush| {
        let cache = Cache { write_policy: WritePolicy::Back { ignores_flush }, ..Cache::with_bytes(64 * KIB) };
        Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(REAL)).with_cache(cache))
    };
    let mut card = wrap(false);
    let before = card.sector(0);
    card.write(REAL, 4 * KIB, 7);
    assert_eq!((card.value(REAL), card.sector(0)), (Some(7), before.clone()));
    card.0.sync().unwrap();
    assert_eq!(card.value(0), Some(7));

    let mut card = wrap(true);
    card.write(REAL, 4 * KIB, 7);
    card.0.sync().unwrap();
    assert_eq!(card.sector(0), before);
    for page in 0..16 {
        card.write(2 * MIB + page * 4 * KIB, 4 * KIB, 1);
    }
    assert_eq!(card.value(0), Some(7));

    let mut through =
        Card::new(&MediumSpec::laid_out(GIB, Layout::wraparound(REAL)).with_cache(Cache::with_bytes(64 * KIB)));
    through.write(REAL, 4 * KIB, 7);
    assert_eq!(through.value(0), Some(7));
}

#[test]
fn random_loads_read_the_same_through_a_cache_as_without() {
    // On a genuine medium a cache must be invisible, whatever its page size, eviction and write policy.
    for (page_bytes, eviction, write_policy) in [
        (512, Eviction::LeastRecentlyWritten, WritePolicy::Through),
        (4096, Eviction::Random, WritePolicy::Back { ignores_flush: false }),
        (65_536, Eviction::LeastRecentlyUsedFilledByReads, WritePolicy::Back { ignores_flush: true }),
        (16_384, Eviction::FirstIn, WritePolicy::Back { ignores_flush: true }),
    ] {
        let cache = Cache { page_bytes, eviction, write_policy, ..Cache::with_bytes(8 * u64::from(page_bytes)) };
        let other = Cache { takes: CachedWrites::Sequential, write_policy, ..Cache::with_bytes(64 * KIB) };
        let cache = Cache { takes: CachedWrites::Random, ..cache };
        let spec = MediumSpec::genuine(2 * MIB);
        let (mut plain, mut cached) = (Card::new(&spec), Card::new(&spec.clone().with_cache(cache).with_cache(other)));
        let mut state = 1u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for step in 0..3000 {
            let sectors = next(200) + 1;
            let offset = next(2 * MIB / 512 - sectors) * 512;
            if next(3) == 0 {
                assert_eq!(
                    plain.read(offset, sectors * 512),
                    cached.read(offset, sectors * 512),
                    "step {step}, {cache:?}"
                );
            } else {
                for card in [&mut plain, &mut cached] {
                    card.write(offset, sectors * 512, step as u8);
                }
            }
        }
        assert_eq!(plain.read(0, 2 * MIB), cached.read(0, 2 * MIB), "{cache:?}");
    }
}
