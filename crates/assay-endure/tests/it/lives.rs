//! Whole lives: each milestone at its true cycle, the kind of each failure, and no death but the medium's own.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_core::endurance::{CensorReason, DeathCause, FailureKind, LifeEnd, Reached, WearLoad};
use assay_endure::{
    Attachment, Control, Entry, Evidence, Fault, Keep, Medium, Phase, Recognised, Ruling, SLICES, Shows, Sight, Stamp,
    State, Step, Trouble, Way, Wear, judge, mixed, order, recognise, unit_on, written_since,
};

use crate::memory::{Memory, PAGES, begin, entries, replayed};
use crate::model::{Event, Fate, Handle, Model, NEVER, Others, Rng};

const SECTORS: u64 = PAGES * 8;

fn seeds() -> u64 {
    std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(30)
}

/// Weibull lives of pages, with early deaths of single sectors among them, and some that heal.
pub(crate) fn fates(rng: &mut Rng, scale: f64, heal: bool) -> Vec<Fate> {
    let shape = 2.0 + 4.0 * rng.unit();
    let mut fates = vec![NEVER; SECTORS as usize];
    for page in fates.chunks_mut(8) {
        let life = (scale * (-rng.unit().ln()).powf(1.0 / shape)).max(2.0) as u64;
        let kind = FailureKind::ALL[rng.below(8) as usize];
        for fate in page.iter_mut() {
            let early = rng.below(500) == 0;
            let from = if early { 2 + rng.below(scale as u64 / 2) } else { life };
            let kind = if early { FailureKind::ALL[rng.below(8) as usize] } else { kind };
            let until = if heal && rng.below(3) == 0 { from + 1 + rng.below(4) } else { u64::MAX };
            *fate = Fate { from, until, kind };
        }
    }
    fates
}

/// Who answers when the medium is in trouble.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scene {
    control: Control,
    elsewhere: Sight,
    attached_anew: bool,
    together: u32,
}

/// A life that is interrupted now and then.
pub(crate) struct Life {
    pub(crate) medium: Handle,
    pub(crate) log: Rc<RefCell<Vec<u8>>>,
    pub(crate) rng: Rng,
    pub(crate) scene: Scene,
    pub(crate) interruptions: u32,
}

impl Life {
    pub(crate) fn new(seed: u64, model: Model, load: WearLoad) -> Self {
        let log = Rc::new(RefCell::new(b"assay endurance\n".to_vec()));
        let mut keep = Memory::new(Rc::clone(&log));
        keep.append(&Entry::Begin(begin(seed | 1 << 40, load))).unwrap();
        Self {
            medium: Handle(Rc::new(RefCell::new(model))),
            log,
            rng: Rng(seed ^ 0xabcd),
            scene: Scene::default(),
            interruptions: 0,
        }
    }

    /// Up to this cycle or the end.
    pub(crate) fn live(&mut self, until: u64) -> State {
        for session in 0.. {
            assert!(session < 10_000, "no progress");
            let state = replayed(&mut self.log.borrow_mut());
            if state.end() != LifeEnd::Running || state.cycles() >= until {
                return state;
            }
            self.session(state, until, session > 0);
        }
        unreachable!()
    }

    /// One process, until it is killed, the power fails or the test ends.
    fn session(&mut self, state: State, until: u64, partly: bool) {
        let mut keep = Memory::new(Rc::clone(&self.log));
        // One of three processes dies while it writes to its log.
        keep.torn_after = (self.rng.below(3) == 0).then(|| self.rng.below(3 * 2 * SLICES));
        let sure = self.medium.0.borrow().event.is_none();
        if sure {
            let seen = recognise(&mut self.medium.clone(), &state);
            assert!(matches!(seen, Recognised::Ours | Recognised::NothingYet), "{seen:?} {:?}", state.task());
            for shows in [Shows::Every, Shows::Held] {
                assert_eq!(written_since(&mut self.medium.clone(), &state, shows), None, "{:?}", state.task());
            }
        }
        let mut wear = Wear::new(self.medium.clone(), keep, state);
        let at = "2026-11-28T12:00:00Z".to_owned();
        let attached = Attachment { at, path: "model".to_owned(), way: Way::default(), attachment: None, partly };
        if wear.note(&Entry::Attached(attached)).is_err() {
            return;
        }
        let mut left = self.rng.below(20 * 2 * SLICES);
        while wear.state().end() == LifeEnd::Running && wear.state().cycles() < until {
            let lives = left > 0;
            left = left.saturating_sub(1);
            match wear.step(&mut |_| lives) {
                Ok(Step::Done(_)) => {}
                Ok(Step::Ended(_)) => return,
                Ok(Step::Trouble(trouble)) => {
                    if !self.wait(&mut wear, trouble) {
                        return;
                    }
                }
                // Killed within the slice, or within its log; or the power failed.
                Ok(Step::Stopped) | Err(_) => {
                    self.interruptions += 1;
                    if self.rng.below(2) == 0 {
                        self.medium.0.borrow_mut().power_cut(&mut self.rng);
                    }
                    return;
                }
            }
        }
    }

    /// Waits a while; whether the medium came back.
    fn wait(&mut self, wear: &mut Wear<Handle, Memory>, trouble: Trouble) -> bool {
        let Scene { control, elsewhere, attached_anew, together } = self.scene;
        let mut evidence = Evidence { control, elsewhere, attached_anew, together, ..Evidence::of(trouble) };
        assert!(matches!(judge(&evidence), Ruling::Wait(_)), "{evidence:?}");
        for _ in 0..20 {
            // Whether writes are kept again is only seen by writing.
            let back = match trouble {
                Trouble::RefusesWrites | Trouble::DropsWrites => {
                    !matches!(wear.step(&mut |_| true), Ok(Step::Trouble(_)))
                }
                _ => wear.look().is_none(),
            };
            if back {
                return true;
            }
        }
        evidence.waited = true;
        let Ruling::Ended(end) = judge(&evidence) else { panic!("{evidence:?}") };
        // A torn log is mended by the next process, which finds the same.
        let _ = wear.note(&Entry::End(end));
        false
    }
}

/// In which cycle a share of the sectors had failed, by the fates.
fn truth(fates: &[Fate], share: f64) -> Option<u64> {
    let mut from: Vec<u64> = fates.iter().map(|fate| fate.from).collect();
    from.sort_unstable();
    let needed = (share * fates.len() as f64).ceil().max(1.0) as usize;
    from.get(needed - 1).copied().filter(|from| *from < u64::MAX)
}

/// Milestones before `end` are where they should be, and none after it.
fn check_milestones(state: &State, fates: &[Fate], before: u64) {
    let found = state.document(String::new()).milestones;
    let marks = [
        (found.first_error, 0.0),
        (found.per_mille, 0.001),
        (found.one_percent, 0.01),
        (found.ten_percent, 0.1),
        (found.quarter, 0.25),
        (found.half, 0.5),
    ];
    for (mark, share) in marks {
        let wanted = truth(fates, share);
        match (mark, wanted) {
            (Some(Reached { cycle, .. }), Some(wanted)) => {
                assert!(cycle.abs_diff(wanted) <= 1, "{share}: {cycle} for {wanted}")
            }
            (Some(Reached { cycle, .. }), None) => panic!("{share} in {cycle}, and never"),
            (None, Some(wanted)) => {
                assert!(
                    wanted >= before,
                    "{share} in {wanted} was missed before {before}: {:?}",
                    state.document(String::new())
                )
            }
            (None, None) => {}
        }
    }
}

/// The kind of each first failure in the log against the fates: right, and all.
fn kinds(log: &[u8], fates: &[Fate]) -> (u64, u64) {
    let mut seen = BTreeMap::new();
    for entry in entries(log) {
        let runs = match entry {
            Entry::Read(read) => read.failures,
            Entry::Failures(_, runs) => runs,
            _ => continue,
        };
        for run in runs {
            for sector in run.sectors {
                seen.entry(sector).or_insert(run.kind);
            }
        }
    }
    let right = seen.iter().filter(|(sector, kind)| fates[**sector as usize].kind == **kind).count();
    (right as u64, seen.len() as u64)
}

#[test]
fn media_that_wear_out_die_at_their_cycle_whatever_interrupts_them() {
    let (mut right, mut all, mut interruptions) = (0, 0, 0);
    for seed in 0..seeds() {
        let mut rng = Rng(seed);
        let fates = fates(&mut rng, 30.0, seed % 3 == 0);
        let load = if seed % 4 == 3 { WearLoad::RandomSync { block_bytes: 4096 } } else { WearLoad::Whole };
        let mut life = Life::new(seed, Model::new(SECTORS, fates.clone()), load);
        let state = life.live(1000);
        check_milestones(&state, &fates, 1000);
        let death = truth(&fates, 0.5);
        let document = state.document(String::new());
        assert_eq!(document.milestones.death.map(|at| at.cycle), death, "seed {seed}");
        assert!(matches!(document.end, LifeEnd::Died { cause: DeathCause::SilentLoss | DeathCause::Errors }));
        // Each cycle counts once, however often it was interrupted. Its last slice may be the one that ends it.
        let mut last = entries(&life.log.borrow()).into_iter().filter_map(|entry| match entry {
            Entry::Read(read) => Some(read.task.index),
            _ => None,
        });
        let whole = last.next_back() == Some(SLICES - 1);
        assert_eq!(document.cycles + u64::from(!whole), death.unwrap(), "seed {seed}");
        assert_eq!(document.written_bytes, death.unwrap() * PAGES * 4096);
        assert!(document.uncounted_bytes <= u64::from(life.interruptions) * PAGES * 4096 / SLICES);
        assert_eq!(document.kinds.values().sum::<u64>(), document.failed_sectors);
        let (good, of) = kinds(&life.log.borrow(), &fates);
        assert_eq!(of, document.failed_sectors, "seed {seed}");
        (right, all, interruptions) = (right + good, all + of, interruptions + life.interruptions);
    }
    assert!(right as f64 >= 0.99 * all as f64, "{right} of {all}");
    eprintln!("{} lives, {interruptions} interruptions, kinds right {right} of {all}", seeds());
    assert!(u64::from(interruptions) > seeds(), "{interruptions}");
}

#[test]
fn sectors_that_heal_are_counted_as_failed_once_and_as_healed() {
    for seed in 0..seeds() {
        let mut fates = vec![NEVER; SECTORS as usize];
        let mut rng = Rng(seed);
        for _ in 0..20 {
            let from = 2 + rng.below(10);
            fates[rng.below(SECTORS) as usize] = Fate { from, until: from + 3, kind: FailureKind::BitFlips };
        }
        let failing = fates.iter().filter(|fate| **fate != NEVER);
        let healed: u64 = failing.clone().map(|fate| 20 - (fate.until - 1)).sum();
        let count = failing.count() as u64;
        let mut life = Life::new(seed, Model::new(SECTORS, fates.clone()), WearLoad::Whole);
        let document = life.live(20).document(String::new());
        assert_eq!((document.failed_sectors, document.healed), (count, healed), "seed {seed}");
        assert_eq!(document.end, LifeEnd::Running);
    }
}

/// Places fail where the program looks whether writes are kept: they count like others, and end nothing.
#[test]
fn the_end_of_a_slice_fails_as_other_places_do() {
    let pages = PAGES / SLICES;
    for load in loads() {
        // Of one slice or of all: its last page, its last half, all of it; for three cycles or for good.
        for (of_all, bad) in [(true, 1), (false, pages / 2), (false, pages)] {
            for until in [5, u64::MAX] {
                let mut fates = vec![NEVER; SECTORS as usize];
                for slice in 0..SLICES {
                    if of_all || slice == 11 {
                        let end = (slice + 1) * pages * 8;
                        fates[(end - bad * 8) as usize..end as usize].fill(Fate {
                            from: 2,
                            until,
                            kind: FailureKind::Zeros,
                        });
                    }
                }
                let count = fates.iter().filter(|fate| **fate != NEVER).count() as u64;
                let mut life = Life::new(3, Model::new(SECTORS, fates), load);
                let document = life.live(7).document(String::new());
                let healed = if until == 5 { 3 * count } else { 0 };
                let seen = (document.failed_sectors, document.healed, document.end);
                assert_eq!(seen, (count, healed, LifeEnd::Running), "{load:?}, {bad} pages until {until}");
                assert_eq!(document.milestones.first_error.unwrap().cycle, 2);
            }
        }
    }
}

/// A log from an older copy does not make the medium one that keeps no writes.
#[test]
fn a_log_older_than_the_medium_is_no_fault_of_the_medium() {
    let mut life = Life::new(5, Model::new(SECTORS, vec![NEVER; SECTORS as usize]), WearLoad::Whole);
    life.live(2);
    let copy = life.log.borrow().clone();
    life.live(6);
    let state = replayed(&mut copy.clone());
    let mut wear = Wear::new(life.medium.clone(), Memory::new(Rc::new(RefCell::new(copy))), state);
    assert_eq!(wear.look(), Some(Trouble::LogBehind));
}

/// An older log is noticed before anything is written, also where the first pages of each slice are dead. A log that is two slices behind
/// is not: these slices are written again.
#[test]
fn a_medium_that_is_a_cycle_ahead_of_the_log_is_not_written() {
    let dead = Fate { from: 1, kind: FailureKind::StaleRound, ..NEVER };
    let worn = (0..SECTORS).map(|sector| if sector / 8 % 16 < 6 { dead } else { NEVER }).collect::<Vec<_>>();
    let cases = loads().into_iter().flat_map(|load| [(load, vec![NEVER; SECTORS as usize]), (load, worn.clone())]);
    for (load, fates) in cases {
        for (slices, is_ahead) in
            [(0, false), (1, false), (2, false), (3, true), (31, true), (33, true), (40, true), (200, true)]
        {
            let mut life = Life::new(6, Model::new(SECTORS, fates.clone()), load);
            life.live(2);
            let copy = life.log.borrow().clone();
            let state = replayed(&mut copy.clone());
            let log = Rc::new(RefCell::new(copy.clone()));
            let mut ahead = Wear::new(life.medium.clone(), Memory::new(log), state);
            (0..slices).for_each(|_| assert!(matches!(ahead.step(&mut |_| true), Ok(Step::Done(_)))));
            let state = replayed(&mut copy.clone());
            let mut wear = Wear::new(life.medium.clone(), Memory::new(Rc::new(RefCell::new(copy))), state);
            let step = wear.step(&mut |_| true);
            assert_eq!(matches!(step, Ok(Step::Trouble(Trouble::LogBehind))), is_ahead, "{load:?} {slices}: {step:?}");
        }
    }
}

/// A life in which something happens at a random operation, before the sectors wear out.
fn eventful(seed: u64, event: Event, scene: Scene, load: WearLoad) -> (State, Vec<Fate>) {
    let mut rng = Rng(seed ^ 0x5555);
    let fates = fates(&mut rng, 60.0, false);
    let mut model = Model::new(SECTORS, fates.clone());
    // A cycle has about 70 operations, more where blocks are synced; the look at what is attached has up to 180.
    let most = if load == WearLoad::Whole { 800 } else { 5000 };
    model.event = Some((1 + rng.below(most), event));
    let mut life = Life::new(seed, model, load);
    life.scene = scene;
    (life.live(40), fates)
}

fn loads() -> [WearLoad; 2] {
    [WearLoad::Whole, WearLoad::RandomSync { block_bytes: 4096 }]
}

const WORKS: Control = Control { sight: Sight::Works, same_reader: true, written: true };

#[test]
fn a_medium_that_turns_read_only_dies_of_that() {
    let cases = [Event::RefusesWrites(Fault::ReadOnly), Event::RefusesWrites(Fault::Errs), Event::DropsWrites];
    for seed in 0..seeds() {
        let event = cases[(seed % 3) as usize];
        let scene = Scene { control: WORKS, ..Scene::default() };
        let (state, fates) = eventful(seed, event, scene, loads()[(seed / 3 % 2) as usize]);
        let document = state.document(String::new());
        // What drops its writes in the first cycle holds nothing; that it held before is not known.
        let first = document.milestones.death.is_some_and(|at| at.cycle == 1);
        let fits = |cause| matches!(cause, DeathCause::ReadOnly) || (first && cause == DeathCause::SilentLoss);
        assert!(matches!(document.end, LifeEnd::Died { cause } if fits(cause)), "seed {seed} {event:?}: {document:?}");
        check_milestones(&state, &fates, document.milestones.death.unwrap().cycle);
    }
}

#[test]
fn no_end_of_a_reader_is_counted_as_that_of_a_medium() {
    let forever = u64::MAX;
    let cases = [
        Event::Fails(Fault::Errs, forever),
        Event::Fails(Fault::Gone, forever),
        Event::Fails(Fault::Hung, forever),
        Event::Blank,
        Event::DropsWrites,
        Event::RefusesWrites(Fault::Errs),
    ];
    let fails = Control { sight: Sight::Fails, same_reader: true, written: false };
    let scenes = [
        (Scene { control: fails, ..Scene::default() }, CensorReason::Reader),
        (Scene::default(), CensorReason::Unknown),
        (Scene { elsewhere: Sight::Works, ..Scene::default() }, CensorReason::Reader),
        (Scene { together: 2, control: WORKS, ..Scene::default() }, CensorReason::Bus),
        (Scene { control: Control { same_reader: false, ..WORKS }, ..Scene::default() }, CensorReason::Unknown),
    ];
    for seed in 0..seeds() {
        let event = cases[(seed % 6) as usize];
        for (scene, reason) in scenes {
            for load in loads() {
                let (state, fates) = eventful(seed, event, scene, load);
                let document = state.document(String::new());
                let exchanged = LifeEnd::Censored { reason: CensorReason::Exchanged };
                assert_ne!(document.end, exchanged);
                assert_eq!(document.end, LifeEnd::Censored { reason }, "seed {seed} {event:?} {load:?}");
                assert_eq!(document.milestones.death, None);
                // Not one sector more than those of the medium itself.
                let worn = fates.iter().filter(|fate| fate.from <= state.task().cycle).count() as u64;
                assert!(document.failed_sectors <= worn, "seed {seed} {event:?}: {}", document.failed_sectors);
                check_milestones(&state, &fates, state.task().cycle);
            }
        }
    }
}

#[test]
fn a_medium_that_is_gone_for_good_beside_one_that_works_died() {
    let cases = [
        (Event::Fails(Fault::Gone, u64::MAX), DeathCause::Vanished),
        (Event::Fails(Fault::Hung, u64::MAX), DeathCause::Hung),
        (Event::Fails(Fault::Errs, u64::MAX), DeathCause::Errors),
    ];
    for seed in 0..seeds() {
        let (event, cause) = cases[(seed % 3) as usize];
        let (state, _) = eventful(seed, event, Scene { control: WORKS, ..Scene::default() }, WearLoad::Whole);
        let end = state.end();
        // Where the medium errs before it held anything, it takes no writes: that is all that is seen.
        let first = state.cycles() == 0 && end == LifeEnd::Died { cause: DeathCause::ReadOnly };
        assert!(end == LifeEnd::Died { cause } || first, "seed {seed}: {end:?}");
    }
}

/// What holds shows that the way to the medium works, so that no control is needed.
#[test]
fn a_medium_that_keeps_few_of_its_places_at_once_dies_of_its_losses() {
    let cases = [Others::ReadAsZeros, Others::GiveErrors, Others::DropWrites, Others::RefuseWrites];
    let mut unknown = 0;
    for seed in 0..seeds() {
        let event = Event::KeepsFew(16, cases[(seed % 4) as usize]);
        let (state, _) = eventful(seed, event, Scene::default(), loads()[(seed / 4 % 2) as usize]);
        let document = state.document(String::new());
        // A slice of this area has 16 pages, and may have none that is kept: as long as nothing else is written, no place is known.
        if document.written_bytes <= 2 * PAGES * 4096 / SLICES && document.milestones.death.is_none() {
            assert_eq!(document.failed_sectors, 0);
            unknown += 1;
            continue;
        }
        let lost = matches!(document.end, LifeEnd::Died { cause: DeathCause::SilentLoss | DeathCause::Errors });
        assert!(lost, "seed {seed} {event:?}: {document:?}");
        assert!(document.milestones.half.is_some());
    }
    assert!(50 * unknown <= seeds(), "{unknown} of {} are not told", seeds());
}

/// The same of one place in a hundred, on an area of 64 MiB, from the fifth cycle on.
#[test]
fn a_medium_that_keeps_one_place_in_a_hundred_dies_of_its_losses() {
    let pages = 16_384;
    for others in [Others::ReadAsZeros, Others::GiveErrors, Others::DropWrites, Others::RefuseWrites] {
        for turn in 0..3 {
            let model = Model::new(pages * 8, vec![NEVER; (pages * 8) as usize]);
            let medium = Handle(Rc::new(RefCell::new(model)));
            let begun = assay_endure::Begin { pages, ..begin(turn, WearLoad::Whole) };
            let state = State::begin(begun).unwrap();
            let mut wear = Wear::new(medium.clone(), Memory::new(Rc::default()), state);
            // In writing, between writing and reading, and in reading.
            (0..4 * 32 + [5, 16, 20][turn as usize]).for_each(|_| {
                assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
            });
            medium.0.borrow_mut().event = Some((0, Event::KeepsFew(100, others)));
            let end = loop {
                match wear.step(&mut |_| true).unwrap() {
                    Step::Done(_) => {}
                    Step::Ended(end) => break end,
                    other => panic!("{others:?} {turn}: {other:?} {:?}", wear.state().task()),
                }
                assert!(wear.state().cycles() < 7);
            };
            assert!(matches!(end, LifeEnd::Died { cause: DeathCause::SilentLoss | DeathCause::Errors }), "{end:?}");
            assert_eq!(recognise(&mut medium.clone(), wear.state()), Recognised::Ours, "{others:?}");
            assert_eq!(unit_on(&mut medium.clone()), Some(turn));
        }
    }
}

/// A reader that gives one right answer in sixteen, whatever the place, is no medium that lost the others.
#[test]
fn a_reader_that_works_now_and_then_kills_no_medium() {
    for seed in 0..seeds() {
        for load in loads() {
            let (state, fates) = eventful(seed, Event::NowAndThen(16), Scene::default(), load);
            let document = state.document(String::new());
            assert_eq!(document.milestones.death, None, "seed {seed}: {document:?}");
            let worn = fates.iter().filter(|fate| fate.from <= state.task().cycle).count() as u64;
            assert!(document.failed_sectors <= worn, "seed {seed}: {} of {worn}", document.failed_sectors);
        }
    }
}

/// Places that are kept lie together, and far from the slice under way.
#[test]
fn a_medium_that_keeps_its_last_part_alone_dies_of_its_losses() {
    let pages = 8192;
    for load in loads() {
        for (turn, parts) in (0..).zip([100, 50, 25]) {
            let medium = Handle(Rc::new(RefCell::new(Model::new(pages * 8, vec![NEVER; (pages * 8) as usize]))));
            let state = State::begin(assay_endure::Begin { pages, ..begin(turn, load) }).unwrap();
            let mut wear = Wear::new(medium.clone(), Memory::new(Rc::default()), state);
            (0..2 * 32 + [3, 9, 15][turn as usize]).for_each(|_| {
                assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
            });
            medium.0.borrow_mut().event = Some((0, Event::KeepsEnd(parts)));
            let end = loop {
                match wear.step(&mut |_| true).unwrap() {
                    Step::Done(_) => {}
                    Step::Ended(end) => break end,
                    other => panic!("{load:?} {parts}: {other:?} {:?}", wear.state().task()),
                }
                assert!(wear.state().cycles() < 6);
            };
            assert_eq!(end, LifeEnd::Died { cause: DeathCause::SilentLoss });
            let document = wear.state().document(String::new());
            assert_eq!(
                document.kinds.keys().copied().collect::<Vec<_>>(),
                [FailureKind::StaleRound],
                "{load:?} {parts}"
            );
        }
    }
}

/// A way that fails one reading or one operation in four does not wear a medium.
#[test]
fn a_way_that_fails_now_and_then_adds_no_failure() {
    for event in [Event::ReadsZeros(4), Event::ReadsZeros(10), Event::Errs(4), Event::Errs(10)] {
        for load in loads() {
            let pages = 512;
            let medium = Handle(Rc::new(RefCell::new(Model::new(pages * 8, vec![NEVER; (pages * 8) as usize]))));
            let state = State::begin(assay_endure::Begin { pages, ..begin(7, load) }).unwrap();
            let mut wear = Wear::new(medium.clone(), Memory::new(Rc::default()), state);
            medium.0.borrow_mut().event = Some((40, event));
            let mut troubles = 0;
            while wear.state().cycles() < 60 && troubles < 1000 {
                match wear.step(&mut |_| true).unwrap() {
                    Step::Done(_) => {}
                    Step::Trouble(_) => troubles += 1,
                    other => panic!("{event:?} {load:?}: {other:?} {:?}", wear.state().task()),
                }
            }
            let document = wear.state().document(String::new());
            assert_eq!(document.failed_sectors, 0, "{event:?} {load:?}: {document:?}");
            assert!(troubles == 1000 || wear.state().transient() > 0);
        }
    }
}

/// No operation fails in between, as where a loop device has another file at once.
#[test]
fn a_medium_that_is_exchanged_while_it_is_written_has_not_died() {
    for load in loads() {
        for share in [12, 15] {
            let medium = Handle(Rc::new(RefCell::new(Model::new(SECTORS, vec![NEVER; SECTORS as usize]))));
            let mut wear = Wear::new(medium.clone(), Memory::new(Rc::default()), State::begin(begin(9, load)).unwrap());
            (0..2 * 32 + share).for_each(|_| assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_)))));
            medium.0.borrow_mut().event = Some((0, Event::Exchanged(77)));
            let trouble = loop {
                match wear.step(&mut |_| true).unwrap() {
                    Step::Done(_) => {}
                    Step::Trouble(trouble) => break trouble,
                    other => panic!("{load:?} {share}: {other:?}"),
                }
                assert!(wear.state().cycles() < 3, "{load:?} {share}");
            };
            assert_eq!(trouble, Trouble::Exchanged, "{load:?} {share}");
            assert_eq!(wear.state().failed().sectors(), 0, "{load:?} {share}");
        }
    }
}

/// Places that never took a write hold what an earlier test wrote.
#[test]
fn a_used_medium_that_loses_writes_of_its_first_cycle_was_not_exchanged() {
    for load in loads() {
        for parts in [2, 3, 20, 60] {
            let medium = Handle(Rc::new(RefCell::new(Model::new(SECTORS, vec![NEVER; SECTORS as usize]))));
            medium.0.borrow_mut().event = Some((0, Event::Exchanged(77)));
            let mut page = [0; 4096];
            medium.clone().read(0, &mut page).unwrap();
            medium.0.borrow_mut().event = Some((0, Event::KeepsEnd(parts)));
            let mut wear = Wear::new(medium.clone(), Memory::new(Rc::default()), State::begin(begin(9, load)).unwrap());
            let end = loop {
                match wear.step(&mut |_| true).unwrap() {
                    Step::Done(_) => {}
                    Step::Ended(end) => break end,
                    other => panic!("{load:?} {parts}: {other:?}"),
                }
                assert_eq!(wear.state().cycles(), 0);
            };
            assert_eq!(end, LifeEnd::Died { cause: DeathCause::SilentLoss }, "{load:?} {parts}");
        }
    }
}

/// A kill between the writing of other content and its putting back leaves that content on pages that never failed.
#[test]
fn what_a_look_left_behind_is_put_back_after_a_kill() {
    let mut life = Life::new(11, Model::new(SECTORS, vec![NEVER; SECTORS as usize]), WearLoad::Whole);
    life.live(2);
    let state = replayed(&mut life.log.borrow_mut());
    let mut wear = Wear::new(life.medium.clone(), Memory::new(Rc::clone(&life.log)), state);
    (0..14).for_each(|_| assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_)))));
    let task = wear.state().task();
    assert_eq!((task.phase, task.index), (Phase::Write, 14));
    // Writes go nowhere from now on, but for the page that the look finds to hold and to keep.
    life.medium.0.borrow_mut().event = Some((0, Event::DropsWrites));
    assert!(matches!(wear.step(&mut |_| true), Ok(Step::Trouble(Trouble::DropsWrites))));
    life.medium.0.borrow_mut().event = None;
    let (unit, cycle) = (wear.state().layout().unit, task.cycle);
    let mut page = vec![0; 4096];
    let first = order(unit, cycle, Phase::Write)[3] * SECTORS / SLICES;
    for (sector, address) in page.chunks_mut(512).zip(first..) {
        Stamp { unit: mixed(unit, 1), round: cycle, address }.fill(sector);
    }
    life.medium.write(first * 512, &page).unwrap();
    let state = replayed(&mut life.log.borrow_mut());
    let mut wear = Wear::new(life.medium.clone(), Memory::new(Rc::clone(&life.log)), state);
    while wear.state().cycles() < cycle {
        assert!(matches!(wear.step(&mut |_| true), Ok(Step::Done(_))));
    }
    assert_eq!(wear.state().failed().sectors(), 0);
}

#[test]
fn a_hub_that_resets_adds_no_failure() {
    for seed in 0..seeds() {
        let fault = [Fault::Errs, Fault::Gone, Fault::Hung][(seed % 3) as usize];
        for load in loads() {
            let event = Event::Fails(fault, 1 + seed % 7);
            let (state, fates) = eventful(seed, event, Scene::default(), load);
            let document = state.document(String::new());
            let worn = fates.iter().filter(|fate| fate.from <= 40).count() as u64;
            assert_eq!((document.end, document.cycles), (LifeEnd::Running, 40), "seed {seed} {fault:?} {load:?}");
            assert_eq!(document.failed_sectors, worn, "seed {seed}");
            check_milestones(&state, &fates, 41);
        }
    }
}

#[test]
fn a_fake_that_wraps_fails_where_it_lost() {
    for seed in 0..seeds() {
        let mut rng = Rng(seed);
        let mut model = Model::new(SECTORS, vec![NEVER; SECTORS as usize]);
        model.real = 8 * (140 + rng.below(100));
        let real = model.real;
        let mut life = Life::new(seed, model, WearLoad::Whole);
        let state = life.live(6);
        // Of the addresses that share a place, the one written last holds.
        let layout = *state.layout();
        let mut failed = std::collections::BTreeSet::new();
        let mut first = 0;
        for cycle in 1..=state.cycles() {
            let mut holder = vec![0; real as usize];
            for slice in order(layout.unit, cycle, Phase::Write) {
                let pages = layout.slice(slice);
                for sector in pages.start * 8..pages.end * 8 {
                    holder[(sector % real) as usize] = sector;
                }
            }
            failed.extend((0..SECTORS).filter(|sector| holder[(sector % real) as usize] != *sector));
            first = if cycle == 1 { failed.len() } else { first };
        }
        let document = state.document(String::new());
        assert_eq!(first as u64, SECTORS - real);
        assert_eq!(document.milestones.first_error.map(|at| at.cycle), Some(1));
        if document.end == LifeEnd::Running {
            assert_eq!(document.failed_sectors, failed.len() as u64, "seed {seed}");
        }
        assert_eq!(document.kinds.keys().copied().collect::<Vec<_>>(), [FailureKind::OtherAddress]);
    }
}
