//! Samples of all formats with damage of 28 kinds, and in 55 wrappings. The claim: no figure differs from the undamaged one
//! without a warning.
//! What only wraps a text leaves each of its figures.
//!
//! `make campaign ONLY=damage` draws more places of damage; `ASSAY_CAMPAIGN_SEEDS` says how many of each kind.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a test fails by panicking, and the campaign tells its counts

mod damage;
mod figures;
mod wrapping;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use damage::{ALL, Damage, Draws};
use figures::Seen;
use wrapping::WRAPPINGS;

/// Texts that a kind cannot be asked of, or no kind, each with the reason.
#[rustfmt::skip]
const APART: &[(&str, &str, &str)] = &[
    ("iozone/nfs-quoted-printable.eml", "*", "what is coded was not wrapped before that"),
    ("bonnie--/quoted-printable-1.02.eml", "a blank line behind each", "what is coded was not wrapped before that"),
    ("bonnie--/2.00.txt", "*", "its table and its line of CSV differ"),
    ("bonnie--/1.03.csv", "*", "a single line has no form that others share"),
    ("fio/status-interval.terse", "*", "each line is whole, and nothing tells how many there were"),
    ("fio/status-interval.json", "a line lost", "a state without its first line is none, and the one before it counts"),
    ("fio/status-interval.json", "lines lost", "a state without its first line is none, and the one before it counts"),
    ("dd/locales.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/tiny-writes.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/tiny-writes.txt", "a line lost", "a result whose command is lost stands behind that of another"),
    ("dd/read-to-zero-md.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/errors-of-the-medium.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/file-beside-a-device.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/options-left-out.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("dd/two-hosts.txt", "lines lost", "a result whose command is lost stands behind that of another"),
    ("pibenchmarks/two_runs.txt", "lines lost", "a result of dd whose heading is lost stands behind that of another"),
    ("phoronix-test-suite/composite-10.8.xml", "lines lost", "half a result and the other half of the next are a whole one"),
    ("phoronix-test-suite/composite-2.8.xml", "lines lost", "half a result and the other half of the next are a whole one"),
    ("h2testw/german.txt", "a line lost", "without its first line it is the report of a whole test"),
    ("h2testw/german.txt", "a digit lost", "without its first line it is the report of a whole test"),
    ("h2testw/german.txt", "a comma for a digit", "without its first line it is the report of a whole test"),
    ("fio/options-of-all.json", "a line lost", "an option whose line is lost is at its default"),
    ("fio/options-of-all.json", "lines lost", "an option whose line is lost is at its default"),
    ("f3/summary-hides-losses.txt", "lines lost", "without the lines of its files its summary stands alone"),
    ("h2testw/achtung-nur.txt", "a line lost", "without its first line it is the report of a whole test"),
    ("h2testw/achtung-nur.txt", "lines lost", "without its first line it is the report of a whole test"),
    ("h2testw/achtung-nur.txt", "the beginning cut off", "without its first line it is the report of a whole test"),
    ("fio/text-2.1.txt", "lines lost", "one of two clones, without the line that counts them"),
    ("diskspd-xml/random-read.xml", "lines lost", "half a thread and the other half of the next are a whole one"),
    ("hd-tune/pro.txt", "lines lost", "half a report and the other half of the next are a whole one"),
    ("sysbench/v04.txt", "lines lost", "half a run and the other half of the next are a whole one"),
    ("h2testw/one-sector-lost.txt", "lines lost", "half a report and the other half of the next are a whole one"),
    ("fio/client-3.28.json", "lines lost", "one of two hosts, without the other and the sum"),
    ("sysbench/v05.txt", "*", "its rate and its operations contradict each other, and one may be lost"),
    ("dd/script.txt", "the beginning cut off", "a line of two commands without the first"),
    ("fio/two-calls-of-two-jobs.terse", "*", "each line is whole, and nothing tells how many there were"),
    ("fio/clones-without-disks.terse", "*", "each line is whole, and nothing tells how many there were"),
    ("h2testw/german.txt", "the beginning cut off", "without its first line it is the report of a whole test"),
    ("dd/heading-of-the-other-direction.txt", "a line lost", "a result whose heading is lost stands behind that of another"),
    ("dd/heading-of-the-other-direction.txt", "lines lost", "a result whose heading is lost stands behind that of another"),
];

/// Samples that are wrapped already, so that another wrapping does not apply.
const WRAPPED: &[&str] = &[
    "crystaldiskmark/literals-of-code.java",
    "fio/ansible-variable.txt",
    "fio/log-in-a-block-md.txt",
    "iozone/throughput-repeated.txt",
    "winsat/strings-of-a-list.ps1",
    "yabs/name-of-a-pod.log",
];

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// The samples of all formats that are texts, each with its name.
fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let files = sorted(&folder).into_iter().filter(|path| path.is_dir()).flat_map(|directory| sorted(&directory));
    let texts = files.filter(|path| path.extension().is_none_or(|ending| ending != "want"));
    let named = |path: PathBuf| {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        Some((name, String::from_utf8(std::fs::read(&path).unwrap()).ok()?))
    };
    texts.filter_map(named).collect()
}

fn seeds() -> u64 {
    std::env::var("ASSAY_CAMPAIGN_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(3)
}

/// How often a kind that draws is tried on each text: the campaign's thousand seeds are one for each of 28 kinds and more.
fn tries(damage: &Damage, seeds: u64) -> u64 {
    let mut twice = [Draws::new(1), Draws::new(2)];
    let text: String = (0..200).map(|n| format!("{n} a b\n")).collect();
    let [one, other] = &mut twice;
    if (damage.of)(&text, one) == (damage.of)(&text, other) { 1 } else { (seeds / 20).max(3) }
}

/// Tries kinds of damage on all samples, and returns what was wrong. Samples in `within` may lose figures.
fn tried(kinds: &[Damage], within: &[&str]) -> String {
    let samples = samples();
    assert!(samples.len() > 100, "{} samples", samples.len());
    let mut wrong = String::new();
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for (name, text) in &samples {
        let whole = Seen::of(name, text.as_bytes());
        let asked = |damage: &&Damage| {
            !APART.iter().any(|(text, kind, _)| text == name && (*kind == "*" || *kind == damage.name))
        };
        for damage in kinds.iter().filter(asked) {
            for seed in 0..tries(damage, seeds()) {
                let damaged = (damage.of)(text, &mut Draws::new(seed));
                let seen = Seen::of(name, &damaged);
                let count = counts.entry(damage.name).or_default();
                count[0] += whole.figures.len();
                count[1] += seen.figures.len();
                for figure in seen.false_figures(&whole) {
                    count[2] += 1;
                    writeln!(wrong, "{name}, {}, seed {seed}: {figure}", damage.name).unwrap();
                }
                if damage.wraps && !within.contains(&name.as_str()) && seen.figures.len() < whole.figures.len() {
                    let (seen, whole) = (seen.figures.len(), whole.figures.len());
                    writeln!(wrong, "{name}, {}: {seen} of {whole} figures", damage.name).unwrap();
                }
            }
        }
    }
    for (name, [whole, seen, bad]) in &counts {
        println!("{name}: {seen} of {whole} figures, {bad} wrong without a warning");
    }
    wrong
}

#[test]
fn no_figure_differs_from_the_undamaged_one_without_a_warning() {
    let wrong = tried(ALL, &[]);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_stands_around_a_text_leaves_its_figures() {
    let wrong = tried(WRAPPINGS, WRAPPED);
    assert!(wrong.is_empty(), "{wrong}");
}
