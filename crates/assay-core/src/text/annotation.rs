//! Workflow commands of GitHub Actions, `::error title=…::…`, as its runner reads them.

use super::harmless;

/// [`harmless`] text as the message of a workflow command: percent signs are written by their code.
#[must_use]
pub fn annotation(message: &str) -> String {
    harmless(message).replace('%', "%25")
}

/// The same as the value of a property, where colons and commas are written by their codes, too.
#[must_use]
pub fn annotation_property(value: &str) -> String {
    annotation(value).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_property_or_begins_a_command() {
        assert_eq!(annotation("5 %, a\n::error::x"), "5 %25, a\u{fffd}::error::x", "it stays one line");
        assert_eq!(annotation_property("5 %, a::b"), "5 %25%2C a%3A%3Ab");
    }
}
