//! What the repeats of a measurement come to, computed anew, for a receiver of records that does not trust their figures.

use assay_core::medium::Medium;
use assay_core::record::Measurement;
use assay_engine::NullCost;
use assay_stats::geometric_like;

use crate::judge::judge;
use crate::proof::Proof;
use crate::summary::estimate;

/// The measurement as a run would close it with these repeats: estimates, proof, limits by the bus and the instrument, and
/// the findings that follow from them. Everything else stays, such as findings about the host. `null_ns` is what the null
/// engine took for an operation.
#[must_use]
pub fn recomputed(measurement: &Measurement, medium: &Medium, null_ns: Option<f64>) -> Measurement {
    let mut own = measurement.clone();
    let stored = measurement.iops.as_ref();
    estimate(&mut own, &|values: &[f64]| geometric_like(values, stored));
    let null = null_ns.filter(|ns| *ns > 0.0).map(|ns_per_operation| NullCost { ns_per_operation });
    let proof = Proof::from_measurement(measurement);
    judge(&mut own, medium, null, proof);
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::measurement;

    #[test]
    fn figures_are_those_of_the_repeats_whatever_was_written_beside_them() {
        let mut closed = measurement(&[&[1000.0], &[1100.0], &[1050.0]]);
        estimate(&mut closed, &assay_stats::geometric);
        let proof = Proof::from_measurement(&closed);
        judge(&mut closed, &Medium::default(), None, proof);
        assert_eq!(recomputed(&closed, &Medium::default(), None), closed, "what a run closed is what it comes to");
        let mut forged = closed.clone();
        forged.iops.as_mut().unwrap().point *= 2.0;
        forged.warnings.clear();
        assert_eq!(recomputed(&forged, &Medium::default(), None).iops, closed.iops);
    }
}
