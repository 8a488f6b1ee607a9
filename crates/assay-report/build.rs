//! Packs what pages consist of.

fn main() -> std::io::Result<()> {
    assay_packed::pack_files(&["assets/uplot/uPlot.iife.min.js", "assets/report.js", "assets/report.css"])
}
