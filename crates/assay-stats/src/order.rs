//! Order statistics of values: median and quartiles. No distribution is assumed, and a single outlier does not change
//! them.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The median of values with its interval, and the quartiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Middle {
    /// The median.
    pub median: f64,
    /// The ends of its interval; `None` of fewer values than an interval of this level takes: six at 95 %.
    pub interval: Option<(f64, f64)>,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
}

/// The median with an interval of at least this level, by order statistics: how many values lie below the median is
/// binomial (Conover 1999, "Practical Nonparametric Statistics", section 3.2). Quartiles are those of definition 7 of
/// Hyndman and Fan (1996). `None` without a value.
#[must_use]
pub fn middle(values: &[f64], level: f64) -> Option<Middle> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |share: f64| {
        let place = share * (n - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(n - 1);
        let part = place - below as f64;
        // Of finite values never more than the larger one.
        sorted[below] * (1.0 - part) + sorted[above] * part
    };
    (n > 0).then(|| Middle {
        median: at(0.5),
        interval: outside(n, level).map(|k| (sorted[k], sorted[n - 1 - k])),
        quartiles: (at(0.25), at(0.75)),
    })
}

/// How many values on each side lie outside of the interval; `None` where even all of them are too few.
fn outside(n: usize, level: f64) -> Option<usize> {
    let below = Binomial::new(0.5, n as u64).ok()?;
    let beyond = (1.0 - level) / 2.0;
    let fits = |k: &usize| below.cdf(*k as u64) <= beyond;
    (0..n / 2).take_while(fits).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize) -> Option<Middle> {
        middle(&(1..=n).rev().map(|v| v as f64).collect::<Vec<_>>(), 0.95)
    }

    /// Ranks of Conover, table A3 with p = 1/2: 6 values take all, 28 the ninth and the twentieth.
    #[test]
    fn the_interval_is_that_of_the_tables() {
        assert_eq!(of(0), None);
        assert_eq!(of(5).unwrap().interval, None);
        assert_eq!(of(6).unwrap().interval, Some((1.0, 6.0)));
        assert_eq!(of(28).unwrap().interval, Some((9.0, 20.0)));
        assert_eq!(of(1000).unwrap().interval, Some((469.0, 532.0)));
    }

    #[test]
    fn median_and_quartiles_are_those_of_definition_7() {
        let five = of(5).unwrap();
        assert_eq!((five.median, five.quartiles), (3.0, (2.0, 4.0)));
        let four = of(4).unwrap();
        assert_eq!((four.median, four.quartiles), (2.5, (1.75, 3.25)));
        assert_eq!(of(1).unwrap().quartiles, (1.0, 1.0));
    }
}
