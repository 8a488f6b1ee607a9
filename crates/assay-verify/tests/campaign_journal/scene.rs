//! The cards, and the calls that a complete probe of each makes.

use std::path::Path;

use assay_engine::Control;
use assay_lab::media::{Layout, MediumSpec, ModelMedium};
use assay_verify::probe::{Device, Identity, Journal, JournalError, JournalLeft, Probed, Salt, Settings, run};

use crate::world::{Call, Card, World};

const MIB: u64 = 1 << 20;
const SETTINGS: Settings = Settings { cache_limit_bytes: MIB };
/// Path of the journal, on the disk that fails.
pub const JOURNAL: &str = "/journals/card.journal";

/// A card and the calls of its probe.
pub struct Stage {
    pub medium: MediumSpec,
    salt: u64,
    /// Calls of a probe without a fault.
    pub calls: Vec<Call>,
}

impl Stage {
    pub fn all() -> Vec<Self> {
        let media = [
            MediumSpec::genuine(64 * MIB),
            MediumSpec::laid_out(128 * MIB, Layout::wraparound(32 * MIB)),
            MediumSpec::limbo(64 * MIB, 24 * MIB),
            MediumSpec::laid_out(128 * MIB, Layout::chain(32 * MIB, 20 * MIB)),
            MediumSpec::laid_out(96 * MIB, Layout::wraparound(16 * MIB).shuffled()),
        ];
        (0..).zip(media).map(|(salt, medium)| Self::of(medium, salt)).collect()
    }

    fn of(medium: MediumSpec, salt: u64) -> Self {
        let mut stage = Self { medium, salt, calls: Vec::new() };
        let world = World::new(0);
        let mut card = stage.card(&world);
        let probed = stage.probe(&world, &mut card).unwrap();
        assert!(probed.journal != JournalLeft::Needed && changed(card.inner()).is_empty(), "{:?}", stage.medium);
        stage.calls = world.calls();
        stage
    }

    pub fn card(&self, world: &World) -> Card<ModelMedium> {
        Card::new(self.medium.build().unwrap(), world)
    }

    /// Another card of the same size.
    pub fn other(&self, world: &World) -> Card<ModelMedium> {
        let other = MediumSpec { seed: 1_000_003, ..self.medium.clone() };
        Card::new(other.build().unwrap(), world)
    }

    pub fn probe(&self, world: &World, card: &mut Card<ModelMedium>) -> Result<Probed, JournalError> {
        let journal = Journal::create_on(world.disk(), Path::new(JOURNAL), &identity(card), Salt::known(self.salt))?;
        Ok(run(card, journal, &SETTINGS, &Control::default(), &mut |_| {}).unwrap())
    }
}

/// Byte offsets of the blocks of a medium that changed since it was made.
pub fn changed(medium: &ModelMedium) -> Vec<u64> {
    let first = medium.spec().build().unwrap().snapshot();
    blocks(&medium.changed_since(&first))
}

/// The blocks of these ascending sectors.
pub fn blocks(sectors: &[u64]) -> Vec<u64> {
    let mut blocks: Vec<u64> = sectors.iter().map(|at| at / 4096 * 4096).collect();
    blocks.dedup();
    blocks
}

pub fn identity(card: &Card<ModelMedium>) -> Identity {
    Identity { bytes: card.bytes(), name: "card".to_owned(), serial: None, attachment: Some("0".to_owned()) }
}
