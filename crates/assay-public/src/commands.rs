//! Commands and what they do.

use std::error::Error;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_public::database::{Database, Place};
use assay_public::states::{Code, Reason, Standing, State};
use assay_public::store::{self, Kept};
use assay_public::{Rate, Server, Setup, derived, judge, moving, secret};
use clap::{Args, CommandFactory, Parser, Subcommand};

type Done<T> = Result<T, Box<dyn Error>>;

/// Longest name of an account.
const LONGEST_NAME: usize = 32;
/// Documents that a check reads at once.
const CHECKED_AT_ONCE: i64 = 100;

/// A public place for results of assay
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Take submissions and answer pages, until SIGTERM or Ctrl-C
    Serve(ServeArgs),
    /// Make accounts, and refuse or accept their tokens
    #[command(subcommand)]
    Account(AccountCommand),
    /// Stop showing a record; its reason is public
    Hold(DecideArgs),
    /// Judge a record again that was held by hand
    Release {
        #[command(flatten)]
        database: DatabaseArg,
        /// Identity of the record
        id: String,
    },
    /// Delete the document of a record; its reason is public
    Remove(DecideArgs),
    /// Check every document against its hash, and every judgement against that of this version
    Check(DatabaseArg),
    /// Copy everything to another database and compare; it goes on where it was ended
    Copy {
        /// The database that is read
        #[arg(long)]
        from: Place,
        /// The database that is written
        #[arg(long)]
        to: Place,
    },
    /// Write a copy of the database to a new file while the server goes on (SQLite)
    Backup {
        #[command(flatten)]
        database: DatabaseArg,
        /// The new file
        file: PathBuf,
    },
    /// Write the description of the API, OpenAPI 3.1
    Api,
    /// Write the manual pages to a directory
    Man {
        /// The directory, which is there
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
struct DatabaseArg {
    /// postgres://USER@HOST/NAME, to another machine with ?sslmode=verify-full&sslrootcert=FILE; or the path of a file for
    /// SQLite
    #[arg(long, env = "ASSAY_PUBLIC_DATABASE", hide_env_values = true)]
    database: Place,
}

impl DatabaseArg {
    fn open(&self) -> Done<Database> {
        Ok(Database::open(&self.database).map_err(|error| format!("{}: {error}", self.database.shown()))?)
    }
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    database: DatabaseArg,
    /// Where to listen; 0 is a free port
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// Address of the server as the world knows it, for receipts: https://results.example.org
    #[arg(long, env = "ASSAY_PUBLIC_ADDRESS")]
    address: Option<String>,
    /// A proxy whose X-Forwarded-For is believed; may be given several times
    #[arg(long = "proxy", value_name = "IP")]
    proxies: Vec<IpAddr>,
    /// Directory for the files of the open data; without it there are none
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Submissions of an account in an hour, a tenth of them at once
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..))]
    submissions_per_hour: u32,
    /// Requests of a network in a second on the whole, twenty times as many at once
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    requests_per_second: u32,
}

#[derive(Debug, Subcommand)]
enum AccountCommand {
    /// Make an account and print its token, which is kept nowhere
    Add(AccountArgs),
    /// Refuse the token of an account; its records stay
    Disable(AccountArgs),
    /// Accept it again
    Enable(AccountArgs),
    /// List all accounts
    List(DatabaseArg),
}

#[derive(Debug, Args)]
struct AccountArgs {
    #[command(flatten)]
    database: DatabaseArg,
    /// Its name, which is public: letters, digits and hyphens
    #[arg(value_parser = account_name)]
    name: String,
}

#[derive(Debug, Args)]
struct DecideArgs {
    #[command(flatten)]
    database: DatabaseArg,
    /// Identity of the record
    id: String,
    /// Why, in a line that everybody reads
    reason: String,
}

fn account_name(text: &str) -> Result<String, String> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let good = !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(plain) && !text.starts_with('-');
    good.then(|| text.to_owned()).ok_or_else(|| {
        format!("a name has up to {LONGEST_NAME} small letters, digits and hyphens, and no hyphen first")
    })
}

/// A line of output; a reader that went away is no error.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

pub(crate) fn run(cli: Cli) -> Done<ExitCode> {
    match cli.command {
        Command::Serve(args) => serve(args),
        Command::Account(command) => account(command),
        Command::Hold(args) => decide(&args, State::Held),
        Command::Remove(args) => decide(&args, State::Withdrawn),
        Command::Release { database, id } => release(&database.open()?, &id),
        Command::Check(database) => check(&database.open()?),
        Command::Copy { from, to } => copy(&Database::open(&from)?, &Database::open(&to)?),
        Command::Backup { database, file } => {
            database.open()?.back_up(&file)?;
            say(&format!("wrote {}", file.display()));
            Ok(ExitCode::SUCCESS)
        }
        Command::Api => {
            say(&serde_json::to_string_pretty(&assay_public::description("/"))?);
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { directory } => {
            let written = clap_mangen::generate_to(Cli::command(), &directory);
            written.map_err(|error| format!("{}: {error}", directory.display()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn serve(args: ServeArgs) -> Done<ExitCode> {
    let database = args.database.open()?;
    if let Some(data) = &args.data {
        std::fs::create_dir_all(data).map_err(|error| format!("{}: {error}", data.display()))?;
    }
    let hourly = f64::from(args.submissions_per_hour);
    let requests = f64::from(args.requests_per_second);
    let setup = Setup {
        listen: args.listen,
        site: args.address,
        proxies: args.proxies.into_iter().map(|proxy| proxy.to_canonical()).collect(),
        submissions: Rate { burst: (hourly / 10.0).max(1.0), per_second: hourly / 3600.0 },
        requests: Rate { burst: 20.0 * requests, per_second: requests },
        data: args.data,
    };
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&ends))?;
    }
    let server = Server::start(database, setup)?;
    say(&format!("http://{}/", server.address));
    let _ = std::io::stdout().flush();
    server.run(|| ends.load(Ordering::Relaxed));
    Ok(ExitCode::SUCCESS)
}

fn account(command: AccountCommand) -> Done<ExitCode> {
    let switch = |args: &AccountArgs, on| {
        let found = args.database.open()?.write(|connection| store::enable_account(connection, &args.name, on))?;
        if found { Ok(ExitCode::SUCCESS) } else { Err(format!("there is no account {}", args.name).into()) }
    };
    match command {
        AccountCommand::Add(args) => {
            let token = secret()?;
            let made = args.database.open()?.write(|connection| store::add_account(connection, &args.name, &token))?;
            if !made {
                return Err(format!("there is an account {}; choose another name", args.name).into());
            }
            say(&token);
            Ok(ExitCode::SUCCESS)
        }
        AccountCommand::Disable(args) => switch(&args, false),
        AccountCommand::Enable(args) => switch(&args, true),
        AccountCommand::List(database) => {
            for one in database.open()?.with(store::accounts)? {
                let enabled = if one.enabled { "enabled" } else { "disabled" };
                say(&format!("{:<32}  {}  {enabled:<8}  {} records", one.name, one.created, one.records));
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn found(there: Option<Kept>, id: &str) -> Done<Kept> {
    there.ok_or_else(|| format!("there is no record {id}").into())
}

fn decide(args: &DecideArgs, state: State) -> Done<ExitCode> {
    let database = args.database.open()?;
    let there = found(database.with(|connection| store::find(connection, &args.id))?, &args.id)?;
    let done = database.write(|connection| match state {
        State::Held => derived::hold(connection, &there, &args.reason),
        _ => derived::withdraw(connection, &there, Reason::new(Code::ByOperator, &*args.reason)),
    })?;
    if !done {
        return Err(format!("record {} is gone, or changed meanwhile; look at it again", args.id).into());
    }
    say(&format!("{} is {}", args.id, state.name()));
    Ok(ExitCode::SUCCESS)
}

/// It is judged as when it came.
fn release(database: &Database, id: &str) -> Done<ExitCode> {
    let there = found(database.with(|connection| store::find(connection, id))?, id)?;
    if there.standing.state != State::Held {
        return Err(format!("record {id} is {}, and only what is held is released", there.standing.state.name()).into());
    }
    let received = Standing { state: State::Received, reasons: Vec::new() };
    database.write(|connection| derived::settle(connection, &there, &received, None))?;
    say(&format!("{id} is received, and will be judged by the server"));
    Ok(ExitCode::SUCCESS)
}

fn check(database: &Database) -> Done<ExitCode> {
    let (mut after, mut checked, mut wrong) = (0, 0, 0);
    loop {
        let found = database.with(|connection| store::after(connection, after, CHECKED_AT_ONCE))?;
        let Some((last, _)) = found.last() else { break };
        after = *last;
        for (_, there) in found {
            checked += 1;
            for line in wrong_with(database, &there)? {
                wrong += 1;
                say(&format!("{}: {line}", there.id));
            }
        }
    }
    say(&format!("checked {checked} documents: {wrong} differ"));
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wrong_with(database: &Database, there: &Kept) -> Done<Vec<String>> {
    let body = database.with(|connection| store::document(connection, &there.id))?;
    let mut lines = Vec::new();
    match (&body, there.standing.state) {
        (None, State::Withdrawn) => return Ok(lines),
        (Some(_), State::Withdrawn) => lines.push("it was withdrawn, and its document is here".to_owned()),
        (None, _) => lines.push("its document is gone".to_owned()),
        (Some(body), _) if blake3::hash(body).to_hex().as_str() != there.hash => {
            lines.push("its document is not what was sent".to_owned());
        }
        _ => {}
    }
    let by_hand = there.standing.reasons.iter().any(|reason| reason.code == Code::ByOperator);
    if lines.is_empty() && !by_hand && there.standing.state != State::Received {
        let now = judge::rejudge(database, there)?;
        if now.state != there.standing.state {
            let why: Vec<&str> = now.reasons.iter().map(|reason| reason.detail.as_str()).collect();
            let (was, is) = (there.standing.state.name(), now.state.name());
            lines.push(format!("it is {was}, and would be {is}: {}", why.join("; ")));
        }
    }
    Ok(lines)
}

fn copy(from: &Database, to: &Database) -> Done<ExitCode> {
    moving::copy(from, to, &mut |table, at| {
        let _ = writeln!(std::io::stderr(), "{table}: up to {at}");
    })?;
    let mut same = true;
    for table in moving::compare(from, to)? {
        let equal = table.from == table.to;
        same &= equal;
        let words = if equal { "equal" } else { "DIFFERENT" };
        say(&format!("{:<12}  {:>9} rows  {words}  BLAKE3 {}", table.table, table.to.0, table.to.1));
    }
    if !same {
        return Err("the databases differ: end what uses them, and copy into an empty one".into());
    }
    Ok(ExitCode::SUCCESS)
}
