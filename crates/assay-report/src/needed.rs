//! The number of values that would settle an undecided answer, as text.

use assay_analysis::{Needed, Values};
use assay_core::units::{figures, fixed, grouped};

/// `12 units of each would find a difference of 24 % in 80 of 100 cases`.
pub(crate) fn needed(needed: &Needed) -> String {
    if needed.number > ANYBODY {
        let what = match needed.of {
            Values::Units | Values::Pairs | Values::Others => "units",
            Values::Runs => "days",
        };
        let difference = difference(needed.ratio);
        return format!(
            "{difference} would take more {what} than anyone would measure ({})",
            grouped(needed.number.into())
        );
    }
    let of = match needed.of {
        Values::Units => "units of each",
        Values::Pairs => "units in both",
        Values::Runs if needed.number == 1 => "run of each on another day",
        Values::Runs => "runs of each on as many days",
        Values::Others => "other units",
    };
    format!(
        "{} {of} would find {} in {:.0} of 100 cases",
        needed.number,
        difference(needed.ratio),
        needed.power * 100.0
    )
}

/// A larger number is not practical, and is not given as advice.
const ANYBODY: u32 = 20;

fn difference(ratio: f64) -> String {
    match (ratio - 1.0) * 100.0 {
        percent if percent < 10.0 => format!("a difference of {} %", fixed(percent, 1)),
        percent if percent < 100.0 => format!("a difference of {} %", fixed(percent, 0)),
        _ if ratio < 9.95 => format!("a factor of {}", fixed(ratio, 1)),
        _ => format!("a factor of {}", figures(ratio)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_how_many_find_which_difference() {
        let say = |number, of, ratio| needed(&Needed { number, of, ratio, power: 0.8 });
        assert_eq!(say(12, Values::Units, 1.24), "12 units of each would find a difference of 24 % in 80 of 100 cases");
        assert_eq!(
            say(4, Values::Runs, 1.055),
            "4 runs of each on as many days would find a difference of 5.5 % in 80 of 100 cases"
        );
        assert_eq!(
            say(738, Values::Units, 1.03),
            "a difference of 3.0 % would take more units than anyone would measure (738)"
        );
        assert!(say(3, Values::Pairs, 2.5).contains("3 units in both would find a factor of 2.5"));
    }
}
