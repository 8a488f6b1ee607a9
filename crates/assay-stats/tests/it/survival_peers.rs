//! Survival against the package survival of R and against lifelines of Python: of 1,000 generated sets where they are
//! installed, of some of them from a file everywhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_stats::random::Generator;
use assay_stats::survival::{Curve, Incidence, Lifetime, Member, Weibull, log_rank, weibull};

/// Sets of a comparison, and those of them that the file holds.
const SETS: usize = 1000;
const KEPT: usize = 7;
/// How far a figure may be off, as a share of it or of 1.
const WITHIN: f64 = 1e-9;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers")
}

/// Sets of 3 to 80 units of two groups and one to three strata, with two causes and up to 70 % censored; of every other set
/// times are whole numbers with many ties, else parts of 64, which any program reads as they are.
fn generated(sets: usize) -> String {
    let mut text = String::new();
    let mut generator = Generator::new(20);
    for set in 0..sets {
        let units = if set % 4 == 3 { 30 + generator.below(50) } else { 3 + generator.below(12) };
        let (shape, cut) = (0.5 + 2.5 * generator.uniform(), 1.2 * generator.uniform());
        let strata = 1 + generator.below(3);
        for unit in 0..units {
            let life = 1000.0 * generator.exponential().powf(1.0 / shape);
            let end = 1000.0 * generator.exponential() / cut.max(0.05);
            let cause = if life <= end { 1 + usize::from(generator.uniform() < 0.3) } else { 0 };
            let time = life.min(end);
            let time = if set % 2 == 0 { (time / 100.0).ceil() } else { (time * 64.0).ceil() / 64.0 };
            let _ = writeln!(text, "life {set} {time} {cause} {} {}", unit % 2, generator.below(strata));
        }
    }
    text
}

/// The units of each set, and the figures of a peer: what, at which time, and the figure.
#[derive(Default)]
struct Sets {
    lives: BTreeMap<usize, Vec<Member>>,
    figures: BTreeMap<usize, Vec<(String, f64, f64)>>,
}

impl Sets {
    fn read(text: &str) -> Self {
        let mut sets = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| words[at].parse::<f64>().unwrap();
            let set = words[1].parse().unwrap();
            if words[0] == "life" {
                let cause = (number(3) > 0.0).then(|| number(3) as usize);
                let life = Lifetime { time: number(2), cause };
                let member = Member { life, second: number(4) > 0.0, stratum: number(5) as usize };
                sets.lives.entry(set).or_default().push(member);
            } else {
                sets.figures.entry(set).or_default().push((words[2].to_owned(), number(3), number(4)));
            }
        }
        sets
    }

    /// Compares each figure with the own one; returns how many there are of each kind.
    fn agree(&self, peer: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let mut furthest = 0.0f64;
        for (set, figures) in &self.figures {
            let own = Own::new(&self.lives[set]);
            for (what, time, theirs) in figures {
                let Some(ours) = own.figure(what, *time) else { continue };
                let off = (ours - theirs).abs() / theirs.abs().max(1.0);
                assert!(off <= WITHIN, "{peer}, set {set}, {what} at {time}: {theirs} there, {ours} here");
                furthest = furthest.max(off);
                *counts.entry(what.clone()).or_default() += 1;
            }
        }
        println!("{peer}: {} sets, furthest {furthest:e}, {counts:?}", self.figures.len());
        counts
    }
}

/// What this crate says of a set.
struct Own {
    curve: Curve,
    causes: [Incidence; 2],
    log_rank: f64,
    weibull: Option<Weibull>,
}

impl Own {
    fn new(members: &[Member]) -> Self {
        let lives: Vec<Lifetime> = members.iter().map(|member| member.life).collect();
        Self {
            curve: Curve::new(&lives).unwrap(),
            causes: [1, 2].map(|cause| Incidence::new(&lives, cause).unwrap()),
            log_rank: log_rank(members).chi_squared(),
            weibull: weibull(&lives),
        }
    }

    fn figure(&self, what: &str, time: f64) -> Option<f64> {
        let fit = self.weibull.as_ref();
        match what {
            "share" => Some(self.curve.survival(time)),
            "error" => Some(self.curve.error(time)),
            "low" => self.curve.log_log(time, 0.95).map(|ends| ends.0),
            "high" => self.curve.log_log(time, 0.95).map(|ends| ends.1),
            "median" => self.curve.quantile(0.5, 0.95).point,
            "cause1" => Some(self.causes[0].share(time)),
            "cause2" => Some(self.causes[1].share(time)),
            "cause_variance1" => Some(self.causes[0].variance(time)),
            "cause_variance2" => Some(self.causes[1].variance(time)),
            "log_rank" => Some(self.log_rank),
            "shape" => fit.map(|fit| fit.shape(0.95).point),
            "scale" => fit.map(|fit| fit.scale()),
            "likelihood" => fit.map(Weibull::log_likelihood),
            other => panic!("{other} is no figure"),
        }
    }
}

/// What a peer prints of the sets; `None` where it is not installed.
fn peer(test: &str, programs: &[PathBuf], probe: &[&str], script: &str, sets: &str) -> Option<String> {
    let has = |program: &&PathBuf| {
        let asked = Command::new(program).args(probe).stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    let Some(program) = programs.iter().find(has) else {
        eprintln!("SKIP: {test}: needs {}", probe.last().unwrap_or(&""));
        return None;
    };
    let mut child = Command::new(program)
        .arg(directory().join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(sets.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{script}");
    Some(String::from_utf8(done.stdout).unwrap())
}

#[test]
fn survival_equals_the_package_of_r() {
    const TEST: &str = "survival_equals_the_package_of_r";
    let sets = generated(SETS);
    let probe = ["-e", "library(survival)"];
    let Some(said) = peer(TEST, &["Rscript".into()], &probe, "survival.R", &sets) else { return };
    let counts = Sets::read(&(sets.clone() + &said)).agree("R");
    assert!(counts["share"] > 5000 && counts["log_rank"] > 900 && counts["shape"] > 150, "{counts:?}");
    if std::env::var_os("ASSAY_WRITE_SAMPLES").is_some() {
        let of = |text: &str| -> String {
            let kept = text.lines().filter(|line| line.split(' ').nth(1).unwrap().parse::<usize>().unwrap() < KEPT);
            kept.map(|line| format!("{line}\n")).collect()
        };
        let head = "# Generated sets, and what R's survival 3.5-3 says of them.\n";
        std::fs::write(directory().join("survival.txt"), head.to_owned() + &of(&sets) + &of(&said)).unwrap();
    }
}

#[test]
fn survival_equals_lifelines() {
    const TEST: &str = "survival_equals_lifelines";
    let sets = generated(SETS);
    // One of an environment of its own, as the distribution has none.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/python/bin/python");
    let programs = ["python3".into(), own];
    let Some(said) = peer(TEST, &programs, &["-c", "import lifelines"], "survival.py", &sets) else { return };
    let counts = Sets::read(&(sets + &said)).agree("lifelines");
    assert!(counts["share"] > 5000 && counts["log_rank"] > 300 && counts["median"] > 500, "{counts:?}");
}

#[test]
fn survival_equals_the_figures_that_r_left() {
    let text = std::fs::read_to_string(directory().join("survival.txt")).unwrap();
    let sets = Sets::read(&text);
    assert_eq!(sets.lives.len(), KEPT);
    let counts = sets.agree("R, kept");
    assert!(counts.values().sum::<usize>() > 400 && counts["shape"] > 0, "{counts:?}");
}
