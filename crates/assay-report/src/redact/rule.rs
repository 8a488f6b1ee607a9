//! What may become of a field.

use super::name::Kind;

/// What becomes of a field. One that has another shape than its rule is left out.
#[derive(Debug)]
pub(crate) enum Rule {
    /// A number, a flag or one of the words that this format defines: stays.
    Keep,
    /// A number or flag, or text that assay or its user wrote: stays but for identities that other fields of
    /// the record hold.
    Known,
    /// Text from elsewhere: everything in it that looks like an identity is replaced too.
    Text,
    /// An identity: replaced whole.
    Name(Kind),
    /// A path: components that may identify a person are replaced.
    Path,
    /// The title or name of a source, which is as [`Rule::Text`], or the path of one.
    Source,
    /// An option of mount(8).
    MountOption,
    /// Never shared, such as free text.
    Never,
    /// Fields with a rule each; others are left out.
    Fields(&'static [(&'static str, Rule)]),
    /// A list or a map whose values have one rule; keys of a map are as [`Rule::Known`].
    Each(&'static Rule),
}
