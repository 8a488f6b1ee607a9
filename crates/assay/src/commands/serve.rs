//! `assay serve`: answers pages with what the commands say.

use std::io::Read;
use std::path::{Path, PathBuf};

use assay_analysis::{Listed, identity, listed_identity};
use assay_core::exit::Exit;
use assay_core::medium::Medium;
use assay_core::observation::Observation;
use assay_core::record::Record;
use assay_core::text::{clean, harmless};
use assay_core::units::capacity;
use assay_device::{Sysroot, survey};
use assay_engine::Control;
use assay_report::{Lives, Part, film_part};
use assay_serve::{
    Answer as PageAnswer, FleetRunLine, KeptPlan, Listen, MOST_COMPARED, NewPlan, Place, Program, Refusal, Secret,
    Server, SuiteLine, TOKEN_LEAST, Tls, TlsError,
};
use assay_store::{ObservationDetail, SqliteStore, Store, Summary};
use clap::Parser;

use super::fleet::report::{report_answer, run_lines};
use super::watch::{names as watch_names, status_answer};
use super::{compare, plan, rank, records};
use crate::answer::{Answer, Target};
use crate::cli::{Cli, Command, FleetCommand, PlanCommand, ServeArgs, WatchCommand};
use crate::documents::ServeDocument;
use crate::ending::Failure;
use crate::{files, output, queries, signals, state, suites};

/// Longest token file, in bytes.
const LONGEST_TOKEN: u64 = 4096;
/// Longest file of certificates or of a key, in bytes.
const LONGEST_PEM: u64 = 1 << 20;

pub(super) fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    // Each page would say it.
    state::directory()?;
    let chosen = args.token_file.as_deref().map(token).transpose()?;
    let asks_for_token = chosen.is_some();
    let program = Own { executable: std::env::current_exe().map_err(|e| Failure::environment(format!("assay: {e}")))? };
    let random = [state::random_key()?, state::random_key()?];
    let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
    let tls = tls.map(|(certificates, key)| tls_of(certificates, key)).transpose()?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let listen = Listen { address: args.listen, names: &args.names, chosen, tls };
    let (server, secret) =
        Server::listen(listen, random, program).map_err(|error| Failure::usage(error.to_string()))?;
    let plain = format!("{scheme}://{}/", server.address);
    let address = if asks_for_token { plain } else { format!("{plain}?key={}", secret.text()) };
    if args.json {
        output::print_json(&ServeDocument { address, asks_for_token })?;
    } else {
        output::print(&address)?;
        if !server.address.ip().is_loopback() && args.tls_cert.is_none() {
            output::tell_wrapped(
                "other machines can reach this address, and the connection is not encrypted: use it in a network that you \
                 trust, give it a certificate with --tls-cert, or listen on 127.0.0.1 behind a proxy or ssh -L",
            );
        }
        output::tell("Ctrl-C ends the server");
    }
    let control = Control::default();
    signals::stop_on_signals(&control)?;
    server.run(|| control.stopped());
    Ok(Exit::Good)
}

/// The beginning of a file, or why there is none, with the mend.
fn beginning(path: &Path, longest: u64, mend: &str) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let read = files::open(path).and_then(|file| file.take(longest).read_to_end(&mut content));
    read.map_err(|error| Failure::usage(format!("{}: cannot be read: {error}; {mend}", output::shown(path))))?;
    Ok(content)
}

/// The certificates and the key in two files.
fn tls_of(certificates: &Path, key: &Path) -> Result<Tls, Failure> {
    let texts = [
        beginning(certificates, LONGEST_PEM, "name a certificate in PEM form")?,
        beginning(key, LONGEST_PEM, "name the private key of the certificate in PEM form")?,
    ];
    Tls::from_pem(&texts[0], &texts[1]).map_err(|error| {
        let about = if error == TlsError::NoKey { key } else { certificates };
        Failure::usage(harmless(&format!("{}: {error}", about.display())))
    })
}

/// The token in a file.
fn token(path: &Path) -> Result<Secret, Failure> {
    let shown = output::shown(path);
    let text = beginning(path, LONGEST_TOKEN, "write a token into it")?;
    let text = String::from_utf8(text)
        .map_err(|_| Failure::usage(format!("{shown}: is not a text file; write a token into it")))?;
    Secret::chosen(&text).ok_or_else(|| {
        Failure::usage(format!("{shown}: the token is shorter than {TOKEN_LEAST} characters; write a longer one"))
    })
}

/// This program.
struct Own {
    executable: PathBuf,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { is_usage: failure.exit() == Exit::Usage, message: failure.message().to_owned() }
    }
}

/// Does a command's work for a page; what it would print beside its answer is returned, too.
fn work<T>(what: impl FnOnce() -> Result<T, Failure>) -> Result<(T, Vec<String>), Refusal> {
    let (done, notes) = output::for_a_page(what);
    Ok((done?, notes))
}

fn quietly<T>(what: impl FnOnce() -> Result<T, Failure>) -> Result<T, Refusal> {
    work(what).map(|(done, _)| done)
}

/// Records under their ids, none where the store has none.
fn by_ids(ids: &[String], detail: ObservationDetail) -> Result<Vec<Observation>, Failure> {
    let Some(store) = state::existing()? else { return Ok(Vec::new()) };
    let mut found: Vec<Observation> =
        queries::readable(ids, |id| store.observations(id, detail))?.0.into_iter().flatten().collect();
    queries::mark_verified(&mut found)?;
    Ok(found)
}

impl Program for Own {
    fn summaries(&self, query: &str) -> Result<Vec<Summary>, Refusal> {
        quietly(|| match state::existing()? {
            Some(store) => Ok(store.list(query)?),
            None => Ok(Vec::new()),
        })
    }

    fn records(&self, ids: &[String]) -> Result<Vec<Observation>, Refusal> {
        quietly(|| by_ids(ids, ObservationDetail::Estimates))
    }

    fn whole_records(&self, ids: &[String]) -> Result<Vec<Record>, Refusal> {
        quietly(|| Ok(queries::find(ids)?.into_iter().map(|stored| stored.record).collect()))
    }

    fn units(&self, lines: &[Summary]) -> Result<Vec<(String, String)>, Refusal> {
        quietly(|| match state::existing()? {
            Some(store) => lines.iter().map(|line| unit_of(&store, line)).collect(),
            None => Ok(Vec::new()),
        })
    }

    fn lives(&self) -> Lives {
        quietly(records::all_lives).unwrap_or_default()
    }

    fn answer(&self, words: &[String]) -> Result<PageAnswer, Refusal> {
        let ((answer, slider), notes) = work(|| {
            let cli = parsed(words)?;
            let answer = answer(&cli.command)?;
            let slider = match &cli.command {
                Command::Compare(args) => slider(&args.queries)?,
                _ => None,
            };
            Ok((answer, slider))
        })?;
        Ok(PageAnswer {
            part: answer.document().part(),
            notes,
            picture: answer.picture().map(|drawing| drawing.inline()),
            slider,
        })
    }

    fn places(&self) -> Vec<Place> {
        let place = |one: assay_device::SurveyedMedium| {
            let medium = &one.target.medium;
            Place {
                title: clean(&Medium { capacity_bytes: None, ..medium.clone() }.title()),
                kind: medium.kind.title(),
                size: medium.capacity_bytes.map(capacity).unwrap_or_default(),
                is_mounted: !one.target.raw,
                path: one.path,
            }
        };
        survey(&Sysroot::real()).into_iter().map(place).collect()
    }

    fn suites(&self) -> Vec<SuiteLine> {
        let line = |(name, _): &(&str, &str)| {
            let suite = suites::load(name).ok()?;
            let writes = suite.writes() || suite.programs_write();
            Some(SuiteLine { name: suite.name, about: harmless(&suite.purpose), writes })
        };
        suites::BUILT_IN.iter().filter_map(line).collect()
    }

    fn baselines(&self) -> Result<Vec<(String, Vec<String>)>, Refusal> {
        quietly(|| {
            let named = |name: String| Ok((name.clone(), queries::read_baseline(&name)?));
            queries::baseline_names()?.into_iter().map(named).collect()
        })
    }

    fn set_baseline(&self, name: &str, ids: &[String]) -> Result<(), Refusal> {
        quietly(|| {
            let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
            queries::set_baseline(name, &queries::resolve(&store, ids)?)
        })
    }

    fn remove_baseline(&self, name: &str) -> Result<(), Refusal> {
        quietly(|| queries::remove_baseline(name))
    }

    fn watches(&self) -> Result<Vec<String>, Refusal> {
        quietly(watch_names)
    }

    fn fleet_runs(&self) -> Result<Vec<FleetRunLine>, Refusal> {
        quietly(run_lines)
    }

    fn plans(&self) -> Result<Vec<String>, Refusal> {
        quietly(plan::kept_labels)
    }

    fn plan(&self, label: &str) -> Result<Option<KeptPlan>, Refusal> {
        quietly(|| plan::kept(label))
    }

    fn new_plan(&self, words: &[String], keep: bool) -> Result<NewPlan, Refusal> {
        quietly(|| {
            let only = || Failure::usage("this is asked on the command line alone");
            let Command::Plan(args) = parsed(words)?.command else { return Err(only()) };
            let PlanCommand::New(args) = &args.command else { return Err(only()) };
            let (plan, new) = plan::asked(args)?;
            if keep {
                plan::keep(&plan)?;
            }
            Ok(new)
        })
    }

    fn executable(&self) -> PathBuf {
        self.executable.clone()
    }
}

/// What the words of a command say.
fn parsed(words: &[String]) -> Result<Cli, Failure> {
    Ok(Cli::try_parse_from(std::iter::once("assay").chain(words.iter().map(String::as_str)))?)
}

/// The unit of a line of the list. What was printed elsewhere may name no medium, or be published: the record says.
fn unit_of(store: &SqliteStore, line: &Summary) -> Result<(String, String), Failure> {
    let listed = Listed { model: line.model(), serial: line.unit.as_ref(), labels: &line.labels };
    if let Some(found) = listed_identity(&listed).filter(|_| line.host.is_some()) {
        return Ok(found);
    }
    let record = store.observations(&line.id, ObservationDetail::Estimates)?.into_iter().next();
    let found = record.map(|record| identity(&record));
    Ok(found.map_or_else(|| (line.model().to_owned(), line.id.clone()), |found| (found.model, found.unit)))
}

/// What a command answers, without where it goes.
fn answer(command: &Command) -> Result<Box<dyn Answer>, Failure> {
    let mut target = Target::stdout();
    Ok(match command {
        Command::Rank(args) => Box::new(rank::rank_answer(args, &mut target)?),
        Command::Advise(args) => Box::new(rank::advise_answer(args, &mut target)?.0),
        Command::Compare(args) => {
            if args.grouping().is_none() {
                few_enough(args.queries.len())?;
            }
            let found = compare::compare_answer(args, &mut target)?;
            few_enough(found.groups())?;
            Box::new(found)
        }
        Command::Plan(args) => match &args.command {
            PlanCommand::Race(args) => Box::new(plan::race_answer(args, &mut target)?.0),
            PlanCommand::Swap(args) => Box::new(plan::swap_answer(args, &mut target)?),
            _ => return Err(Failure::usage("this is asked on the command line alone")),
        },
        Command::Watch(args) => match &args.command {
            Some(WatchCommand::Status(args)) => Box::new(status_answer(args, &target, args.names.len() == 1)?),
            _ => return Err(Failure::usage("this is asked on the command line alone")),
        },
        Command::Fleet(args) => match &args.command {
            FleetCommand::Report(args) => Box::new(report_answer(args, &target)?),
            _ => return Err(Failure::usage("this is asked on the command line alone")),
        },
        _ => return Err(Failure::usage("this is asked on the command line alone")),
    })
}

/// Refuses a comparison of more groups than a page shows.
fn few_enough(groups: usize) -> Result<(), Failure> {
    if groups <= MOST_COMPARED {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{groups} groups are more than the {MOST_COMPARED} that a page compares; name fewer, or rank them"
    )))
}

/// The pictures over block sizes of what is compared; none of too many groups, or of too few sizes.
fn slider(asked: &[String]) -> Result<Option<Part>, Failure> {
    let records = queries::find_all(asked, ObservationDetail::Repeats)?;
    let models: std::collections::BTreeSet<String> = records.iter().map(Observation::model).collect();
    Ok(Some(&records).filter(|_| models.len() <= MOST_COMPARED).and_then(|records| film_part(records)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_question_of_a_page_is_one_of_the_command_line() {
        for (words, options) in assay_serve::commands() {
            let mut command = &Cli::command();
            for word in &words {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("{words:?}"));
            }
            for option in options {
                let name = option.strip_prefix("--").unwrap();
                assert!(command.get_arguments().any(|known| known.get_long() == Some(name)), "{words:?} {option}");
            }
        }
    }

    #[test]
    fn a_page_reads_no_files_and_does_nothing_else() {
        let own = Own { executable: PathBuf::new() };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for asked in ["rank -- ./Cargo.toml", "rank -- -", "compare -- src/main.rs /etc/passwd"] {
            assert!(own.answer(&words(asked)).is_err_and(|refusal| refusal.is_usage), "{asked}");
        }
        for asked in ["rm all", "label all a=b", "run", "verify", "import x", "plan new", "fleet clean", "nothing"] {
            assert!(own.answer(&words(asked)).is_err_and(|refusal| refusal.is_usage), "{asked}");
        }
        let ranked = own.answer(&words("rank -- published:")).unwrap();
        assert!(ranked.part.body.contains("SanDisk") && ranked.picture.is_some());
    }
}
