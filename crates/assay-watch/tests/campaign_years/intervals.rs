//! Exact intervals of 95 %.

/// The place where a falling or rising function crosses zero.
fn crossing(mut low: f64, mut high: f64, below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// Chance of at most `k` of a Poisson distribution.
fn poisson(k: u32, mean: f64) -> f64 {
    // By logarithms: beyond a mean of 745 the first term is too small for a number.
    let (mut log, mut sum) = (-mean, 0.0);
    for at in 0..=k {
        sum += log.exp();
        log += (mean / f64::from(at + 1)).ln();
    }
    sum
}

/// Garwood 1936.
pub fn rate(k: u32, years: f64) -> (f64, f64) {
    let most = 20.0 + 3.0 * f64::from(k);
    let low = if k == 0 { 0.0 } else { crossing(0.0, most, |mean| 1.0 - poisson(k - 1, mean) < 0.025) };
    let high = crossing(0.0, most, |mean| poisson(k, mean) > 0.025);
    (low / years, high / years)
}

/// Chance of at most `k` of `n`.
fn binomial(k: u32, n: u32, p: f64) -> f64 {
    let mut log = f64::from(n) * (-p).ln_1p();
    let mut sum = 0.0;
    for at in 0..=k {
        sum += log.exp();
        log += ((f64::from(n) - f64::from(at)) / f64::from(at + 1) * p / (1.0 - p)).ln();
    }
    sum
}

/// Clopper and Pearson 1934.
pub fn share(k: u32, n: u32) -> (f64, f64) {
    let low = if k == 0 { 0.0 } else { crossing(0.0, 1.0, |p| 1.0 - binomial(k - 1, n, p) < 0.025) };
    let high = if k == n { 1.0 } else { crossing(0.0, 1.0, |p| binomial(k, n, p) > 0.025) };
    (low, high)
}

#[test]
fn exact_intervals_are_those_of_tables() {
    let near = |a: f64, b: f64| assert!((a - b).abs() < 5e-4, "{a} {b}");
    // Garwood: 0 events 0–3.689; 5 events 1.623–11.668.
    near(rate(0, 1.0).1, 3.6889);
    near(rate(5, 1.0).0, 1.6235);
    near(rate(5, 1.0).1, 11.6683);
    // 1,060 events 997.141–1125.784.
    near(rate(1060, 1.0).0, 997.1406);
    near(rate(1060, 1.0).1, 1125.784);
    // Clopper and Pearson: 9 of 10 0.555–0.9975.
    near(share(9, 10).0, 0.5550);
    near(share(9, 10).1, 0.9975);
}
