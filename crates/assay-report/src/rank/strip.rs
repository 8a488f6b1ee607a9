//! Intervals and shares as strips of characters.

use assay_analysis::rank::{ModelRow, Shares};

use crate::style::Style;

/// The axis that all strips of a table share, on the log scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    width: usize,
}

impl Axis {
    /// From the least to the largest end of all; `None` where they are one.
    pub(super) fn new<'a>(models: impl Iterator<Item = &'a ModelRow>, width: usize) -> Option<Self> {
        let ends = models.filter_map(|m| m.estimate.as_ref()).flat_map(|e| [Some(e.point), e.low, e.high]).flatten();
        let (low, high) = ends
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::MAX, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        (high > low && width > 2).then_some(Self { low, high, width })
    }

    fn column(&self, value: f64) -> usize {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        // The last column stays for the arrow of a bound.
        (share.clamp(0.0, 1.0) * (self.width - 2) as f64).round() as usize
    }

    /// `  ───•────  `; a bound has an arrow where it is open.
    pub(super) fn strip(&self, model: &ModelRow, style: Style) -> String {
        let Some(estimate) = &model.estimate else { return String::new() };
        let (line, point, open) = if style.unicode { ('─', '●', '▶') } else { ('-', 'o', '>') };
        let at = self.column(estimate.point);
        let mut cells = vec![' '; self.width];
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            cells[self.column(low)..=self.column(high)].fill(line);
        }
        cells[at] = point;
        if model.at_ceiling {
            cells[at + 1] = open;
        }
        cells.into_iter().collect()
    }
}

/// Shares as a bar, and what its parts mean.
pub(super) fn shares(shares: &Shares, width: usize, style: Style) -> (String, String) {
    let glyphs = if style.unicode { ['█', '▓', '▒', '░'] } else { ['M', 'U', 'S', 'R'] };
    let parts = [shares.model, Some(shares.unit), shares.slot, shares.run];
    let mut bar = String::new();
    let (mut sum, mut drawn) = (0.0, 0);
    for (part, glyph) in parts.iter().zip(glyphs) {
        sum += part.unwrap_or(0.0);
        let end = ((sum * width as f64).round() as usize).min(width);
        bar.extend(std::iter::repeat_n(glyph, end - drawn.min(end)));
        drawn = end.max(drawn);
    }
    let within = match (shares.slot, shares.run) {
        (None, None) => "unit, with slot and run",
        (None, Some(_)) => "unit, with slot",
        (Some(_), None) => "unit, with run",
        _ => "unit",
    };
    let named = parts.iter().zip(glyphs).zip(["model", within, "slot", "run"]);
    let legend: Vec<String> = named
        .filter_map(|((part, glyph), name)| part.map(|part| format!("{glyph} {name} {:.0} %", part * 100.0)))
        .collect();
    (bar, legend.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_parts() {
        let all = Shares { model: Some(0.5), unit: 0.25, slot: Some(0.0), run: Some(0.25) };
        let (bar, legend) = shares(&all, 40, Style::default());
        assert_eq!(bar, format!("{}{}{}", "█".repeat(20), "▓".repeat(10), "░".repeat(10)));
        assert_eq!(legend, "█ model 50 %; ▓ unit 25 %; ▒ slot 0 %; ░ run 25 %");
        let ascii = Style { unicode: false, ..Style::default() };
        let (bar, legend) = shares(&Shares { model: None, unit: 1.0, slot: None, run: None }, 7, ascii);
        assert_eq!((bar.as_str(), legend.as_str()), ("UUUUUUU", "U unit, with slot and run 100 %"));
        // Thirds of ten are rounded, and still fill the bar.
        let third = Some(1.0 / 3.0);
        let (bar, _) = shares(&Shares { model: third, unit: 1.0 / 3.0, slot: third, run: None }, 10, ascii);
        assert_eq!(bar, "MMMUUUUSSS");
    }
}
