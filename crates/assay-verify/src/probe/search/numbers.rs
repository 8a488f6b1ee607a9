//! Evenly spaced numbers, and prime factors.

/// At most `most` numbers between `low` and `high`, both excluded, evenly apart.
pub(crate) fn evenly_spaced(low: u64, high: u64, most: u64) -> Vec<u64> {
    let inside = high.saturating_sub(low + 1);
    let count = most.min(inside);
    (1..=count)
        .map(|index| low + (u128::from(inside + 1) * u128::from(index) / u128::from(count + 1)) as u64)
        .filter(|at| *at > low && *at < high)
        .collect()
}

/// Each power of each prime that divides `number`, with the prime.
pub(crate) fn prime_powers(number: u64) -> Vec<(u64, u64)> {
    let (mut rest, mut prime, mut found) = (number, 2, Vec::new());
    while prime * prime <= rest {
        let mut power = 1;
        while rest.is_multiple_of(prime) {
            rest /= prime;
            power *= prime;
            found.push((prime, power));
        }
        prime += 1;
    }
    if rest > 1 {
        found.push((rest, rest));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fall_into_prime_powers() {
        assert_eq!(prime_powers(360), [(2, 2), (2, 4), (2, 8), (3, 3), (3, 9), (5, 5)]);
        assert_eq!(prime_powers(1), []);
        assert_eq!(prime_powers(4_294_967_291), [(4_294_967_291, 4_294_967_291)]);
    }

    #[test]
    fn a_fan_lies_between() {
        assert_eq!(evenly_spaced(3, 4, 8), [0; 0]);
        assert_eq!(evenly_spaced(3, 6, 8), [4, 5]);
        assert_eq!(evenly_spaced(0, 100, 3), [25, 50, 75]);
    }
}
