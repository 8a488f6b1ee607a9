//! Several records side by side.

use assay_core::estimate::Estimate;
use assay_core::finding::Severity;
use assay_core::record::{Measurement, Record};
use assay_core::text::markup;
use assay_core::workload::Pattern;

use super::record::{cell, tone_class};
use super::svg;
use super::text::glued;
use crate::facts;
use crate::figure::MB;
use crate::headline::{Headline, durable_or_acknowledged};
use crate::verdict::{capitalised, word};

pub(crate) fn add(out: &mut String, records: &[Record]) {
    out.push_str("<article class=\"record\"><header class=\"head\"><p class=\"kicker\">Comparison</p>");
    out.push_str(&format!("<h1>{} records</h1></header>\n", records.len()));
    out.push_str("<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">Medium</th><th scope=\"col\">Result</th><th scope=\"col\">read MB/s</th><th scope=\"col\">write MB/s</th><th scope=\"col\">random read IOPS</th><th scope=\"col\">random write IOPS</th></tr></thead><tbody>\n");
    for (i, record) in records.iter().enumerate() {
        let h = Headline::of(record);
        out.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td><span class=\"pill {}\">{}</span></td>",
            name(record, i),
            tone_class(record),
            markup(word(record))
        ));
        cell(out, h.sequential_read.and_then(|m| m.bytes_per_second.as_ref()), MB);
        cell(out, h.sequential_write.and_then(durable_or_acknowledged), MB);
        cell(out, h.random_read.and_then(|m| m.iops.as_ref()), 1.0);
        cell(out, h.random_write.and_then(|m| m.iops.as_ref()), 1.0);
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    super::pictures::add(out, records);
    out.push_str("<h2>By workload</h2>\n<div class=\"grid\">\n");
    let mut titles: Vec<String> = Vec::new();
    for title in records.iter().flat_map(|r| &r.measurements).map(|m| m.workload.title()) {
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    for title in titles {
        by_workload(out, records, &title);
    }
    out.push_str("</div></article>\n");
}

fn by_workload(out: &mut String, records: &[Record], title: &str) {
    let found: Vec<(usize, &Record, &Measurement)> = records
        .iter()
        .enumerate()
        .filter_map(|(i, r)| r.measurements.iter().find(|m| m.workload.title() == title).map(|m| (i, r, m)))
        .collect();
    let random = found.first().is_some_and(|(_, _, m)| m.workload.pattern == Pattern::Random);
    let pick =
        |m: &'_ Measurement| -> Option<Estimate> { if random { m.iops.clone() } else { m.bytes_per_second.clone() } };
    let scale = found
        .iter()
        .filter(|(_, _, m)| !invalid(m))
        .filter_map(|(_, _, m)| pick(m).map(|e| e.high.unwrap_or(e.point).max(e.point)))
        .fold(0.0, f64::max);
    if scale <= 0.0 {
        return;
    }
    let unit = if random { "IOPS" } else { "MB/s" };
    out.push_str(&format!(
        "<figure><figcaption>{}, {unit}</figcaption><table class=\"bars\"><tbody>\n",
        markup(&capitalised(title))
    ));
    for (i, record, m) in found {
        let Some(e) = pick(m) else { continue };
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", name(record, i)));
        cell(out, Some(&e), if random { 1.0 } else { MB });
        if invalid(m) {
            // A bar of a figure that is not what it says would dwarf or flatter the others.
            out.push_str("<td class=\"barred words\">invalid: see its warnings</td></tr>\n");
            continue;
        }
        let class = if m.bus_limited { "limited" } else { "" };
        out.push_str(&format!(
            "<td class=\"barred\">{}</td></tr>\n",
            svg::bar(&e, scale, &facts::title(record), class)
        ));
    }
    out.push_str("</tbody></table></figure>\n");
}

fn invalid(m: &Measurement) -> bool {
    m.warnings.iter().any(|w| w.severity == Severity::Invalid)
}

fn name(record: &Record, index: usize) -> String {
    let place = record.host.slot.as_ref().map(|s| format!(", slot {}", facts::clean(s))).unwrap_or_default();
    format!(
        "<a href=\"#r{index}\">{}</a><small>{}</small>",
        markup(&glued(&facts::title(record))),
        markup(&format!("{}{place}", facts::clean(&record.id)))
    )
}
