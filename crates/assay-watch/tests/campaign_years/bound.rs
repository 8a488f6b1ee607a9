//! What no rule can exceed: the power of one that knows the level, the spread, the correlation, the error of measuring and the
//! form of the change, at the same rate of false alarms.
//!
//! Nights of a correlation are whitened by the stationary Kalman filter of their series (a first-order autoregression, measured
//! with an error). For a change that begins in a night, the logarithm of the likelihood ratio is then a sum over the nights since;
//! the rule takes the largest over where it may have begun (Willsky and Jones 1976), and its threshold is simulated: 0.1 alarms a
//! medium and year over eight figures.

use assay_stats::random::Generator;

use crate::intervals::share;

/// False alarms a figure and night.
const FALSE_ALARMS: f64 = 0.1 / 8.0 / 365.0;
/// The error of measuring, in deviations of the nights.
const OWN_ERROR: f64 = 0.25;
/// Nights after an alarm that belong to it.
const ONE_ALARM: usize = 14;

/// Nights of a figure as the rule knows them, in deviations.
#[derive(Clone, Copy)]
struct Known {
    correlation: f64,
    /// Variance of what lasts, and of what is of the night alone.
    lasting: f64,
    passing: f64,
}

impl Known {
    fn alone(correlation: f64) -> Self {
        Self { correlation, lasting: 1.0, passing: OWN_ERROR * OWN_ERROR }
    }

    /// What is left of a figure once seven others, which share half of its variance, are taken off as well as they can.
    fn beside_others(correlation: f64) -> Self {
        let passing = OWN_ERROR * OWN_ERROR;
        let beta = 0.5 / (0.5 + (0.5 + passing) / 7.0);
        let lasting = (1.0 - beta) * (1.0 - beta) * 0.5 + 0.5 + beta * beta * 0.5 / 7.0;
        Self { correlation, lasting, passing: passing * (1.0 + beta * beta / 7.0) }
    }

    /// What a change of this form does to the whitened nights since it began.
    fn whitened(&self, change: impl Iterator<Item = f64>) -> Vec<f64> {
        let keep = self.correlation * self.correlation;
        let news = self.lasting * (1.0 - keep);
        let mut variance = self.lasting;
        for _ in 0..500 {
            variance = keep * variance * self.passing / (variance + self.passing) + news;
        }
        let gain = variance / (variance + self.passing);
        let mut state = 0.0;
        change
            .map(|value| {
                let expected = self.correlation * state;
                state = expected + gain * (value - expected);
                (value - expected) / (variance + self.passing).sqrt()
            })
            .collect()
    }
}

/// The largest likelihood ratio over where a change may have begun, night by night.
struct Rule<'a> {
    form: &'a [f64],
    /// By the nights since the change began, newest first.
    begun: std::collections::VecDeque<f64>,
}

impl<'a> Rule<'a> {
    fn new(form: &'a [f64]) -> Self {
        Self { form, begun: std::collections::VecDeque::with_capacity(form.len() + 1) }
    }

    fn take(&mut self, night: f64) -> f64 {
        self.begun.push_front(0.0);
        self.begun.truncate(self.form.len());
        let mut most = f64::MIN;
        for (ratio, form) in self.begun.iter_mut().zip(self.form) {
            *ratio += form * (night - form / 2.0);
            most = most.max(*ratio);
        }
        most
    }
}

/// The threshold with [`FALSE_ALARMS`].
fn threshold(form: &[f64], random: &mut Generator) -> f64 {
    let nights = if form.len() > 10 { 2_000_000 } else { 20_000_000 };
    let mut rule = Rule::new(form);
    let mut peaks: Vec<f64> = Vec::new();
    let mut last = 0;
    for night in 0..nights {
        let ratio = rule.take(random.normal());
        if ratio < 3.0 {
            continue;
        }
        match peaks.last_mut() {
            Some(peak) if night - last <= ONE_ALARM => *peak = peak.max(ratio),
            _ => peaks.push(ratio),
        }
        last = night;
    }
    peaks.sort_by(|a, b| b.total_cmp(a));
    peaks[(FALSE_ALARMS * nights as f64) as usize]
}

/// How often one of `figures` figures that share half of their variance is found in the nights of the form.
fn power(form: &[f64], threshold: f64, figures: usize, random: &mut Generator) -> (u32, u32) {
    let years = if form.len() > 10 { 4000 } else { 40_000 };
    let mut found = 0;
    for _ in 0..years {
        let mut rules: Vec<Rule> = (0..figures).map(|_| Rule::new(form)).collect();
        let mut seen = false;
        for at in 0..2 * form.len() {
            let common = random.normal();
            for rule in &mut rules {
                let own = if figures > 1 { (common + random.normal()) / 2.0f64.sqrt() } else { common };
                let moved = at.checked_sub(form.len()).map_or(0.0, |since| form[since]);
                seen |= rule.take(own + moved) > threshold && at >= form.len();
            }
        }
        found += u32::from(seen);
    }
    (found, years)
}

/// Prints the table of `docs/results`.
#[test]
fn what_a_rule_that_knows_all_finds() {
    let long = std::env::var("ASSAY_CAMPAIGN_SEEDS").is_ok();
    let mut random = Generator::new(37);
    println!(
        "| change | spread, autocorrelation | one figure by itself | beside the others |\n| --- | --- | --- | --- |"
    );
    let mut row = |name: &str, spread: f64, correlation: f64, figures: usize, change: &dyn Fn(usize) -> f64, within| {
        let cells = [Known::alone(correlation), Known::beside_others(correlation)].map(|known| {
            let form = known.whitened((0..within).map(|since| change(since) / spread));
            let (found, years) = power(&form, threshold(&form, &mut random), figures, &mut random);
            let (low, high) = share(found, years);
            (100.0 * f64::from(found) / f64::from(years), 100.0 * low, 100.0 * high)
        });
        let [alone, beside] = cells.map(|(found, low, high)| format!("{found:.1} % ({low:.1}–{high:.1})"));
        // Others that move, too, are no measure.
        let beside = if figures > 1 { "–".to_owned() } else { beside };
        println!("| {name} | {:.0} %, {correlation:.1} | {alone} | {beside} |", spread * 100.0);
        cells[0].0
    };
    let step = |_: usize| -0.9f64.ln();
    let independent = row("step ×0.9, 5 nights", 0.03, 0.0, 1, &step, 5);
    let alike = row("step ×0.9, 5 nights", 0.03, 0.6, 1, &step, 5);
    assert!(independent > 99.0 && alike < independent, "{independent} {alike}");
    if !long {
        return;
    }
    row("step ×0.9, 5 nights", 0.03, 0.3, 1, &step, 5);
    let fall = |since: usize| -0.8f64.ln() * since as f64 / 365.0;
    for (spread, correlation) in [(0.03, 0.3), (0.03, 0.6), (0.05, 0.3)] {
        row("×0.8 a year, 120 days", spread, correlation, 4, &fall, 120);
    }
    let tails = |since: usize| 2.0f64.ln() * (since as f64 / 90.0) / 2.0;
    for (spread, correlation) in [(0.03, 0.3), (0.05, 0.6), (0.10, 0.6)] {
        row("p99 ×2 in 90 days", spread, correlation, 4, &tails, 90);
    }
}
