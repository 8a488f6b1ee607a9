//! Thresholds of the classes of SD cards, on published measurements.

use assay_core::medium::MediumKind;
use assay_core::record::Record;
use assay_core::workload::{Op, Pattern};
use assay_stats::random::Generator;

use super::samples::{record, with, work};
use super::{Kind, ModelWord, Obstacle, Status, class};

/// Five runs of iozone with 4 KiB records on a Raspberry Pi 4, in KiB/s.
const SD_READ: [f64; 5] = [7353.0, 7173.0, 7389.0, 7412.0, 7364.0];
const SD_WRITE: [f64; 5] = [3432.0, 3880.0, 3501.0, 3881.0, 3394.0];
const USB_READ: [f64; 5] = [11129.0, 11761.0, 11392.0, 11455.0, 11411.0];
const USB_WRITE: [f64; 5] = [10138.0, 10202.0, 11172.0, 11203.0, 11188.0];
const SD_STREAM: [f64; 5] = [19.3e6, 19.7e6, 19.2e6, 19.0e6, 19.2e6];

fn iops(kibibytes: &[f64]) -> Vec<f64> {
    kibibytes.iter().map(|v| v / 4.0).collect()
}

/// A card with these repeats. An empty list was not measured.
fn card(sequential_write: &[f64], read: &[f64], write: &[f64]) -> Record {
    let streams: Vec<f64> = sequential_write.iter().map(|v| v / 1_048_576.0).collect();
    let loads = [
        (work(Op::Write, Pattern::Sequential, (1 << 20, 8, 1)), &streams[..]),
        (work(Op::Read, Pattern::Random, (4096, 32, 1)), read),
        (work(Op::Write, Pattern::Random, (4096, 32, 1)), write),
    ];
    let measured = loads.into_iter().filter(|(_, values)| !values.is_empty());
    measured.fold(record("Card", "1"), |card, (load, values)| with(card, load, values))
}

fn queueing(mut card: Record) -> Record {
    card.medium.queue.insert("cmdq_en".to_owned(), "1".to_owned());
    card
}

fn status(card: &Record, name: &'static str) -> Status {
    class(std::slice::from_ref(card), &[name]).unwrap().units[0].classes[0].status
}

#[test]
fn classes_of_published_media() {
    let sd = card(&SD_STREAM, &iops(&SD_READ), &iops(&SD_WRITE));
    assert_eq!((status(&sd, "A1"), status(&sd, "A2")), (Status::Pass, Status::NotTestable));
    let sd = queueing(sd);
    assert_eq!(status(&sd, "A2"), Status::Fail);
    let all = &class(&[sd], &[]).unwrap().units[0].classes;
    let passed: Vec<_> = all.iter().filter(|c| c.status == Status::Pass).map(|c| c.class).collect();
    assert_eq!(passed, ["C2", "C4", "C6", "C10", "U1", "V6", "V10", "A1"]);
    assert_eq!(all.iter().filter(|c| c.status == Status::Fail).count(), 5);

    let usb = queueing(card(&SD_STREAM, &iops(&USB_READ), &iops(&USB_WRITE)));
    let a2 = &class(&[usb], &["A2"]).unwrap().units[0].classes[0];
    let of = |kind| a2.tests.iter().find(|t| t.kind == kind).unwrap().status;
    assert_eq!((of(Kind::RandomRead), of(Kind::RandomWrite)), (Status::Fail, Status::Pass));
    assert_eq!(a2.status, Status::Fail, "both have to be met");
    assert_eq!(status(&card(&[], &iops(&SD_READ), &[]), "A1"), Status::NotMeasured);
}

#[test]
fn a_spread_around_the_threshold_does_not_tell() {
    let card = card(&[9.5e6, 10.5e6, 10.2e6], &[], &[]);
    assert_eq!(status(&card, "C10"), Status::Indeterminate);
    assert_eq!(status(&card, "C6"), Status::Pass);
    assert_eq!(status(&card, "U3"), Status::Fail);
}

#[test]
fn a_single_repeat_above_the_thresholds_is_no_pass() {
    // 6206 and 3977 KB/s: 3.4 % and 98.9 % above A1.
    let card = card(&[20e6], &[6206.0 / 4.0], &[3977.0 / 4.0]);
    assert_eq!(status(&card, "A1"), Status::Indeterminate);
    assert!(class(&[card], &[]).unwrap().units[0].figures.iter().all(|f| f.bounds.is_none()));
}

#[test]
fn published_cards_without_queueing_are_not_tested_for_a2() {
    // ThomasKaiser/Knowledge, "A1 and A2 rated SD cards": KiB/s of 4 KiB random read and write.
    for (read, write) in [(10833.0, 3619.0), (6679.0, 2389.0), (5373.0, 2324.0)] {
        let near = |kibibytes: f64| iops(&[kibibytes * 0.999, kibibytes, kibibytes * 1.001]);
        let plain = card(&[30e6; 3], &near(read), &near(write));
        assert_eq!(status(&plain, "A2"), Status::NotTestable);
        let model = class(std::slice::from_ref(&plain), &["A2"]).unwrap();
        assert_eq!(model.models[0].classes[0].word, ModelWord::NotTestable, "what no unit can show no model has");
        // The third reads 10.5 % below A1, by one run: another day may differ by as much.
        let a1 = if read / 4.0 >= 1500.0 { Status::Pass } else { Status::Indeterminate };
        assert_eq!(status(&plain, "A1"), a1);
        assert_eq!(status(&queueing(plain), "A2"), Status::Fail);
    }
}

#[test]
fn virtual_disks_have_no_class() {
    let mut card = card(&[30e6; 3], &[9000.0; 3], &[9000.0; 3]);
    card.medium.kind = MediumKind::Virtio;
    let all = &class(&[card], &[]).unwrap().units[0].classes;
    assert!(all.iter().all(|c| (c.status, c.obstacle) == (Status::NotTestable, Some(Obstacle::Virtual))), "{all:?}");
}

/// A card exactly at its three thresholds is called a failure in at most 5 % of cases: the three tests together
/// have one error, not each its own.
#[test]
fn a_card_at_all_thresholds_seldom_fails() {
    let mut dice = Generator::new(0x5eed);
    let mut at = |truth: f64| -> [f64; 3] { std::array::from_fn(|_| truth * (0.02 * dice.normal()).exp()) };
    let drawn = 2000;
    let mut failed = 0;
    for _ in 0..drawn {
        failed += usize::from(status(&card(&at(10e6), &at(1500.0), &at(500.0)), "A1") == Status::Fail);
    }
    // Five percent, plus three standard errors of this number of draws.
    assert!(failed as f64 / f64::from(drawn) < 0.05 + 3.0 * (0.05f64 * 0.95 / 2000.0).sqrt(), "{failed}");
}

/// Units of one value each tell little of themselves, so their model is not judged by them either.
#[test]
fn a_model_is_judged_no_more_certainly_than_its_units() {
    let published = crate::published("sandisk-ultra-a1").unwrap();
    let found = class(&published, &["A1"]).unwrap();
    let model = &found.models[0].classes[0];
    assert!(model.parts.iter().all(|p| p.lower_limit.is_none()), "{model:?}");
    // One of three writes 147 of 500 at random.
    assert_eq!(model.word, ModelWord::Fail);
    let slow = |unit: &str, repeats: usize, write: f64| {
        let of =
            |value: f64| vec![value; repeats].iter().enumerate().map(|(i, v)| v * (1.0 + 1e-3 * i as f64)).collect();
        let (stream, read, write): (Vec<f64>, Vec<f64>, Vec<f64>) = (of(20e6), of(3000.0), of(write));
        let mut record = card(&stream, &read, &write);
        record.id = format!("{unit}{repeats}");
        record.labels.insert("unit".to_owned(), unit.to_owned());
        record
    };
    let word = |repeats, write| {
        let cards = ["1", "2", "3"].map(|unit| slow(unit, repeats, write));
        class(&cards, &["A1"]).unwrap().models[0].classes[0].word
    };
    assert_eq!((word(1, 400.0), word(3, 400.0)), (ModelWord::Indeterminate, ModelWord::Fail));
    assert_eq!(word(1, 100.0), ModelWord::Fail, "far below, by one value too");
}
