//! One number from several workloads.

use super::refusal::{Refusal, all_positive, not_negative, positive};

/// Weighted geometric mean of the ratios of `values` to those of a reference medium; 1 is as fast
/// as it. The order of media does not depend on the reference, which the arithmetic mean of
/// ratios does not give (Fleming and Wallace 1986). Weights are used in proportion.
///
/// # Errors
/// Lists of different lengths, values that are not positive, negative weights or none above zero.
pub fn index(values: &[f64], reference: &[f64], weights: &[f64]) -> Result<f64, Refusal> {
    all_positive("workloads", values)?;
    all_positive("workloads of the reference", reference)?;
    for (what, given) in
        [("workloads and those of the reference", reference.len()), ("workloads and weights", weights.len())]
    {
        if given != values.len() {
            return Err(Refusal::Lengths { what, expected: values.len(), given });
        }
    }
    for weight in weights {
        not_negative("a weight", *weight)?;
    }
    let total = positive("the sum of the weights", weights.iter().sum())?;
    let logs = values.iter().zip(reference).zip(weights).map(|((v, r), w)| w / total * (v / r).ln());
    Ok(logs.sum::<f64>().exp())
}
