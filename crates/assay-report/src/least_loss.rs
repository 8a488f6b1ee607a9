//! What a choice by expected loss does not say: that the chosen model was shown to be the better one.

use assay_core::text::clean;

/// A sentence on the models that `rank` and `compare` cannot separate from the chosen one; none where they separate all.
pub(crate) fn least_loss(not_separated: &[String]) -> Option<String> {
    let names: Vec<String> = not_separated.iter().map(|name| clean(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "rank and compare cannot separate it from {}: this is the choice with the least expected loss, not a difference \
             that was shown.",
            names.join(", ")
        )
    })
}
