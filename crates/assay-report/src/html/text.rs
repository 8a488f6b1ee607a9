//! Words of the page. Everything that comes from a record goes through [`markup`].

use assay_core::text::markup;

/// A term and its description, or nothing where there is none.
pub(crate) fn fact(out: &mut String, name: &str, value: &str) {
    if !value.trim().is_empty() {
        out.push_str(&format!("<div><dt>{}</dt><dd>{}</dd></div>\n", markup(name), markup(value)));
    }
}
