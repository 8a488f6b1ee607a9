//! The published schema of each document is the one that its types give, and every command with `--json` has one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_analysis::advise::{BuyAdvice, CacheAdvice, ClassAdvice, NasAdvice};
use assay_analysis::fleet::FleetReport;
use assay_analysis::plan::{Race, SwapTest};
use assay_analysis::rank::RankReport;
use assay_core::event::Event;
use assay_report::AggregatesDocument;
use assay_report::advise::AdviceDocument;
use clap::CommandFactory;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};

use super::fleet::{
    CleanDocument, CollectDocument, FleetCheckDocument, FleetEvent, FleetListDocument, FleetRunDocument,
    NewPlanDocument, PlanDocument, PlanStatusDocument, PlanSuitesDocument,
};
use super::watch::{WatchMessage, WatchRunDocument, WatchStatusDocument};
use super::{
    BaselineDocument, CompareDocument, DryRunDocument, EndureDocument, ErrorDocument, ExportDocument, FormatsDocument,
    ImportDocument, InfoDocument, InfoListDocument, LabelDocument, LicenceDocument, LoginDocument, PowercutDocument,
    RecordPercentiles, RemovedBaseline, RemovedRecords, ReportDocument, RestoreDocument, ServeDocument,
    SettledDocument, SubmitDocument, SuiteDocument, SuiteText, WrittenFile,
};
use crate::cli::Cli;

/// A document: its name, the commands that print it, and its schema.
struct Published {
    /// The file is `schemas/NAME-v1.json`.
    name: &'static str,
    /// What prints it, as words of the command line.
    commands: &'static [&'static str],
    schema: fn(&mut SchemaGenerator) -> schemars::Schema,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> schemars::Schema {
    generator.root_schema_for::<T>()
}

fn published(
    name: &'static str,
    commands: &'static [&'static str],
    schema: fn(&mut SchemaGenerator) -> schemars::Schema,
) -> Published {
    Published { name, commands, schema }
}

/// Every document but the record, whose schema is made by assay-core.
fn documents() -> Vec<Published> {
    type Answer<T> = SettledDocument<'static, T>;
    type Advice<T> = SettledDocument<'static, AdviceDocument<'static, T>>;
    vec![
        published("error", &["any command that fails, with --json or --events"], of::<ErrorDocument>),
        published("events", &["assay run --events", "assay verify --events"], of::<Event>),
        published("dry-run", &["assay run --dry-run"], of::<DryRunDocument>),
        published("info", &["assay info"], of::<InfoDocument>),
        published("info-list", &["assay info --list"], of::<InfoListDocument>),
        published("endure", &["assay endure"], of::<EndureDocument>),
        published("powercut", &["assay powercut"], of::<PowercutDocument>),
        published("restore", &["assay verify --restore"], of::<RestoreDocument>),
        published("serve", &["assay serve"], of::<ServeDocument>),
        published("login", &["assay login"], of::<LoginDocument>),
        published("submit", &["assay submit"], of::<SubmitDocument>),
        published("list", &["assay list"], of::<Vec<assay_report::ListedRecord>>),
        published("aggregate", &["assay list --aggregate"], of::<AggregatesDocument<'static>>),
        published("percentiles", &["assay show --percentiles"], of::<Vec<RecordPercentiles>>),
        published("compare", &["assay compare"], of::<Answer<CompareDocument<'static>>>),
        published("rank", &["assay rank"], of::<Answer<RankReport>>),
        published("advise-nas", &["assay advise nas"], of::<Advice<NasAdvice>>),
        published("advise-cache", &["assay advise cache"], of::<Advice<CacheAdvice>>),
        published("advise-buy", &["assay advise buy"], of::<Advice<BuyAdvice>>),
        published("advise-class", &["assay advise class"], of::<Advice<ClassAdvice>>),
        published("plan-new", &["assay plan new"], of::<NewPlanDocument<'static>>),
        published("plan-show", &["assay plan show"], of::<PlanDocument<'static>>),
        published("plan-suites", &["assay plan suites"], of::<PlanSuitesDocument>),
        published("plan-status", &["assay plan status"], of::<PlanStatusDocument<'static>>),
        published("plan-race", &["assay plan race"], of::<Answer<Race>>),
        published("plan-swap", &["assay plan swap"], of::<Answer<SwapTest>>),
        published("baseline", &["assay baseline set"], of::<BaselineDocument>),
        published("baseline-list", &["assay baseline list"], of::<Vec<BaselineDocument>>),
        published("baseline-rm", &["assay baseline rm"], of::<RemovedBaseline>),
        published("suite", &["assay suite show"], of::<SuiteDocument>),
        published("suite-list", &["assay suite list"], of::<Vec<SuiteDocument>>),
        published("suite-text", &["assay suite import", "assay suite export"], of::<SuiteText>),
        published("file", &["assay suite import -o", "assay suite export -o"], of::<WrittenFile>),
        published("import", &["assay import"], of::<ImportDocument>),
        published("formats", &["assay import --formats"], of::<FormatsDocument>),
        published("export", &["assay export"], of::<ExportDocument>),
        published("label", &["assay label"], of::<LabelDocument>),
        published("rm", &["assay rm"], of::<RemovedRecords>),
        published("report", &["assay report"], of::<ReportDocument>),
        published("article", &["assay report --article"], of::<assay_report::article::Written>),
        published("licences", &["assay licences"], of::<Vec<LicenceDocument>>),
        published("fleet-run", &["assay fleet run"], of::<FleetRunDocument<'static>>),
        published("fleet-events", &["assay fleet run --events"], of::<FleetEvent<'static>>),
        published("fleet-list", &["assay fleet list"], of::<FleetListDocument>),
        published("fleet-check", &["assay fleet check"], of::<FleetCheckDocument<'static>>),
        published("fleet-collect", &["assay fleet collect"], of::<CollectDocument<'static>>),
        published("fleet-clean", &["assay fleet clean"], of::<CleanDocument<'static>>),
        published("fleet-report", &["assay fleet report"], of::<FleetReport>),
        published("survive", &["assay survive"], of::<assay_analysis::survive::Survival>),
        published("watch-run", &["assay watch run", "assay fleet watch run"], of::<WatchRunDocument>),
        published("watch-status", &["assay watch status"], of::<WatchStatusDocument>),
        published("watch-message", &["messages of assay watch"], of::<WatchMessage<'static>>),
    ]
}

/// Commands that print a record, or several as an array.
const OF_RECORDS: [&str; 4] = ["assay run", "assay verify", "assay show", "assay report --format json"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

/// The schema as it is published.
fn text(document: &Published) -> String {
    // Fields that are always printed are required, and what defaults mean for readers is left out.
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = (document.schema)(&mut generator).to_value();
    if let Some(fields) = schema.as_object_mut() {
        let commands = document.commands.join(", ");
        fields.insert("title".to_owned(), format!("{commands}: JSON, version 1").into());
        fields.insert("$id".to_owned(), format!("{}-v1.json", document.name).into());
    }
    format!("{schema:#}\n")
}

#[test]
fn published_schemas_are_those_of_the_types() {
    let bless = std::env::var_os("ASSAY_BLESS").is_some();
    let mut outdated = Vec::new();
    let mut files = BTreeMap::from([("record-v1.json".to_owned(), None)]);
    for document in documents() {
        let name = format!("{}-v1.json", document.name);
        let (path, current) = (directory().join(&name), text(&document));
        if bless {
            std::fs::write(&path, &current).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != current {
            outdated.push(name.clone());
        }
        assert_eq!(files.insert(name.clone(), Some(document.commands)), None, "{name} is published twice");
    }
    assert!(outdated.is_empty(), "{outdated:?} are out of date; run `make schema` and look at the difference");
    let there: Vec<String> =
        directory().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let strange: Vec<&String> = there.iter().filter(|name| !files.contains_key(*name)).collect();
    assert!(strange.is_empty(), "{strange:?} are schemas of no document");
}

#[test]
fn every_command_with_json_has_a_published_schema() {
    fn walk(command: &clap::Command, words: &str, found: &mut Vec<String>) {
        for option in ["json", "events"] {
            if command.get_arguments().any(|argument| argument.get_id() == option) {
                found.push(if option == "json" { words.to_owned() } else { format!("{words} --events") });
            }
        }
        for inner in command.get_subcommands() {
            walk(inner, &format!("{words} {}", inner.get_name()), found);
        }
    }
    let mut found = Vec::new();
    walk(&Cli::command(), "assay", &mut found);
    assert!(found.len() > 30, "{found:?}");
    let documents = documents();
    let known: Vec<&str> =
        documents.iter().flat_map(|document| document.commands).chain(&OF_RECORDS).copied().collect();
    let unknown: Vec<&String> = found.iter().filter(|words| !known.contains(&words.as_str())).collect();
    assert!(unknown.is_empty(), "{unknown:?} have no schema");
    // And no document is of a command that is gone.
    let gone: Vec<&&str> = known
        .iter()
        .filter(|words| words.starts_with("assay "))
        .filter(|words| !found.iter().any(|real| words.starts_with(real.trim_end_matches(" --events"))))
        .filter(|words| !words.starts_with("assay report"))
        .collect();
    assert!(gone.is_empty(), "{gone:?} are no commands");
}

/// The name of a schema that has that of its command.
fn named_like(command: &str) -> String {
    command.replace("assay ", "").replace(" --", "-").replace(' ', "-")
}

#[test]
fn the_page_of_documents_lists_all_that_are_not_named_like_their_command() {
    let page = std::fs::read_to_string(directory().join("../docs/json.md")).unwrap();
    let missing: Vec<String> = documents()
        .iter()
        .flat_map(|document| {
            let link = format!("../schemas/{}-v1.json", document.name);
            let others = document.commands.iter().filter(move |command| named_like(command) != document.name);
            others.map(move |command| (link.clone(), command.replace("any command", "")))
        })
        .filter(|(link, command)| {
            !page.lines().any(|line| line.contains(link.as_str()) && line.contains(command.trim()))
        })
        .map(|(link, command)| format!("{command} {link}"))
        .collect();
    assert!(missing.is_empty(), "docs/json.md does not list {missing:#?}");
}
