//! How nights vary, and what happens to the medium.

use std::fmt::Write;

pub const NIGHTS: i64 = 365;
/// Rates and latencies of a medium.
pub const LOADS: usize = 4;
/// A night on which a change begins lies between these.
pub const CHANGES: (usize, usize) = (60, 240);

/// How nights vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tails {
    Normal,
    /// Student's distribution of three degrees, as wide as the normal one.
    Heavy,
    /// One night in fifty is slower by six deviations, and it is a night of its own.
    Bad,
}

/// What happens to the medium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truth {
    Nothing,
    /// One rate becomes this ratio at once, and must be found within so many nights.
    Step(f64, i64),
    /// All rates fall by this ratio a year, and it must be found within so many days.
    Fall(f64, i64),
    /// Latencies become this multiple within the days, and it must be found in these.
    Tails(f64, i64),
    /// All rates become this ratio at once, which is one message.
    Whole(f64, i64),
}

impl Truth {
    /// Nights within which it has to be found.
    pub fn within(self) -> i64 {
        match self {
            Self::Nothing => 0,
            Self::Step(_, within) | Self::Fall(_, within) | Self::Tails(_, within) | Self::Whole(_, within) => within,
        }
    }
}

/// What else is unusual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Oddity {
    Nothing,
    /// Rates begin 20 % slow and get there in 30 nights.
    BreakIn,
    /// The first night is 15 K hotter than the others.
    HotFirst,
    /// A new kernel every 30 nights, which changes nothing.
    Kernels,
    /// The temperature is recorded from the night 180 on.
    LateSensor,
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub spread: f64,
    pub correlation: f64,
    pub tails: Tails,
    pub missed: f64,
    /// Change for each kelvin of a year that swings by ±10 K; and whether it is recorded.
    pub season: Option<(f64, bool)>,
    /// Ratio of all rates after a change of the kernel.
    pub kernel: Option<f64>,
    pub oddity: Oddity,
    pub truth: Truth,
    /// Whether the aim is known to be missed.
    pub missed_aim: bool,
}

const QUIET: Row = Row {
    spread: 0.03,
    correlation: 0.3,
    tails: Tails::Normal,
    missed: 0.0,
    season: None,
    kernel: None,
    oddity: Oddity::Nothing,
    truth: Truth::Nothing,
    missed_aim: false,
};

impl Row {
    pub fn name(&self) -> String {
        let mut name = format!("{:.0} %, {:.1}", self.spread * 100.0, self.correlation);
        match self.tails {
            Tails::Normal => {}
            Tails::Heavy => name += ", heavy tails",
            Tails::Bad => name += ", bad nights",
        }
        if self.missed > 0.0 {
            let _ = write!(name, ", {:.0} % of nights missed", self.missed * 100.0);
        }
        if let Some((effect, recorded)) = self.season {
            let how = if recorded { "" } else { ", not recorded" };
            let _ = write!(name, ", season of {:.1} %/K{how}", effect * 100.0);
        }
        if let Some(ratio) = self.kernel {
            let _ = write!(name, ", kernel ×{ratio}");
        }
        name += match self.oddity {
            Oddity::Nothing => "",
            Oddity::BreakIn => ", break-in of 30 nights",
            Oddity::HotFirst => ", a first night hotter by 15 K",
            Oddity::Kernels => ", a kernel every 30 nights",
            Oddity::LateSensor => " from night 180 on",
        };
        match self.truth {
            Truth::Nothing => {}
            Truth::Whole(ratio, _) => {
                let _ = write!(name, ", all rates ×{ratio}");
            }
            Truth::Step(ratio, _) => {
                let _ = write!(name, ", step ×{ratio}");
            }
            Truth::Fall(ratio, _) => {
                let _ = write!(name, ", ×{ratio} a year");
            }
            Truth::Tails(ratio, days) => {
                let _ = write!(name, ", p99 ×{ratio} in {days} days");
            }
        }
        name
    }

    pub fn rows() -> Vec<Self> {
        let mut rows = Vec::new();
        for spread in [0.01, 0.03, 0.05, 0.10] {
            for correlation in [0.0, 0.3, 0.6] {
                rows.push(Self { spread, correlation, ..QUIET });
            }
        }
        let all = Self { missed: 0.1, season: Some((0.002, true)), kernel: Some(0.92), ..QUIET };
        for row in [QUIET, Self { correlation: 0.6, ..QUIET }, Self { spread: 0.1, ..QUIET }] {
            let missed_aim = row.correlation > 0.5 || row.spread > 0.05;
            rows.push(Self { tails: Tails::Heavy, missed_aim, ..row });
            rows.push(Self { tails: Tails::Bad, ..row });
            rows.push(Self { season: Some((0.002, true)), ..row });
            rows.push(Self { season: Some((0.001, false)), missed_aim: row.correlation > 0.5, ..row });
            rows.push(Self { season: Some((0.002, false)), missed_aim: true, ..row });
            rows.push(Self { kernel: Some(0.92), ..row });
            let (spread, correlation) = (row.spread, row.correlation);
            rows.push(Self { tails: Tails::Heavy, spread, correlation, missed_aim, ..all });
        }
        let step = Truth::Step(0.9, 5);
        for correlation in [0.0, 0.3, 0.6] {
            rows.push(Self { correlation, truth: step, ..QUIET });
        }
        rows.push(Self { tails: Tails::Heavy, truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { missed: 0.1, truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { season: Some((0.002, true)), truth: step, missed_aim: true, ..QUIET });
        rows.push(Self { spread: 0.05, truth: Truth::Step(0.8, 5), ..QUIET });
        let fall = Truth::Fall(0.8, 120);
        for (spread, correlation) in [(0.01, 0.3), (0.03, 0.0), (0.03, 0.3), (0.03, 0.6), (0.05, 0.3)] {
            let missed_aim = spread > 0.04;
            rows.push(Self { spread, correlation, truth: fall, missed_aim, ..QUIET });
        }
        rows.push(Self { tails: Tails::Heavy, truth: fall, ..QUIET });
        rows.push(Self { kernel: Some(0.92), truth: fall, missed_aim: true, ..QUIET });
        let tails = Truth::Tails(2.0, 90);
        for (spread, correlation) in [(0.03, 0.3), (0.05, 0.6), (0.10, 0.6)] {
            rows.push(Self { spread, correlation, truth: tails, ..QUIET });
        }
        rows.extend(Self::odd_rows());
        rows
    }

    /// Years that another generator drew first.
    fn odd_rows() -> Vec<Self> {
        let step = Self { correlation: 0.0, truth: Truth::Step(0.9, 5), ..QUIET };
        let season = Self { season: Some((0.002, true)), oddity: Oddity::LateSensor, missed_aim: true, ..QUIET };
        vec![
            Self { oddity: Oddity::BreakIn, missed_aim: true, ..step },
            Self { oddity: Oddity::HotFirst, ..step },
            Self { tails: Tails::Bad, ..step },
            Self { tails: Tails::Bad, correlation: 0.3, missed_aim: true, ..step },
            Self { oddity: Oddity::Kernels, truth: Truth::Fall(0.8, 120), missed_aim: true, ..QUIET },
            season,
            Self { season: Some((0.0, true)), ..season },
            Self { spread: 0.05, correlation: 0.3, truth: Truth::Whole(0.8, 5), ..QUIET },
            Self { spread: 0.05, correlation: 0.6, truth: Truth::Whole(0.8, 5), missed_aim: true, ..QUIET },
        ]
    }
}
