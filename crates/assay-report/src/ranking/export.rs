//! A ranking as a file.

use assay_analysis::rank::{LoadRanking, RankReport};
use assay_core::text as escape;
use assay_core::units::exact;

use super::{foot, odd, picture, text, words};
use crate::facts::clean;
use crate::style::Style;

/// Markdown: the answer, a table a load, and what it rests on.
#[must_use]
pub fn markdown(report: &RankReport) -> String {
    let title = escape::markdown(&report.primary.title);
    let mut out = format!("# Ranking by {} of {title}\n\n", words::metric(&report.primary));
    out += &format!("**{}**\n\n", escape::markdown(&words::answer(&report.primary, report.alpha)));
    load(&mut out, report, &report.primary);
    for line in odd::over_loads(report) {
        out += &format!("- {}\n", escape::markdown(&line));
    }
    for ranking in &report.exploratory {
        out += &format!("\n## Exploratory: {} ({})\n\n", escape::markdown(&ranking.title), words::metric(ranking));
        out += &format!("{}\n\n", escape::markdown(&words::answer(ranking, report.alpha)));
        load(&mut out, report, ranking);
    }
    out
}

fn load(out: &mut String, report: &RankReport, ranking: &LoadRanking) {
    let (unit, divisor) = words::unit(ranking);
    out.push_str(&format!("| place | model | units | {unit} ({}) | to first | ranks |\n", words::level(report.alpha)));
    out.push_str("|---|---|--:|--:|--:|--:|\n");
    for model in &ranking.models {
        let estimate = model.estimate.as_ref().map(|e| words::estimate(e, model.at_ceiling, divisor));
        let ranks = model.ranks.map(|(first, last)| format!("{first}–{last}"));
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            words::place(model),
            escape::markdown(&clean(&model.model)),
            model.units.len(),
            estimate.unwrap_or_default(),
            model.to_first.map(|r| words::times(r.point)).unwrap_or_default(),
            ranks.unwrap_or_default()
        ));
    }
    out.push('\n');
    words::shared(ranking).iter().for_each(|line| out.push_str(&format!("- {}\n", escape::markdown(line))));
    for model in &ranking.models {
        for note in words::notes(ranking, model) {
            out.push_str(&format!("- {}\n", escape::markdown(&format!("{}: {note}", clean(&model.model)))));
        }
    }
    odd::lines(ranking).iter().for_each(|line| out.push_str(&format!("- {}\n", escape::markdown(line))));
    for (label, value) in foot::lines(report, ranking, true) {
        out.push_str(&format!("- {label}: {}\n", escape::markdown(&value)));
    }
}

/// A page that needs nothing else: the text of the terminal, in full.
#[must_use]
pub fn html(report: &RankReport) -> String {
    let words = text(report, true, &Style { width: 100, color: false, unicode: true });
    let body = words.lines().map(escape::markup).collect::<Vec<_>>().join("\n");
    let mut pictures = String::new();
    for ranking in std::iter::once(&report.primary).chain(&report.exploratory) {
        let Some(drawing) = picture(ranking, report.alpha) else { continue };
        let heading = if ranking.exploratory { "Exploratory: " } else { "" };
        pictures += &format!(
            "<h2>{heading}{}</h2>\n<figure>{}</figure>\n",
            escape::markup(&clean(&ranking.title)),
            drawing.svg()
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>Ranking – assay</title>\n<style>body{{margin:2em \
         auto;padding:0 1em;max-width:62em;font:16px/1.5 system-ui,sans-serif}}figure{{margin:0 0 2em}}svg{{max-width:100%;height:auto}}\
         pre{{white-space:pre-wrap;font-size:13px;line-height:1.35}}</style>\n<h1>Ranking of models</h1>\n{pictures}<h2>In \
         words</h2>\n<pre>{}</pre>\n</html>\n",
        body
    )
}

/// One row a model and load (RFC 4180).
#[must_use]
pub fn csv(report: &RankReport) -> String {
    let mut out = String::from(
        "load,exploratory,metric,place,model,units,value,low,high,level,layer,first_rank,last_rank,ratio_to_first,\
         at_ceiling,failed_units,tried_units\r\n",
    );
    for ranking in std::iter::once(&report.primary).chain(&report.exploratory) {
        for model in &ranking.models {
            let number = |value: Option<f64>| value.map(exact).unwrap_or_default();
            let count = |value: Option<usize>| value.map(|v| v.to_string()).unwrap_or_default();
            let e = model.estimate.as_ref();
            let cells = [
                ranking.title.clone(),
                ranking.exploratory.to_string(),
                ranking.quantity.name().to_owned(),
                words::place(model),
                model.model.clone(),
                model.units.len().to_string(),
                number(e.map(|e| e.point)),
                number(e.and_then(|e| e.low)),
                number(e.and_then(|e| e.high)),
                number(e.and_then(|e| e.level)),
                count(model.layer),
                count(model.ranks.map(|r| r.0)),
                count(model.ranks.map(|r| r.1)),
                number(model.to_first.map(|r| r.point)),
                model.at_ceiling.to_string(),
                model.failures.map(|f| f.failed.to_string()).unwrap_or_default(),
                model.failures.map(|f| f.of.to_string()).unwrap_or_default(),
            ];
            out += &cells.map(|cell| escape::csv(&cell)).join(",");
            out += "\r\n";
        }
    }
    out
}
