//! `assay advise nas`: a medium in each node, or a share of a volume.

use assay_core::units::counted;
use assay_lab::fleet::{Design, Fleet, Load, Truth};

use super::names::percent;
use super::truths::one_unit;
use crate::decisions::{LocalOrNas, nas, stored};
use crate::found::Found;
use crate::row::{Bound, ERROR, Row};

/// Share of a node of 1 Gbit/s over 28 nodes, in bytes per second of payload (TCP over Ethernet with time stamps).
const SHARE: f64 = 125e6 * 1448.0 / 1538.0 / 28.0;
/// Local has to be faster by this.
const MARGIN: f64 = 1.1;
/// What the volume gives to one client, in bytes per second: less than its wire.
const VOLUME: f64 = 70e6;

pub(super) fn rows() -> Vec<Row> {
    let stream = |rate: f64| Load { iops: rate / f64::from(1 << 20), ..Load::sequential_read() };
    let local = move |records: u32, day: f64| {
        let of = counted(records as usize, "record");
        let name = format!("nas, one unit at the limit, {of}, day sd {}", percent(day));
        let truth = one_unit(vec![stream(SHARE * MARGIN)], day);
        Row::new(name, ERROR, move |seed| {
            let fleet = Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(records), seed };
            Ok(match nas(&stored(&fleet)?, &[])? {
                LocalOrNas::Local => Found::Wrong,
                LocalOrNas::Nas => Found::Right,
                LocalOrNas::Undecided => Found::Undecided,
            })
        })
    };
    let (card, volume) = (one_unit(vec![stream(VOLUME / 28.0 * MARGIN)], 0.01), one_unit(vec![stream(VOLUME)], 0.03));
    let fast = one_unit(vec![stream(SHARE * 2.0)], 0.03);
    let slow = one_unit(vec![Load { iops: 800.0, ..Load::random_read() }], 0.01);
    vec![
        local(1, 0.0),
        local(1, 0.03).short(),
        local(3, 0.03),
        local(6, 0.03),
        Row::new("nas, at the limit of a volume that was measured once, day sd 3 %", ERROR, move |seed| {
            let of = |truth: &Truth, days: u32, seed: u64| {
                stored(&Fleet { truth: truth.clone(), design: Design::units(&[1]).on_days(days), seed })
            };
            let mut measured = of(&volume, 1, seed ^ 1)?;
            measured.iter_mut().for_each(|r| drop(r.labels.insert("model".to_owned(), "Volume".to_owned())));
            Ok(match nas(&of(&card, 6, seed)?, &measured)? {
                LocalOrNas::Local => Found::Wrong,
                LocalOrNas::Nas => Found::Right,
                LocalOrNas::Undecided => Found::Undecided,
            })
        }),
        // Disks do some 130 of these in a second, for all nodes together.
        Row::new("nas, random reads of 4 KiB against a wire alone are not for the NAS", ERROR, move |seed| {
            let fleet = Fleet { truth: slow.clone(), design: Design::units(&[1]).on_days(3), seed };
            Ok(match nas(&stored(&fleet)?, &[])? {
                LocalOrNas::Nas => Found::Wrong,
                LocalOrNas::Local => Found::Right,
                LocalOrNas::Undecided => Found::Undecided,
            })
        }),
        Row::new("nas, one unit at twice the share, 3 records, day sd 3 %", Bound::Right(0.9), move |seed| {
            let fleet = Fleet { truth: fast.clone(), design: Design::units(&[1]).on_days(3), seed };
            Ok(match nas(&stored(&fleet)?, &[])? {
                LocalOrNas::Local => Found::Right,
                LocalOrNas::Nas => Found::Wrong,
                LocalOrNas::Undecided => Found::Undecided,
            })
        }),
    ]
}
