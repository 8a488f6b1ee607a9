//! Messages before the first repeat: each node offers what it can run, and the coordinator sends the common loads. Offers are
//! not trusted: an impossible one ends the connection.

use std::time::Duration;

use assay_core::cluster::SettledBy;
use assay_core::medium::Mounted;
use assay_runner::{Ability, AbleLoad, CommonLoad, CommonLoads};

use crate::message::FromCoordinator;
use crate::settle::{MAX_LOADS, is_sound_area, is_sound_load};
use crate::wire::WireError;

/// A longer suite is not believed.
const LONGEST_BUDGET: Duration = Duration::from_secs(30 * 24 * 3600);

/// The messages with the common loads of the run.
pub(crate) fn said(by: SettledBy, common: &CommonLoads) -> Vec<FromCoordinator> {
    let load = |(workload, load): (u32, &CommonLoad)| {
        let CommonLoad { block_bytes, queue_depth, jobs, to_typical, far_below } = *load;
        FromCoordinator::Load { workload, block_bytes, queue_depth, jobs, to_typical, far_below }
    };
    let CommonLoads { nodes, area_bytes, .. } = *common;
    let loads = u32::try_from(common.loads.len()).unwrap_or(u32::MAX);
    let last = FromCoordinator::Settled { by, nodes, area_bytes, loads };
    (0..).zip(&common.loads).map(load).chain([last]).collect()
}

/// What a node said by now that it can do, each bounded.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    loads: Vec<AbleLoad>,
    complete: bool,
}

impl Offers {
    /// The next workload.
    pub(crate) fn add(&mut self, workload: u32, load: AbleLoad) -> Result<(), WireError> {
        let next = self.loads.len() < MAX_LOADS && usize::try_from(workload).is_ok_and(|at| at == self.loads.len());
        if self.complete || !next || !is_sound_load(&load) {
            return Err(WireError::Malformed(format!("workload {workload} as nobody can run it")));
        }
        self.loads.push(load);
        Ok(())
    }

    /// All workloads were offered.
    pub(crate) fn complete(
        &mut self,
        count: u32,
        area_bytes: u64,
        budget_ms: u64,
        mounted: Mounted,
    ) -> Result<Ability, WireError> {
        let all = usize::try_from(count).is_ok_and(|count| count == self.loads.len());
        if std::mem::replace(&mut self.complete, true) || !all || !is_sound_area(area_bytes) {
            return Err(WireError::Malformed("an offer that is not complete".to_owned()));
        }
        let (loads, budget) = (std::mem::take(&mut self.loads), Duration::from_millis(budget_ms).min(LONGEST_BUDGET));
        Ok(Ability { loads, area_bytes, budget, mounted })
    }
}
