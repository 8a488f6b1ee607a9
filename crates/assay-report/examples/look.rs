#[path = "../tests/common/mod.rs"]
mod common;
use assay_report::*;
fn main() {
    let arg = std::env::args().nth(1).unwrap_or_default();
    let color = std::env::args().nth(2).is_some();
    let width = std::env::args().nth(3).and_then(|w| w.parse().ok()).unwrap_or(80);
    let style = Style { width, color, unicode: true };
    for (name, r) in common::all() {
        if arg == "html" { std::fs::write(format!("/tmp/look/{name}.html"), html(&[r])).unwrap(); continue; }
        if arg.is_empty() || arg == name { println!("{}\n", card(&r, &style)); }
    }
    let all: Vec<_> = common::all().into_iter().map(|(_, r)| r).collect();
    if arg == "info" { println!("{}", info(&all[0].medium, &all[0].host, &style)); }
    if arg == "list" { for w in [60, 80, 100, 120] { println!("{}", list(&all, &Style{width:w, ..style})); } }
    if arg == "md" { println!("{}", markdown(&all)); }
    if arg == "csv" { println!("{}", csv(&all)); }
    if arg == "html" { std::fs::write("/tmp/look/several.html", html(&all[..5])).unwrap(); }
}
