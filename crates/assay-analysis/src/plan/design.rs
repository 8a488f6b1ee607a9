//! A plan: drawn from a request, or read from its file.

use assay_core::suite::Suite;

use super::draw::{cells, seed_of};
use super::error::PlanError;
use super::experiment_plan::{Cell, ExperimentPlan, Moves, PlannedSuite, Request};
use super::file;
use super::names::{ModelUnits, check_shown};

/// More rounds tell nothing that more units would not tell better.
const MOST_ROUNDS: usize = 100;
/// More sessions are more than a person plans at once.
const MOST_SESSIONS: usize = 20_000;
/// Letters of a hash in labels and names: 64 bits tell the plans of a store apart.
const SHORT: usize = 16;

impl ExperimentPlan {
    /// Draws a plan. The same request gives the same plan.
    ///
    /// # Errors
    /// [`PlanError`]: no round, more rounds than slots where units move, units and slots that cannot be separated, an
    /// invalid number of minutes.
    pub fn new(request: &Request<'_>) -> Result<Self, PlanError> {
        check_handling(request.handling_minutes, "--handling")?;
        check_shown(request.suite_source, "--suite")?;
        if let Some(workload) = request.suite.workloads.iter().find(|w| w.group.is_some()) {
            let message = format!(
                "workload `{}` runs at the same time as others, and a plan draws the order of single ones; name another suite",
                workload.name
            );
            return Err(PlanError::new("--suite", message));
        }
        if !(1..=MOST_ROUNDS).contains(&request.rounds) {
            let message = format!("{} rounds; give 1 to {MOST_ROUNDS}", request.rounds);
            return Err(PlanError::new("--rounds", message));
        }
        let names: Vec<(usize, &str)> = request.roster.units().collect();
        let models: Vec<usize> = names.iter().map(|(model, _)| *model).collect();
        let sessions = names.len() * request.rounds;
        if sessions > MOST_SESSIONS {
            let message = format!("{sessions} sessions are too many; plan at most {MOST_SESSIONS} at once");
            return Err(PlanError::new("--rounds", message));
        }
        let slots = request.slots.names();
        let seed = request.seed.unwrap_or_else(|| seed_of(request));
        let drawn = assay_stats::plan::plan(
            &models,
            slots.len(),
            request.rounds,
            request.moves.mode(),
            u64::from(seed),
        )
        .map_err(|fault| match fault {
            assay_stats::plan::Fault::MoreRoundsThanSlots { rounds, slots } => PlanError::new(
                "--rounds",
                format!(
                    "{rounds} rounds need {rounds} slots for each unit to meet a new one, there are {slots}; ask \
                         for fewer rounds, or let units stay with --no-swap"
                ),
            ),
            other => PlanError::new("--units, --slots, --rounds", other.to_string()),
        })?;
        let (orders, cells) = cells(request, &names, &drawn);
        Ok(Self {
            seed,
            moves: request.moves,
            rounds: drawn.rounds,
            waves: drawn.waves,
            handling_minutes: request.handling_minutes,
            slots: request.slots.clone(),
            roster: request.roster.clone(),
            suite: PlannedSuite {
                source: request.suite_source.to_owned(),
                hash: blake3::hash(request.suite_text.as_bytes()).to_hex().to_string(),
                suite: request.suite.clone(),
            },
            orders,
            cells,
        })
    }

    /// Seed of the draw.
    #[must_use]
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Whether units change slots.
    #[must_use]
    pub fn moves(&self) -> Moves {
        self.moves
    }

    /// How often each unit is measured.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Waves of each round.
    #[must_use]
    pub fn waves(&self) -> usize {
        self.waves
    }

    /// Minutes that one person takes to change one unit.
    #[must_use]
    pub fn handling_minutes(&self) -> f64 {
        self.handling_minutes
    }

    /// Slots.
    #[must_use]
    pub fn slots(&self) -> &[String] {
        self.slots.names()
    }

    /// Models with their units.
    #[must_use]
    pub fn models(&self) -> &[ModelUnits] {
        self.roster.models()
    }

    /// The suite.
    #[must_use]
    pub fn suite(&self) -> &PlannedSuite {
        &self.suite
    }

    /// Orders of workloads, by their names.
    #[must_use]
    pub fn orders(&self) -> &[Vec<String>] {
        &self.orders
    }

    /// Sorted by round, wave and slot.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The suite with its workloads in order `number`, counted from 1.
    #[must_use]
    pub fn session(&self, number: usize) -> Option<Suite> {
        let order = self.orders.get(number.checked_sub(1)?)?;
        let mut suite = self.suite.suite.clone();
        suite.workloads.sort_by_key(|workload| order.iter().position(|name| *name == workload.name));
        Some(suite)
    }

    /// What `assay run` calls the suite with order `number`: the suite as it was named, where all
    /// cells run it in its own order, else the file with that order.
    #[must_use]
    pub fn session_file(&self, number: usize) -> String {
        if self.in_its_own_order() {
            self.suite.source.clone()
        } else {
            format!("{}-order-{number}.toml", self.suite.suite.name)
        }
    }

    /// Whether all cells run the suite in its own order, so that no files of orders are needed.
    #[must_use]
    pub fn in_its_own_order(&self) -> bool {
        self.orders.len() == 1
            && self.suite.suite.workloads.iter().map(|workload| &workload.name).eq(self.orders.iter().flatten())
    }

    /// BLAKE3 over everything that the plan says, in hexadecimal.
    #[must_use]
    pub fn hash(&self) -> String {
        blake3::hash(file::body(self).as_bytes()).to_hex().to_string()
    }

    /// The beginning of the hash, as in the label `plan` of records.
    #[must_use]
    pub fn label(&self) -> String {
        self.hash().chars().take(SHORT).collect()
    }

    /// The file of the plan.
    #[must_use]
    pub fn to_text(&self) -> String {
        file::text(self)
    }
}

pub(super) fn check_handling(minutes: f64, place: &str) -> Result<(), PlanError> {
    if (0.0..=1440.0).contains(&minutes) {
        return Ok(());
    }
    Err(PlanError::new(place, format!("{minutes} minutes; give 0 to 1440 for changing one unit")))
}
