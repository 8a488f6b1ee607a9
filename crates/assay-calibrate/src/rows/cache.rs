//! `assay advise cache`: at the limits of a good and of a harmful cache.

use assay_core::workload::{Op, Pattern};
use assay_lab::fleet::{Design, Fleet, Load, Truth};

use super::truths::one_unit;
use crate::decisions::{Cached, cache, stored};
use crate::found::Found;
use crate::row::{Bound, ERROR, Row};

pub(super) fn rows() -> Vec<Row> {
    // Half of the reads hit: they take 0.5 + 0.5 / r of the time, so 1.2 times as fast is r = 1.5.
    let row = |what: &str, ratio: f64, bound: Bound, judge: fn(Cached) -> Found| {
        let name = format!("cache, {what}, one record each, day sd 3 %");
        let volume = one_unit(vec![Load { iops: 130.0, ..Load::random_read() }], 0.03);
        let feed = Load::new(Op::Write, Pattern::Sequential, 1 << 20, 8, 20.0);
        let medium = one_unit(vec![Load { iops: 130.0 * ratio, ..Load::random_read() }, feed], 0.03);
        Row::new(name, bound, move |seed| {
            let of = |truth: &Truth, seed| stored(&Fleet { truth: truth.clone(), design: Design::units(&[1]), seed });
            let mut slow = of(&volume, seed ^ 1)?;
            slow.iter_mut().for_each(|r| drop(r.labels.insert("model".to_owned(), "Volume".to_owned())));
            Ok(judge(cache(&of(&medium, seed)?, &slow)?))
        })
    };
    vec![
        row("reads 1.2 times as fast are not surely good", 1.5, ERROR, |said| match said {
            Cached::Good | Cached::Harmful => Found::Wrong,
            Cached::Undecided => Found::Undecided,
        }),
        row("reads as fast as without are not surely slower", 1.0, ERROR, |said| match said {
            Cached::Good | Cached::Harmful => Found::Wrong,
            Cached::Undecided => Found::Undecided,
        }),
        row("reads 1.67 times as fast are good", 5.0, Bound::Right(0.9), |said| match said {
            Cached::Good => Found::Right,
            Cached::Harmful => Found::Wrong,
            Cached::Undecided => Found::Undecided,
        }),
    ]
}
