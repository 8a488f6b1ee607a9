//! `assay plan`, and plans on the pages of `assay serve`: a new one, and the progress of those that the data directory keeps
//! under their labels.

use std::io::Read;
use std::path::{Path, PathBuf};

use assay_analysis::plan::{
    ExperimentPlan, Moves, Outlook, PlanError, PlanRequest, PlanStatus, RaceOptions, Roster, ScheduledUnit, Slots,
    SwapOptions, SwapPlace, arguments, outlook, race, read_plan, status, swap_test,
};
use assay_analysis::{Load, Quantity, by_model, deciding_load, deciding_quantity};
use assay_core::exit::Exit;
use assay_core::observation::Observation;
use assay_core::text::{harmless, shell};
use assay_report::{Answered, Style, plan, plan as words};
use assay_serve::{KeptPlan, NewPlan};
use assay_store::{ObservationDetail, Store};
use serde_json::json;

use crate::answer::{Answer, Target, WITHOUT_PICTURE, tell_chosen};
use crate::cli::{FileArgs, NewArgs, PlanArgs, PlanCommand, RaceArgs, SwapArgs};
use crate::documents::fleet::{NewPlanDocument, PlanCell, PlanDocument, PlanStatusDocument, PlanSuitesDocument};
use crate::ending::{self, Failure};
use crate::state::{self, DataDirectory};
use crate::suites::{self, BUILT_IN};
use crate::{documents, files, output, queries};

/// A longer file is no plan and no list of units; without a limit, `/dev/zero` would fill the
/// memory. The largest plan takes less than 64 MiB.
const LONGEST: u64 = 64 << 20;

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::usage(error.to_string())
    }
}

pub(super) fn plan(args: &PlanArgs) -> Result<Exit, Failure> {
    match &args.command {
        PlanCommand::New(args) => new(args),
        PlanCommand::Show { plan, round, target, json } => show(plan, *round, target, *json),
        PlanCommand::Suites { plan, dir, json } => write_suites(plan, dir, *json),
        PlanCommand::Status { plan, file, json } => progress(plan, file, *json),
        PlanCommand::Race(args) => next(args),
        PlanCommand::Swap(args) => swap(args),
    }
}

fn new(args: &NewArgs) -> Result<Exit, Failure> {
    let (plan, outlook) = planned(args, &roster(&args.units)?)?;
    let output = files::named(args.output.as_deref());
    if let Some(file) = output {
        write_new(file, &plan.to_text(), "records may refer to that plan")?;
        // Pages alone would miss it.
        let _ = keep(&plan);
    }
    if args.json {
        let cells = plan.cells().iter().map(|cell| PlanCell { cell, command: None }).collect();
        output::print_json(&NewPlanDocument {
            plan: PlanDocument::new(&plan, cells, Some(&outlook)),
            file: output.map(documents::path),
            text: output.is_none().then(|| plan.to_text()),
        })?;
    } else if let Some(file) = output {
        output::print(&plan::outlook(&plan, &outlook, &output::stdout_style()))?;
        output::tell(&format!("wrote {}", output::shown(file)));
    } else {
        output::print(&plan.to_text())?;
        output::tell_page(&plan::outlook(&plan, &outlook, &output::stderr_style()));
    }
    Ok(Exit::Good)
}

/// The plan that is asked for, and what it would distinguish.
pub(super) fn planned(args: &NewArgs, roster: &Roster) -> Result<(ExperimentPlan, Outlook), Failure> {
    let slots = Slots::parse(&args.slots, "--slots")?;
    let (suite_text, suite) = suites::checked(&args.suite)?;
    let moves = if args.no_swap { Moves::Never } else { Moves::EachRound };
    let plan = ExperimentPlan::new(&PlanRequest {
        roster,
        slots: &slots,
        rounds: args.rounds,
        moves,
        suite: &suite,
        suite_source: &args.suite,
        suite_text: &suite_text,
        handling_minutes: args.handling,
        seed: args.seed,
    })?;
    let outlook = outlook(&plan, args.variation)?;
    Ok((plan, outlook))
}

fn show(file: &Path, round: Option<usize>, target: &str, as_json: bool) -> Result<Exit, Failure> {
    let plan = read(file)?;
    if let Some(round) = round.filter(|round| !(1..=plan.rounds()).contains(round)) {
        return Err(Failure::usage(format!("--round: there is no round {round}; the plan has 1 to {}", plan.rounds())));
    }
    if harmless(target) != target {
        return Err(Failure::usage(format!("--target: `{}` cannot be shown; name a plain path", harmless(target))));
    }
    if !as_json {
        let named = shell(&file.to_string_lossy());
        output::print(&plan::show(&plan, &named, round, target, &output::stdout_style()))?;
        return Ok(Exit::Good);
    }
    let wanted = plan.cells().iter().filter(|cell| round.is_none_or(|round| cell.round == round));
    let cells = wanted.map(|cell| with_command(&plan, cell, target)).collect();
    output::print_json(&PlanDocument::new(&plan, cells, None))?;
    Ok(Exit::Good)
}

fn write_suites(file: &Path, directory: &Path, as_json: bool) -> Result<Exit, Failure> {
    let plan = read(file)?;
    let mut written = Vec::new();
    let numbers = if plan.in_its_own_order() { 0 } else { plan.orders().len() };
    for number in 1..=numbers {
        let Some(suite) = plan.session(number) else { continue };
        let path = directory.join(plan.session_file(number));
        let text = format!("# order {number} of plan {}\n{}", plan.label(), suite.to_text());
        write_new(&path, &text, "it may be the suite of another plan")?;
        written.push(documents::path(&path));
    }
    if as_json {
        output::print_json(&PlanSuitesDocument { plan: plan.label(), files: written })?;
    } else if written.is_empty() {
        output::tell(&format!("all cells run the suite unchanged; use --suite {}", plan.suite().source));
    } else {
        output::print(&written.iter().map(|file| harmless(file)).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Good)
}

fn progress(file: &Path, to: &FileArgs, as_json: bool) -> Result<Exit, Failure> {
    let target = Target::new(to, WITHOUT_PICTURE)?;
    let (answered, complete) = status_answer(&read(file)?, &target)?;
    target.deliver(&answered, as_json)?;
    Ok(ending::of_answer(complete))
}

/// How far a plan is, wherever it goes, and whether it is complete.
pub(super) fn status_answer(plan: &ExperimentPlan, target: &Target) -> Result<(Answered, bool), Failure> {
    let status = status(plan, &target.redacted(records_about(plan)?)?);
    let (complete, missing) = (status.complete(), status.missing());
    let json = output::json(&PlanStatusDocument { status: &status, complete, missing })?;
    Ok((Answered { document: plan::status(plan, &status), json }, complete))
}

fn next(args: &RaceArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(&args.file, WITHOUT_PICTURE)?;
    let (answered, goes_on) = race_answer(args, &mut target)?;
    target.deliver(&answered, args.json)?;
    Ok(ending::of_answer(goes_on))
}

/// The next step of a race, wherever it goes, and whether anything fits.
pub(super) fn race_answer(args: &RaceArgs, target: &mut Target) -> Result<(Answered, bool), Failure> {
    let mut records = target.redacted(queries::find_all(&args.queries, ObservationDetail::Latencies)?)?;
    target.settle(&mut records);
    let (load, quantity) = deciding(&records, args.load.as_deref(), args.metric)?;
    let options = RaceOptions {
        threshold: args.level,
        cap: args.cap,
        left: args.left,
        slots: u32::try_from(Slots::parse(&args.slots, "--slots")?.names().len()).unwrap_or(u32::MAX),
        dropped: args.dropped.clone(),
        seed: args.seed,
    };
    let step = race(&records, &load, quantity, &options)?;
    Ok((Answered { document: plan::race(&step), json: json!(step) }, !step.nothing_fit()))
}

fn swap(args: &SwapArgs) -> Result<Exit, Failure> {
    let mut target = Target::new(&args.file, WITHOUT_PICTURE)?;
    let answered = swap_answer(args, &mut target)?;
    target.deliver(&answered, args.json)?;
    Ok(Exit::Good)
}

/// What a swap says, wherever it goes.
pub(super) fn swap_answer(args: &SwapArgs, target: &mut Target) -> Result<Answered, Failure> {
    let options = SwapOptions {
        suspect: SwapPlace::parse(&args.suspect, "--suspect")?,
        other: SwapPlace::parse(&args.other, "--other")?,
    };
    // Before anything is measured there is an order to measure in nevertheless.
    let empty = match state::existing()? {
        Some(store) => store.list("all")?.is_empty(),
        None => true,
    };
    let mut records = if empty && args.queries == ["all"] {
        Vec::new()
    } else {
        target.redacted(queries::find_all(&args.queries, ObservationDetail::Latencies)?)?
    };
    target.settle(&mut records);
    let decided = if records.is_empty() { None } else { Some(deciding(&records, args.load.as_deref(), args.metric)?) };
    let test = swap_test(&records, decided.as_ref().map(|(load, quantity)| (load, *quantity)), &options)?;
    Ok(Answered { document: plan::swap(&test), json: json!(test) })
}

fn deciding(
    records: &[Observation],
    words: Option<&str>,
    metric: Option<Quantity>,
) -> Result<(Load, Quantity), Failure> {
    let load = deciding_load(&by_model(records), words, None).map_err(|e| Failure::usage(e.to_string()))?;
    tell_chosen(words, records, &load);
    let quantity = metric.unwrap_or_else(|| deciding_quantity(records, &load).quantity);
    Ok((load, quantity))
}

/// Units from the command line, or from the file that it names.
fn roster(units: &str) -> Result<Roster, Failure> {
    let path = Path::new(units);
    if units.contains(['=', ';']) && !path.is_file() {
        return Ok(Roster::inline(units, "--units")?);
    }
    let text = text_of(path, "a list of units is a text file with lines like: model = unit, unit")?;
    Ok(Roster::file(&text, &output::shown(path))?)
}

pub(super) fn read(file: &Path) -> Result<ExperimentPlan, Failure> {
    let text = text_of(file, "a plan is a TOML file that `assay plan new -o FILE` makes")?;
    Ok(read_plan(&text, &output::shown(file))?)
}

fn text_of(path: &Path, mend: &str) -> Result<String, Failure> {
    let shown = output::shown(path);
    let mut text = String::new();
    match files::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)) {
        Ok(length) if length as u64 > LONGEST => Err(Failure::usage(format!("{shown}: is larger than 64 MiB; {mend}"))),
        Ok(_) => Ok(text),
        Err(error) => Err(match error.kind() {
            std::io::ErrorKind::NotFound => Failure::usage(format!("{shown}: no such file; {mend}")),
            std::io::ErrorKind::InvalidData => Failure::usage(format!("{shown}: is not a text file; {mend}")),
            std::io::ErrorKind::TimedOut => Failure::usage(format!("{shown}: {error}; {mend}")),
            std::io::ErrorKind::IsADirectory => Failure::usage(format!("{shown}: is a directory; {mend}")),
            _ => Failure::environment(format!("{shown}: cannot be read: {error}; change its owner or mode")),
        }),
    }
}

/// Writes a file that is not there yet, or holds just that.
fn write_new(path: &Path, text: &str, why: &str) -> Result<(), Failure> {
    // Also by a link.
    let is_file = path.metadata().is_ok_and(|meta| meta.is_file());
    if is_file && std::fs::read(path).map_or(true, |there| there != text.as_bytes()) {
        let shown = output::shown(path);
        return Err(Failure::usage(format!("{shown}: is there already and {why}; name another file or remove it")));
    }
    files::write_whole(path, text)
}

/// How far a plan is measured, by all records of the store.
pub(super) fn status_of(plan: &ExperimentPlan) -> Result<PlanStatus, Failure> {
    Ok(status(plan, &records_about(plan)?))
}

/// Records of the store that name the plan, and those without a plan that may have forgotten to.
fn records_about(plan: &ExperimentPlan) -> Result<Vec<Observation>, Failure> {
    let Some(store) = state::existing()? else { return Ok(Vec::new()) };
    let label = plan.label();
    let about = store.list("all")?.into_iter().filter(|summary| match summary.labels.get("plan") {
        Some(named) => named.eq_ignore_ascii_case(&label),
        None => summary.labels.contains_key("round"),
    });
    let ids: Vec<String> = about.map(|summary| summary.id).collect();
    let (records, _) = queries::readable(&ids, |id| store.observations(id, ObservationDetail::Repeats))?;
    Ok(records.into_iter().flatten().collect())
}

fn with_command<'a>(plan: &ExperimentPlan, cell: &'a ScheduledUnit, target: &str) -> PlanCell<'a> {
    let words = std::iter::once("assay".to_owned()).chain(arguments(plan, cell, target)).collect();
    PlanCell { cell, command: Some(words) }
}

// Plans that are kept.

const KEPT_DIRECTORY: &str = "plans";
const ENDING: &str = ".toml";

/// Keeps a plan.
pub(super) fn keep(plan: &ExperimentPlan) -> Result<(), Failure> {
    DataDirectory::made(KEPT_DIRECTORY)?.write(&file_of(&plan.label()), plan.to_text())
}

fn file_of(label: &str) -> String {
    format!("{label}{ENDING}")
}

/// Labels of all that are kept.
pub(super) fn kept_labels() -> Result<Vec<String>, Failure> {
    let Some(directory) = DataDirectory::existing(KEPT_DIRECTORY)? else { return Ok(Vec::new()) };
    let names = directory.names()?;
    Ok(names.iter().filter_map(|name| name.strip_suffix(ENDING).map(str::to_owned)).collect())
}

/// Where a plan is, and its text; `None` if no plan with this label is kept.
pub(super) fn read_kept(label: &str) -> Result<Option<(PathBuf, String)>, Failure> {
    // A label of an address may be anything: it is looked for among the names that are there.
    let known = kept_labels()?.into_iter().any(|known| known == label);
    let Some(directory) = DataDirectory::existing(KEPT_DIRECTORY)?.filter(|_| known) else { return Ok(None) };
    let name = file_of(label);
    Ok(directory.read(&name)?.map(|text| (directory.path(&name), text)))
}

/// Where media are mounted, in the commands of a plan, as `assay plan show` has it.
const MOUNTED: &str = "/mnt/card";

/// A plan with what `assay plan status` and `assay plan show` say of it; `None` if no plan with this label is kept.
pub(super) fn kept(label: &str) -> Result<Option<KeptPlan>, Failure> {
    let Some((path, file)) = read_kept(label)? else { return Ok(None) };
    let plan = read_plan(&file, &output::shown(&path))?;
    let (answered, _) = status_answer(&plan, &Target::stdout())?;
    Ok(Some(KeptPlan {
        command: ["plan", "status", &path.to_string_lossy()].map(str::to_owned).to_vec(),
        status: answered.document().part(),
        order: words::show(&plan, &shell(&path.to_string_lossy()), None, MOUNTED, &Style::default()),
        file,
    }))
}

/// The plan that a page asks for. It names no files: units stand in the form, and suites are those of the program.
pub(super) fn asked(args: &NewArgs) -> Result<(ExperimentPlan, NewPlan), Failure> {
    if !BUILT_IN.iter().any(|(name, _)| *name == args.suite) {
        return Err(Failure::usage("--suite: name a built-in suite; suite files are for the command line"));
    }
    let roster = Roster::inline(&args.units, "--units")?;
    let (plan, outlook) = planned(args, &roster)?;
    let outlook = words::outlook(&plan, &outlook, &Style::default());
    let label = plan.label();
    Ok((plan, NewPlan { label, outlook }))
}
