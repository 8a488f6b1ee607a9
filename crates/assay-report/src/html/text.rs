//! Parts that several sections of the page are made of.

use assay_core::text::harmless;
use maud::{Markup, html};

use super::said;

/// Terms and their descriptions; a term without one is left out.
pub(crate) fn facts<'a, N: AsRef<str> + 'a>(pairs: impl IntoIterator<Item = &'a (N, String)>) -> Markup {
    html! {
        dl.facts {
            @for (name, value) in pairs {
                @if !value.trim().is_empty() { div { dt { (harmless(name.as_ref())) } dd { (said(value)) } } }
            }
        }
    }
}
