//! Settles the loads that all nodes of a run execute, from the abilities that each reported before its first repeat.
//!
//! The least able node decides, so that each node can execute the loads. A node far below the others is not counted,
//! because it would slow down all. Far below means less than [`FAR_BELOW`] of the reference node, which is the node
//! that a quarter of all nodes do not reach. This node is the reference instead of the median, because a fleet may
//! consist of two models: slower nodes are an exception only if they are at most a quarter of the nodes. The factor is
//! one half, because depth and block size are settled in steps of two: a node at half the pace costs the others at most
//! one step, and a slower one costs more. Of two nodes either may be the exception, so none is left out.
//!
//! Not to count a node is harmless where it was wrong: the node runs the common loads all the same. Nothing is said of its
//! medium: a stall of 100 ms, as of media that clean up, covers many operations that follow each other.

use std::time::Duration;

use assay_core::cluster::{FAR_BELOW, SettledBy, Standing};
use assay_core::medium::Mounted;
use assay_core::suite::{MAX_BLOCK, MAX_JOBS, MAX_QUEUE_DEPTH};
use assay_runner::{Ability, AbleLoad, CommonLoad, CommonLoads};
use serde::{Deserialize, Serialize};

use crate::message::FromCoordinator;
use crate::wire::WireError;

/// The largest number of workloads for which nodes report their abilities.
pub(crate) const MAX_LOADS: usize = 1024;
/// A longer operation, in seconds, is not plausible: the time of a run is bounded by days.
const LONGEST_OPERATION_S: f64 = 1e7;
/// The smallest and the largest plausible test area, in bytes.
const LEAST_AREA: u64 = 4096;
const LARGEST_AREA: u64 = 1 << 60;

/// The loads of a run, as its coordinator settled them. They are kept, so that nodes that measure later run the same
/// loads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// Number of nodes that had reported their abilities.
    pub nodes: u32,
    /// Test area of all nodes in bytes.
    pub area_bytes: u64,
    /// Each workload, in the order of the suite.
    pub loads: Vec<SettledShape>,
}

/// A workload as all nodes run it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SettledShape {
    /// Block in bytes.
    pub block_bytes: u64,
    /// Queue depth of each job.
    pub queue_depth: u32,
    /// Jobs.
    pub jobs: u32,
    /// Seconds for one operation on the reference node; null where unknown.
    pub seconds: Option<f64>,
    /// Bytes in flight on the reference node.
    pub bytes_in_flight: f64,
}

/// A node that was not counted.
#[derive(Debug, Clone, PartialEq)]
pub struct NotCounted {
    /// Its number.
    pub node: usize,
    /// Under which workloads.
    pub loads: Vec<NotCountedLoad>,
}

/// A workload under which a node was not counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotCountedLoad {
    /// Its number in the suite, from 0.
    pub workload: usize,
    /// Operations of the node over those of the reference node, by a first look; `None` where either is unknown.
    pub to_typical: Option<f64>,
}

impl NotCounted {
    /// The workloads under which a node was not counted; `None` where it was under all of them.
    pub(crate) fn among(node: usize, able: &Ability, common: &CommonLoads) -> Option<Self> {
        let all = common.loads.iter().take(able.loads.len()).enumerate();
        let left_out = all.filter(|(_, load)| load.standing.is_left_out());
        let load = |(workload, load): (usize, &CommonLoad)| NotCountedLoad { workload, to_typical: load.to_typical };
        let loads: Vec<NotCountedLoad> = left_out.map(load).collect();
        (!loads.is_empty()).then_some(Self { node, loads })
    }
}

/// Whether a reported ability is plausible.
pub(crate) fn is_sound_load(load: &AbleLoad) -> bool {
    (512..=MAX_BLOCK.0).contains(&load.block_bytes)
        && (1..=MAX_QUEUE_DEPTH).contains(&load.queue_depth)
        && (1..=MAX_JOBS).contains(&load.jobs)
        && load.look.is_none_or(|look| look.seconds > 0.0 && look.seconds <= LONGEST_OPERATION_S)
}

/// The same of a test area.
pub(crate) fn is_sound_area(bytes: u64) -> bool {
    (LEAST_AREA..=LARGEST_AREA).contains(&bytes)
}

impl Settled {
    /// What suits these nodes; `None` where none said anything.
    #[must_use]
    pub fn from_abilities(all: &[&Ability]) -> Option<Self> {
        // All nodes have the same suite. A node with another suite is not counted, and notices it itself.
        let mut counts: Vec<usize> = all.iter().map(|able| able.loads.len()).collect();
        counts.sort_unstable();
        let loads = *counts.get(counts.len() / 2)?;
        let all: Vec<&Ability> = all.iter().copied().filter(|able| able.loads.len() == loads).collect();
        let areas: Vec<f64> = all.iter().map(|able| able.area_bytes as f64).collect();
        let area = mealooked(areas.clone())?;
        let counted = all.iter().filter(|able| !is_below(Some(able.area_bytes as f64), Some(area)));
        Some(Self {
            nodes: u32::try_from(all.len()).unwrap_or(u32::MAX),
            area_bytes: counted.map(|able| able.area_bytes).min()?,
            loads: (0..loads).map(|at| shape(&all, at)).collect::<Option<_>>()?,
        })
    }

    /// What this node runs, and where it stands.
    #[must_use]
    pub fn for_node(&self, able: &Ability, by: SettledBy) -> CommonLoads {
        let load = |(at, shape): (usize, &SettledShape)| {
            let own = able.loads.get(at);
            CommonLoad {
                block_bytes: shape.block_bytes,
                queue_depth: shape.queue_depth,
                jobs: shape.jobs,
                to_typical: shape.seconds.zip(own.and_then(seconds)).map(|(typical, own)| typical / own),
                standing: own.map_or(Standing::Counted, |own| shape.standing(own)),
            }
        };
        CommonLoads {
            by,
            nodes: self.nodes,
            area_bytes: self.area_bytes,
            loads: self.loads.iter().enumerate().map(load).collect(),
        }
    }
}

impl SettledShape {
    /// Where a node that can do no more stands.
    fn standing(&self, own: &AbleLoad) -> Standing {
        let pace = |seconds: f64| seconds.recip();
        let seems = is_below(seconds(own).map(pace), self.seconds.map(pace))
            || is_below(Some(volume(own)), Some(self.bytes_in_flight));
        if seems { Standing::LeftOut } else { Standing::Counted }
    }
}

fn seconds(load: &AbleLoad) -> Option<f64> {
    load.look.map(|look| look.seconds)
}

fn volume(load: &AbleLoad) -> f64 {
    load.block_bytes as f64 * f64::from(load.queue_depth) * f64::from(load.jobs)
}

fn is_below(own: Option<f64>, measure: Option<f64>) -> bool {
    own.zip(measure).is_some_and(|(own, measure)| own < FAR_BELOW * measure)
}

/// The value that a quarter of all do not reach.
fn mealooked(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    all.get((all.len() + 1) / 4).or(all.first()).copied()
}

fn shape(all: &[&Ability], at: usize) -> Option<SettledShape> {
    let own: Vec<&AbleLoad> = all.iter().filter_map(|able| able.loads.get(at)).collect();
    let pace = mealooked(own.iter().filter_map(|load| seconds(load)).map(f64::recip).collect());
    let bytes_in_flight = mealooked(own.iter().map(|load| volume(load)).collect())?;
    let typical =
        SettledShape { block_bytes: 0, queue_depth: 0, jobs: 0, seconds: pace.map(f64::recip), bytes_in_flight };
    let is_counted = |load: &AbleLoad| !typical.standing(load).is_left_out();
    // Where all are far below in one way or the other, all count.
    let all_count = !own.iter().any(|load| is_counted(load));
    let counts = || own.iter().filter(|load| all_count || is_counted(load));
    Some(SettledShape {
        block_bytes: counts().map(|load| load.block_bytes).min()?,
        queue_depth: counts().map(|load| load.queue_depth).min()?,
        jobs: counts().map(|load| load.jobs).min()?,
        ..typical
    })
}

// Messages before the first repeat: each node offers what it can run, and the coordinator sends the common loads. Offers are
// not trusted: an impossible one ends the connection.

/// A longer suite is not believed.
const LONGEST_BUDGET: Duration = Duration::from_secs(30 * 24 * 3600);

/// The messages with the common loads of the run.
pub(crate) fn offered(by: SettledBy, common: &CommonLoads) -> Vec<FromCoordinator> {
    let load = |(workload, load): (u32, &CommonLoad)| {
        let CommonLoad { block_bytes, queue_depth, jobs, to_typical, standing } = *load;
        FromCoordinator::Load { workload, block_bytes, queue_depth, jobs, to_typical, standing }
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
            return Err(WireError::Malformed(format!("workload {workload} cannot be run")));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use assay_core::cluster::Look;
    use assay_core::medium::Mounted;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn looked(seconds: f64) -> Option<Look> {
        Some(Look { seconds, operations: 50 })
    }

    fn able(megabytes_per_second: f64, queue_depth: u32, area_bytes: u64) -> Ability {
        let look = looked(MIB as f64 / (megabytes_per_second * 1e6));
        let write = AbleLoad { block_bytes: MIB, queue_depth, jobs: 1, look };
        let read = AbleLoad { block_bytes: 4096, queue_depth: 32, jobs: 1, look: looked(0.001) };
        Ability { loads: vec![write, read], area_bytes, budget: Duration::from_secs(90), mounted: Mounted::There }
    }

    fn settled(all: &[Ability]) -> (Settled, Vec<bool>) {
        let settled = Settled::from_abilities(&all.iter().collect::<Vec<_>>()).unwrap();
        let standing = |able: &Ability| settled.for_node(able, SettledBy::Nodes).loads[0].standing;
        let below = all.iter().map(|able| standing(able) == Standing::LeftOut).collect();
        (settled, below)
    }

    fn shape_of(settled: &Settled) -> (u64, u32, u32) {
        let load = settled.loads[0];
        (load.block_bytes, load.queue_depth, load.jobs)
    }

    /// Seven write 10 MB/s and one 4 MB/s: all run what the seven can do.
    #[test]
    fn the_one_that_is_slow_does_not_decide_for_the_others() {
        let mut all = vec![able(10.0, 8, 64 * MIB); 8];
        all[3] = able(4.0, 4, 64 * MIB);
        let (settled, below) = settled(&all);
        assert_eq!((shape_of(&settled), settled.nodes, settled.area_bytes), ((MIB, 8, 1), 8, 64 * MIB));
        assert_eq!(below.iter().filter(|below| **below).count(), 1);
        let own = settled.for_node(&all[3], SettledBy::Nodes).loads;
        assert!(own[0].standing == Standing::LeftOut && (own[0].to_typical.unwrap() - 0.4).abs() < 1e-9, "{own:?}");
        assert!(own[1].standing == Standing::Counted && own[1].queue_depth == 32, "it reads as the others do");
    }

    #[test]
    fn a_node_is_left_out_below_half_of_the_pace() {
        let mut all = vec![able(10.0, 8, 64 * MIB); 8];
        for (megabytes_per_second, expected) in [(4.9, Standing::LeftOut), (5.1, Standing::Counted)] {
            all[3] = able(megabytes_per_second, 8, 64 * MIB);
            let settled = Settled::from_abilities(&all.iter().collect::<Vec<_>>()).unwrap();
            let own = settled.for_node(&all[3], SettledBy::Nodes).loads[0];
            assert_eq!((own.standing, settled.loads[0].queue_depth), (expected, 8));
        }
    }

    /// Half of what the others do is not far below: all run what the one can do.
    #[test]
    fn half_is_not_far_below() {
        let mut all = vec![able(10.0, 8, 64 * MIB); 8];
        all[3] = able(10.0, 4, 64 * MIB);
        let (settled, below) = settled(&all);
        assert_eq!((shape_of(&settled), below.contains(&true)), ((MIB, 4, 1), false));
    }

    /// Where some equal cards chose QD1 and others QD2, all run QD1, and none is far below.
    #[test]
    fn the_least_of_equal_nodes_is_common_to_all() {
        let all: Vec<Ability> = (0..27).map(|n| able(10.0, if n % 5 < 2 { 1 } else { 2 }, 64 * MIB)).collect();
        let (settled, below) = settled(&all);
        assert_eq!((shape_of(&settled), below.contains(&true)), ((MIB, 1, 1), false));
        let mut blocks = vec![able(10.0, 2, 64 * MIB); 6];
        (blocks[0].loads[0].block_bytes, blocks[0].loads[0].queue_depth) = (MIB, 1);
        (blocks[1].loads[0].block_bytes, blocks[1].loads[0].queue_depth) = (MIB / 2, 2);
        assert_eq!(shape_of(&self::settled(&blocks).0), (MIB / 2, 1, 1));
    }

    /// A third of the nodes is no exception: they are of another model.
    #[test]
    fn two_models_run_what_both_can_do() {
        let all: Vec<Ability> =
            (0..9).map(|n| if n < 3 { able(1.0, 1, MIB) } else { able(10.0, 8, 64 * MIB) }).collect();
        let (settled, below) = settled(&all);
        assert_eq!((shape_of(&settled), settled.area_bytes), ((MIB, 1, 1), MIB));
        assert!(!below.contains(&true), "{below:?}");
        let (two, below) = self::settled(&[able(1.0, 1, MIB), able(10.0, 8, 64 * MIB)]);
        assert_eq!((shape_of(&two), below), ((MIB, 1, 1), vec![false, false]));
        let (three, below) = self::settled(&[able(1.0, 1, MIB), able(10.0, 8, 64 * MIB), able(10.0, 8, 64 * MIB)]);
        assert_eq!((shape_of(&three), below), ((MIB, 8, 1), vec![true, false, false]));
        assert_eq!(self::settled(&[able(1.0, 1, MIB)]).1, [false]);
        assert!(Settled::from_abilities(&[]).is_none());
    }

    /// Nodes that report false abilities: a quarter of them can cost the others a step of two, and no more.
    #[test]
    fn liars_take_little_from_the_others() {
        let mut all = vec![able(10.0, 8, 64 * MIB); 8];
        all[0] = able(1e9, 1, 64 * MIB);
        all[1].loads[0].block_bytes = 512;
        all[1].area_bytes = 4096;
        let (settled, _) = settled(&all);
        assert_eq!((shape_of(&settled), settled.area_bytes), ((MIB, 8, 1), 64 * MIB));
        // Another suite.
        all[2].loads.clear();
        let (other, _) = (Settled::from_abilities(&all.iter().collect::<Vec<_>>()).unwrap(), ());
        assert_eq!((other.loads.len(), other.nodes), (2, 7));
    }

    #[test]
    fn what_cannot_be_is_not_sound() {
        let good = able(10.0, 8, MIB).loads[0];
        assert!(is_sound_load(&good) && is_sound_load(&AbleLoad { look: None, ..good }));
        for bad in [
            AbleLoad { block_bytes: 0, ..good },
            AbleLoad { block_bytes: u64::MAX, ..good },
            AbleLoad { queue_depth: 0, ..good },
            AbleLoad { queue_depth: u32::MAX, ..good },
            AbleLoad { jobs: 0, ..good },
            AbleLoad { look: looked(0.0), ..good },
            AbleLoad { look: looked(-1.0), ..good },
            AbleLoad { look: looked(f64::NAN), ..good },
            AbleLoad { look: looked(f64::INFINITY), ..good },
            AbleLoad { look: Some(Look { seconds: f64::NAN, operations: 50 }), ..good },
        ] {
            assert!(!is_sound_load(&bad), "{bad:?}");
        }
        assert!(is_sound_area(MIB) && !is_sound_area(0) && !is_sound_area(u64::MAX));
    }
}
