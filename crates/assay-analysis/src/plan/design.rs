//! A plan: drawn from a request, or read from its file; its cost.

use assay_core::suite::Suite;
use assay_core::workload::Op;
use assay_stats::plan::{Meeting, Mode, PlacedLoad, PlannedLoad, SessionPlan, cost};
use assay_stats::rank::{self, smallest_ratio};
use serde::Serialize;

use super::experiment_plan::{ExperimentPlan, Moves, PlanRequest, PlannedSuite, ScheduledUnit, check_handling};
use super::file;
use super::names::{ModelUnits, PlanError, check_shown};

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
    pub fn new(request: &PlanRequest<'_>) -> Result<Self, PlanError> {
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
            assay_stats::plan::PlanFault::MoreRoundsThanSlots { rounds, slots } => PlanError::new(
                "--rounds",
                format!(
                    "{rounds} rounds need {rounds} slots, as each unit takes a new one in each round; the plan has \
                         {slots}; ask for fewer rounds, or let units stay with --no-swap"
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
    pub fn cells(&self) -> &[ScheduledUnit] {
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

// From drawn meetings of numbers to cells with names.

/// Drawn meetings with names, and the orders of workloads that they take.
pub(super) fn cells(
    request: &PlanRequest<'_>,
    units: &[(usize, &str)],
    drawn: &SessionPlan,
) -> (Vec<Vec<String>>, Vec<ScheduledUnit>) {
    let workloads: Vec<PlacedLoad> = request.suite.workloads.iter().map(placed).collect();
    let mut orders: Vec<Vec<String>> = Vec::new();
    let mut cell = |m: &Meeting| {
        let order: Vec<String> = assay_stats::plan::session(&workloads, m.unit, m.round)
            .into_iter()
            .map(|index| request.suite.workloads[index].name.clone())
            .collect();
        let number = orders.iter().position(|known| *known == order).unwrap_or_else(|| {
            orders.push(order);
            orders.len() - 1
        });
        let (model, unit) = units[m.unit];
        ScheduledUnit {
            round: m.round + 1,
            wave: m.wave + 1,
            slot: request.slots.names()[m.slot].clone(),
            model: request.roster.models()[model].name.clone(),
            unit: unit.to_owned(),
            order: number + 1,
        }
    };
    let cells = drawn.meetings.iter().map(&mut cell).collect();
    (orders, cells)
}

fn placed(workload: &assay_core::suite::SuiteWorkload) -> PlacedLoad {
    PlacedLoad { writes: workload.op != Op::Read, block_bytes: workload.block.0 }
}

/// The request does not depend on the speed of units, so a seed from it is as good as any other.
pub(super) fn seed_of(request: &PlanRequest<'_>) -> u32 {
    let mut hasher = blake3::Hasher::new();
    for model in request.roster.models() {
        for text in std::iter::once(&model.name).chain(&model.units) {
            hasher.update(text.as_bytes()).update(&[0]);
        }
        hasher.update(&[1]);
    }
    for slot in request.slots.names() {
        hasher.update(slot.as_bytes()).update(&[0]);
    }
    hasher.update(&[u8::from(request.moves == Moves::Never)]);
    hasher.update(&(request.rounds as u64).to_le_bytes()).update(request.suite_text.as_bytes());
    let [a, b, c, d, ..] = *hasher.finalize().as_bytes();
    u32::from_le_bytes([a, b, c, d])
}

// The cost of a plan in minutes and bytes, and its resolution.

/// Probability of any false order at the resolution: simultaneous 95 %.
const ALPHA: f64 = 0.05;

/// The cost of a round or of the whole plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expense {
    /// Sessions: one unit in one slot.
    pub sessions: usize,
    /// Units that a person inserts into a slot.
    pub moves: usize,
    /// Minutes of wall-clock time: units of a wave run at the same time, and a person inserts them one after another.
    pub clock_minutes: f64,
    /// Minutes that media are busy, summed over all media.
    pub device_minutes: f64,
    /// Most bytes written to all units.
    pub written_bytes: u64,
}

/// The smallest ratio of two models that can be declared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resolution {
    /// Number of models.
    pub models: u32,
    /// Units of the model with the fewest.
    pub units: u32,
    /// Assumed standard deviation of logarithms between units of a model; 0.1 is 10 %.
    pub unit_deviation: f64,
    /// Models closer than this will be a tie: 1.31 is 31 %.
    pub smallest_ratio: f64,
    /// Confidence over all pairs of models together.
    pub level: f64,
}

/// The cost and the resolution of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlook {
    /// Minutes of one session at most, the budget of the suite.
    pub session_minutes: f64,
    /// Minutes of rest after each.
    pub rest_minutes: f64,
    /// Each round.
    pub rounds: Vec<Expense>,
    /// All rounds.
    pub total: Expense,
    /// Most bytes written to one unit over all rounds.
    pub written_per_unit_bytes: u64,
    /// Resolution for the assumed deviation between units, for half of it, and for one and a half times it; empty where
    /// there is none: one model, or a model with one unit.
    pub resolution: Vec<Resolution>,
    /// Models with one unit, where only that unit can be judged.
    pub models_of_one_unit: Vec<String>,
    /// Whether slots can be tested beside units and rounds, so that an odd unit is not taken for its slot.
    pub units_told_from_slots: bool,
}

/// The cost and the resolution of a plan, where units of a model vary by `unit_deviation` (standard deviation of
/// logarithms; cards showed 0.10).
///
/// # Errors
/// A deviation that is not between 0 and 1.
pub fn outlook(plan: &ExperimentPlan, unit_deviation: f64) -> Result<Outlook, PlanError> {
    if !(unit_deviation > 0.0 && unit_deviation < 1.0) {
        let message = format!("units that vary by {} %; give more than 0% and less than 100%", unit_deviation * 100.0);
        return Err(PlanError::new("--variation", message));
    }
    let suite = &plan.suite().suite;
    let minutes = suite.budget.as_secs_f64() / 60.0;
    // A suite without writes still writes its test area, once. Its write limit covers that.
    let load = PlannedLoad { minutes, written_bytes: suite.max_write.0, repeats: 1 };
    let whole = drawn(plan, None);
    let fault = |fault: assay_stats::plan::PlanFault| PlanError::new("--suite", fault.to_string());
    let all = cost(&whole, &[load], 0.0).map_err(fault)?;
    let rounds: Vec<Expense> = (0..plan.rounds())
        .map(|round| {
            let part = cost(&drawn(plan, Some(round)), &[load], 0.0).map_err(fault)?;
            let moves = moves(plan, round, part.sessions);
            Ok(Expense {
                sessions: part.sessions,
                moves,
                clock_minutes: part.clock_minutes + plan.handling_minutes() * moves as f64,
                device_minutes: part.device_minutes,
                written_bytes: part.written_bytes,
            })
        })
        .collect::<Result<_, PlanError>>()?;
    let moves: usize = rounds.iter().map(|round| round.moves).sum();
    let models_of_one_unit: Vec<String> =
        plan.models().iter().filter(|model| model.units.len() == 1).map(|model| model.name.clone()).collect();
    Ok(Outlook {
        session_minutes: minutes,
        rest_minutes: all.session_minutes - minutes,
        total: Expense {
            sessions: all.sessions,
            moves,
            clock_minutes: all.clock_minutes + plan.handling_minutes() * moves as f64,
            device_minutes: all.device_minutes,
            written_bytes: all.written_bytes,
        },
        rounds,
        written_per_unit_bytes: all.written_per_unit,
        resolution: [1.0, 0.5, 1.5].iter().filter_map(|share| resolution(plan, unit_deviation * share)).collect(),
        models_of_one_unit,
        units_told_from_slots: slots_testable(plan),
    })
}

/// Whether records of all cells will allow the ranking to test slots.
fn slots_testable(plan: &ExperimentPlan) -> bool {
    let values: Vec<rank::FitValue<'_>> = plan.cells().iter().map(value).collect();
    rank::slots_testable(&values)
}

fn value(cell: &ScheduledUnit) -> rank::FitValue<'_> {
    rank::FitValue {
        model: cell.model.as_str().into(),
        unit: cell.unit.as_str().into(),
        slot: Some(cell.slot.as_str().into()),
        wave: u32::try_from(cell.round).ok(),
        day: None,
        order: None,
        weight: 1.0,
        value: 1.0,
    }
}

/// Units that stay are put in once, where all have a slot of their own.
fn moves(plan: &ExperimentPlan, round: usize, sessions: usize) -> usize {
    let stays = plan.moves() == Moves::Never && plan.waves() == 1 && round > 0;
    if stays { 0 } else { sessions }
}

fn resolution(plan: &ExperimentPlan, deviation: f64) -> Option<Resolution> {
    let models = u32::try_from(plan.models().len()).ok()?;
    let units = u32::try_from(plan.models().iter().map(|model| model.units.len()).min()?).ok()?;
    let ratio = smallest_ratio(&rank::CampaignSize { models, units, deviation, alpha: ALPHA })?;
    Some(Resolution { models, units, unit_deviation: deviation, smallest_ratio: ratio, level: 1.0 - ALPHA })
}

/// The plan, or one round of it, as far as its cost depends on it.
fn drawn(plan: &ExperimentPlan, round: Option<usize>) -> SessionPlan {
    let held = plan.cells().iter().filter(|cell| round.is_none_or(|round| cell.round == round + 1));
    let meetings = held.map(|cell| Meeting { round: cell.round - 1, wave: cell.wave - 1, slot: 0, unit: 0 }).collect();
    SessionPlan {
        mode: Mode::Move,
        models: Vec::new(),
        slots: plan.slots().len(),
        rounds: if round.is_some() { 1 } else { plan.rounds() },
        waves: plan.waves(),
        meetings,
    }
}
