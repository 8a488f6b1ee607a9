//! Terminal text of a medium, for `assay info`.

use assay_core::medium::Medium;
use assay_core::record::Host;
use assay_core::text::label;

use crate::facts::{self, Fact, Rank};
use crate::line::{Page, Paint};
use crate::style::Style;

/// The known facts about a medium and the host it is attached to.
#[must_use]
pub fn info(medium: &Medium, host: &Host, style: &Style) -> String {
    let mut page = Page::new(style.bounded());
    let title = label(&medium.title(), 160).unwrap_or_else(|| medium.kind.title().to_owned());
    page.text(Paint::Bold, 0, &title);
    page.rule();
    let name = Some(facts::host(host)).filter(|name| name != "unknown");
    let hosts = [Fact::new(Rank::Card, "host", name), Fact::new(Rank::Page, "machine", facts::machine(host))];
    facts::of_medium(medium).into_iter().chain(hosts.into_iter().flatten()).for_each(|fact| fact.line(&mut page));
    page.finish()
}
