//! A picture as SVG: one element, no script, no style sheet, no reference.

use assay_core::text::markup;
use assay_core::units::trimmed;

use crate::font;
use crate::scene::{Anchor, Colour, Drawing, Shape, Stroke, Text};

impl Drawing {
    /// The picture as a self-contained SVG; texts of records are escaped and harmless.
    #[must_use]
    pub fn svg(&self) -> String {
        let (w, h) = (number(self.width), number(self.height));
        let (title, description) = (markup(&self.title), markup(&self.description));
        let mut out = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" font-family="{}" direction="ltr"><title>{title}</title><desc>{description}</desc><rect width="{w}" height="{h}" fill="{}"/>"##,
            font::FAMILY,
            colour(super::paint::PAPER),
        );
        for shape in &self.shapes {
            write(&mut out, shape);
        }
        out.push_str("</svg>\n");
        out
    }

    /// The same inside a page, where the name space is known and nothing may look like an address.
    #[must_use]
    pub fn inline(&self) -> String {
        self.svg().replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
    }
}

fn write(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Path { points, closed, fill, stroke } => {
            out.push_str("<path d=\"");
            for (i, (x, y)) in points.iter().enumerate() {
                out.push_str(&format!("{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y)));
            }
            out.push_str(if *closed { "Z\"" } else { "\"" });
            paint(out, *fill, *stroke);
            out.push_str("/>");
        }
        Shape::Circle { x, y, r, fill, stroke } => {
            out.push_str(&format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(*x), number(*y), number(*r)));
            paint(out, *fill, *stroke);
            out.push_str("/>");
        }
        Shape::Text(text) => write_text(out, text),
    }
}

fn write_text(out: &mut String, text: &Text) {
    let (x, y) = (number(text.x), number(text.y));
    out.push_str(&format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"",
        number(text.size),
        colour(text.ink)
    ));
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => out.push_str(" text-anchor=\"middle\""),
        Anchor::End => out.push_str(" text-anchor=\"end\""),
    }
    if text.bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if text.turn != 0.0 {
        out.push_str(&format!(" transform=\"rotate({} {x} {y})\"", number(-text.turn)));
    }
    out.push_str(&format!(">{}</text>", markup(&text.text)));
}

fn paint(out: &mut String, fill: Option<Colour>, stroke: Option<Stroke>) {
    match fill {
        Some(ink) => out.push_str(&format!(" fill=\"{}\"", colour(ink))),
        None => out.push_str(" fill=\"none\""),
    }
    let Some(Stroke { ink, width, dash }) = stroke else { return };
    out.push_str(&format!(" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"", colour(ink), number(width)));
    if !dash.is_empty() {
        let parts: Vec<String> = dash.iter().map(|part| number(*part)).collect();
        out.push_str(&format!(" stroke-dasharray=\"{}\"", parts.join(" ")));
    }
}

fn colour(Colour([r, g, b]): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// At most two decimals, without trailing zeros. NaN becomes 0, and values far outside of the picture are moved to its
/// edge.
fn number(value: f64) -> String {
    let within = if value.is_nan() { 0.0 } else { value.clamp(-1e6, 1e6) };
    let short = trimmed(within, 2);
    if short == "-0" { "0".to_owned() } else { short }
}
