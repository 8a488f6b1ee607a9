//! The cards, and the calls that a whole probe of each makes.

use std::path::Path;

use assay_verify::fakes::{Geometry, Model, Stack};
use assay_verify::probe::{Device, Identity, Journal, JournalError, Probed, Salt, Settings, run};

use crate::world::{Call, Card, World};

const MIB: u64 = 1 << 20;
const SETTINGS: Settings = Settings { cache_limit_bytes: MIB };
/// Where the journal is, on the disk that fails.
pub const JOURNAL: &str = "/journals/card.journal";

/// A card and what a probe of it does.
pub struct Stage {
    pub model: Model,
    salt: u64,
    /// Of a probe that nothing meets.
    pub calls: Vec<Call>,
}

impl Stage {
    pub fn all() -> Vec<Self> {
        let models = [
            Model::of(Geometry::genuine(64 * MIB)),
            Model::of(Geometry::wraparound(128 * MIB, 32 * MIB)),
            Model::of(Geometry::limbo(64 * MIB, 24 * MIB)),
            Model::of(Geometry::chain(128 * MIB, 20 * MIB, 32 * MIB)),
            Model::of(Geometry::wraparound(96 * MIB, 16 * MIB).shuffled()),
        ];
        (0..).zip(models).map(|(salt, model)| Self::of(model, salt)).collect()
    }

    fn of(model: Model, salt: u64) -> Self {
        let mut stage = Self { model, salt, calls: Vec::new() };
        let world = World::new(0);
        let mut card = stage.card(&world);
        let probed = stage.probe(&world, &mut card).unwrap();
        assert!(!probed.journal_kept && stage.model.is_as_before(card.inner()), "{:?}", stage.model);
        stage.calls = world.calls();
        stage
    }

    pub fn card(&self, world: &World) -> Card<Stack> {
        Card::new(self.model.build().unwrap(), world)
    }

    /// Another card of the same size.
    pub fn other(&self, world: &World) -> Card<Stack> {
        let model = Model { seed: 1_000_003, ..self.model.clone() };
        Card::new(model.build().unwrap(), world)
    }

    pub fn probe(&self, world: &World, card: &mut Card<Stack>) -> Result<Probed, JournalError> {
        let journal = Journal::create_on(world.disk(), Path::new(JOURNAL), &identity(card), Salt::known(self.salt))?;
        Ok(run(card, journal, &SETTINGS, &|| false, &mut |_| {}).unwrap())
    }
}

pub fn identity(card: &Card<Stack>) -> Identity {
    Identity { bytes: card.bytes(), name: "card".to_owned(), serial: None }
}
