//! One file a command, or a file for small commands of one subject.

mod about;
mod compare;
mod completion;
mod endure;
mod finished;
mod fleet;
mod guide;
mod import;
mod info;
mod plan;
mod powercut;
mod rank;
mod records;
mod report;
mod run;
mod serve;
mod submit;
mod suite;
mod survive;
mod verify;
mod watch;

use assay_core::exit::Exit;

use crate::cli::{Cli, Command};
use crate::ending::Failure;

pub(crate) use completion::{COMPLETE, complete};
pub(crate) use guide::guide;

/// Does what was asked for.
pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Info(args) => info::info(&args),
        Command::Verify(args) => verify::verify(&args),
        Command::Endure(args) => endure::endure(*args),
        Command::Powercut(args) => powercut::powercut(*args),
        Command::Compare(args) => compare::compare(args),
        Command::Baseline(args) => compare::baseline(&args),
        Command::Rank(args) => rank::rank(&args),
        Command::Plan(args) => plan::plan(&args),
        Command::Advise(args) => rank::advise(&args),
        Command::Suite(args) => suite::suite(args),
        Command::Fleet(args) => fleet::fleet(args),
        Command::Watch(args) => watch::watch(&args),
        Command::Survive(args) => survive::survive(&args),
        Command::Import(args) => import::import(&args),
        Command::Export(args) => records::export(&args),
        Command::List(args) => records::list(&args),
        Command::Show(args) => records::show(&args),
        Command::Label(args) => records::label(&args),
        Command::Rm(args) => records::rm(&args),
        Command::Report(args) => report::report(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Login(args) => submit::login(&args),
        Command::Submit(args) => submit::submit(&args),
        Command::Completions(args) => about::completions(&args),
        Command::Man(args) => about::man(&args),
        Command::Licences(args) => about::licences(&args),
    }
}
