//! Dates of reports as RFC 3339.

/// A date and a time; `None` where they cannot be.
pub(crate) fn of_parts(date: (u32, u32, u32), time: (u32, u32, u32)) -> Option<String> {
    let ((year, month, day), (hour, minute, second)) = (date, time);
    let sound = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    (sound && hour < 24 && minute < 60 && second < 61)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// Seconds since 1970.
pub(crate) fn of_unix(seconds: u64) -> Option<String> {
    let days = i64::try_from(seconds / 86_400).ok().filter(|days| *days < 2_932_897)?;
    // From days to a date of the Gregorian calendar, in eras of 400 years that begin in March:
    // <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let part = |value: i64| u32::try_from(value).ok();
    let of_day = |divisor: u64, modulus: u64| part(i64::try_from(seconds % 86_400 / divisor % modulus).ok()?);
    of_parts((part(year)?, part(month)?, part(day)?), (of_day(3_600, 24)?, of_day(60, 60)?, of_day(1, 60)?))
}

/// A date as C prints it: `Sun Nov 22 20:54:08 2026`, with a time zone before the year or without.
pub(crate) fn of_ctime(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = words.iter().position(|word| word.matches(':').count() == 2)?;
    let month = words.get(at.checked_sub(2)?)?.get(..3)?.to_ascii_lowercase();
    let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = (1..).zip(months).find(|(_, name)| *name == month)?.0;
    let day = words.get(at - 1)?.parse().ok()?;
    let year = words.iter().skip(at + 1).take(2).find_map(|word| word.parse().ok().filter(|year| *year > 1969))?;
    let mut time = words.get(at)?.splitn(3, ':').map(|part| part.parse::<u32>().ok());
    of_parts((year, month, day), (time.next()??, time.next()??, time.next()??))
}

/// A date whose parts stand in the order year, month, day, hour, minute, second: `2022/03/09 18:22:07`.
pub(crate) fn of_digits(text: &str) -> Option<String> {
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut part = || parts.next()?.parse::<u32>().ok();
    let date = (part()?, part()?, part()?);
    of_parts(date, (part()?, part()?, part().unwrap_or(0)))
}

/// A date by ISO 8601: `2023-01-10T10:11:12+0100`, in UTC; without a zone it is taken for UTC.
pub(crate) fn of_iso(text: &str) -> Option<String> {
    let local = of_digits(text.get(..19)?)?;
    let Some((sign, zone)) = text.get(19..).and_then(|rest| {
        let at = rest.find(['+', '-'])?;
        Some((if rest.get(at..=at)? == "+" { -1 } else { 1 }, rest.get(at + 1..)?.replace(':', "")))
    }) else {
        return Some(local);
    };
    let part = |from: usize, to: usize| local.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    // Back to days, as above: <https://howardhinnant.github.io/date_algorithms.html#days_from_civil>.
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let (era, year_of_era) = (year / 400, year % 400);
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    let offset = zone.get(..2)?.parse::<i64>().ok()? * 3_600 + zone.get(2..4)?.parse::<i64>().ok()? * 60;
    let seconds = days * 86_400 + part(11, 13)? * 3_600 + part(14, 16)? * 60 + part(17, 19)? + sign * offset;
    of_unix(u64::try_from(seconds).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_shapes() {
        let want = Some("2026-11-22T20:54:08Z".to_owned());
        assert_eq!(of_unix(1_795_380_848), want);
        assert_eq!(of_unix(0), Some("1970-01-01T00:00:00Z".to_owned()));
        assert_eq!(of_unix(951_782_400), Some("2000-02-29T00:00:00Z".to_owned()));
        assert_eq!(of_unix(u64::MAX), None);
        assert_eq!(of_ctime("pid=15816: Sun Nov 22 20:54:08 2026"), want);
        assert_eq!(of_ctime("Sun Nov 22 20:54:08 CET 2026"), want);
        assert_eq!(of_digits("2026/11/22 20:54:08"), want);
        for iso in ["2026-11-22T20:54:08", "2026-11-22T21:54:08+0100", "2026-11-22T15:24:08.123-05:30"] {
            assert_eq!(of_iso(iso), want, "{iso}");
        }
        assert_eq!(of_iso("2000-03-01T00:30:00+0100"), Some("2000-02-29T23:30:00Z".to_owned()));
        for bad in ["", "20:54:08", "Nov 22", "Sun Xyz 22 20:54:08 2026", "Sun Nov 22 20:54:99 2026"] {
            assert_eq!((of_ctime(bad), of_digits(bad), of_iso(bad)), (None, None, None), "{bad}");
        }
    }
}
