//! `assay login` and `assay submit`: records for a public instance.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use assay_core::exit::Exit;
use assay_core::outcome::Outcome;
use assay_core::text::harmless;
use assay_core::units::counted;
use assay_report::{left, table, wrapped};
use assay_store::{SqliteStore, Store};
use assay_submit::{
    Account, Accounts, Client, ClientError, Entry, Outbox, OutboxError, Publication, Site, Status, Step,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::cli::{LoginArgs, SubmitArgs};
use crate::documents::{LoginDocument, SubmitDocument, SubmittedRecord};
use crate::ending::Failure;
use crate::state::DataDirectory;
use crate::{output, queries, state};

/// Longest token and file of certificates, in bytes.
const LONGEST_TOKEN: u64 = 512;
const LONGEST_CERTIFICATES: u64 = 1 << 20;
/// A site judges a record within a few seconds; its verdict is waited for this often, for this long each time.
const LOOKS: u32 = 6;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

impl From<OutboxError> for Failure {
    fn from(error: OutboxError) -> Self {
        Self::environment(error.to_string())
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let message = harmless(&error.to_string());
        match error {
            ClientError::Later { .. } | ClientError::Strange { .. } => Self::environment(message),
            ClientError::Unauthorized(_) | ClientError::Refused { .. } | ClientError::Certificates(_) => {
                Self::usage(message)
            }
        }
    }
}

fn outbox() -> Result<Outbox, Failure> {
    Ok(Outbox::open(DataDirectory::made(state::OUTBOX)?.into_directory())?)
}

// `assay login`

pub(super) fn login(args: &LoginArgs) -> Result<Exit, Failure> {
    let outbox = outbox()?;
    let mut accounts = Accounts::read(outbox.directory())?;
    let profile = if args.forget {
        if !accounts.remove(&args.site) {
            return Err(Failure::usage(format!("there is no account at {}", args.site)));
        }
        None
    } else {
        let certificates = args.ca.as_deref().map(|file| read_text(file, LONGEST_CERTIFICATES)).transpose()?;
        let account = Account { site: args.site.clone(), token: token(args)?, certificates };
        let profile = Client::new(&account)?.profile()?;
        accounts.put(account);
        Some(profile)
    };
    accounts.write(outbox.directory()).map_err(OutboxError::from)?;
    if args.json {
        let (account, records) = profile.map(|profile| (profile.name, profile.records)).unzip();
        output::print_json(&LoginDocument { site: args.site.to_string(), account, records })?;
    } else if let Some(profile) = profile {
        let records = usize::try_from(profile.records).unwrap_or(usize::MAX);
        output::tell_wrapped(&format!(
            "account {} at {} has {}; `assay submit last --dry-run` shows what would be sent",
            harmless(&profile.name),
            args.site,
            counted(records, "record")
        ));
    } else {
        output::tell_wrapped(&format!("the account at {} is forgotten", args.site));
    }
    Ok(Exit::Good)
}

fn token(args: &LoginArgs) -> Result<String, Failure> {
    let text = match &args.token_file {
        Some(file) => read_text(file, LONGEST_TOKEN)?,
        None => match output::Questions::new(false) {
            mut questions if questions.asks() => {
                questions.ask(&format!("Token for {}:", args.site)).unwrap_or_default()
            }
            _ => limited(std::io::stdin(), LONGEST_TOKEN, "standard input")?,
        },
    };
    let token = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    if token.len() < 16 || !token.chars().all(plain) {
        return Err(Failure::usage("that is no token; who runs the site gives one, of 64 letters and digits"));
    }
    Ok(token.to_owned())
}

fn read_text(file: &Path, longest: u64) -> Result<String, Failure> {
    let shown = output::shown(file);
    let opened = std::fs::File::open(file).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    limited(opened, longest, &shown)
}

fn limited(reader: impl Read, longest: u64, shown: &str) -> Result<String, Failure> {
    let mut text = String::new();
    match reader.take(longest + 1).read_to_string(&mut text) {
        Ok(bytes) if bytes as u64 > longest => Err(Failure::usage(format!("{shown} is longer than {longest} bytes"))),
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::usage(format!("{shown}: {error}"))),
    }
}

// `assay submit`

pub(super) fn submit(args: &SubmitArgs) -> Result<Exit, Failure> {
    if args.dry_run {
        let (mut store, ids) = named(args)?;
        for document in documents(&mut store, &ids)? {
            output::print(&document)?;
        }
        return Ok(Exit::Good);
    }
    let sending = Sending::open(args.site.as_ref())?;
    let steps = match (args.withdraw, args.queries.is_empty()) {
        (_, true) => sending.all()?,
        (true, false) => sending.withdrawn(&named(args)?.1)?,
        (false, false) => {
            let (mut store, ids) = named(args)?;
            sending.sent(&mut store, &ids, args.unlisted)?
        }
    };
    deliver(&steps, args)
}

/// The records that the queries name, which have to be in the store.
fn named(args: &SubmitArgs) -> Result<(SqliteStore, Vec<String>), Failure> {
    let store = state::existing()?.ok_or_else(|| Failure::usage(state::EMPTY))?;
    let ids = queries::resolve(&store, &args.queries)?;
    Ok((store, ids))
}

/// What leaves this machine of these records: each as one line, without identities.
fn documents(store: &mut SqliteStore, ids: &[String]) -> Result<Vec<String>, Failure> {
    let redactor = state::redactor_of(Some(store))?;
    let one = |id: &String| {
        let stored = store.load(id)?;
        if stored.record.outcome == Outcome::Running {
            return Err(Failure::usage(format!(
                "record {} is still being made; submit it when it is done",
                harmless(id)
            )));
        }
        let mut value: Value = serde_json::from_str(&stored.document)
            .map_err(|error| Failure::environment(format!("a stored record is not JSON: {error}")))?;
        redactor.value(&mut value);
        Ok(value.to_string())
    };
    ids.iter().map(one).collect()
}

/// The outbox and the accounts, open for one command.
struct Sending {
    outbox: Outbox,
    accounts: Accounts,
    /// What `--site` names, or the site of the last login.
    site: Site,
}

impl Sending {
    fn open(site: Option<&Site>) -> Result<Self, Failure> {
        let outbox = outbox()?;
        let accounts = Accounts::read(outbox.directory())?;
        let account = accounts.at(site).ok_or_else(|| {
            let site = site.map_or_else(|| "https://…".to_owned(), Site::to_string);
            Failure::usage(format!("there is no account to submit with; run: assay login {site}"))
        })?;
        let site = account.site.clone();
        Ok(Self { outbox, accounts, site })
    }

    fn client(&self, site: &Site) -> Result<Client, Failure> {
        let account = self.accounts.at(Some(site));
        let account =
            account.ok_or_else(|| Failure::usage(format!("there is no account at {site}; run: assay login {site}")))?;
        Ok(Client::new(account)?)
    }

    /// Puts records into the outbox, all before the first is sent, sends them, and waits a moment for the verdicts.
    fn sent(&self, store: &mut SqliteStore, ids: &[String], unlisted: bool) -> Result<Vec<Step>, Failure> {
        let mut entries = Vec::new();
        for (id, document) in ids.iter().zip(documents(store, ids)?) {
            let kept = self.outbox.entry(&self.site, id)?;
            let fresh = match &kept {
                None => true,
                Some(entry) => matches!(entry.status, Status::Refused { .. }),
            };
            let entry = match kept {
                Some(entry) if !fresh => entry,
                _ => {
                    let entry = Entry {
                        site: self.site.clone(),
                        record: id.clone(),
                        submitted: Timestamp::now().to_string(),
                        unlisted,
                        status: Status::Waiting { document, attempts: 0 },
                    };
                    self.outbox.put(&entry)?;
                    entry
                }
            };
            entries.push(entry);
        }
        let steps = self.forward(entries)?;
        self.judged(steps)
    }

    /// Sends what waits for the site, and asks for the receipts of the rest.
    fn all(&self) -> Result<Vec<Step>, Failure> {
        let entries = self.outbox.entries()?.into_iter().filter(|entry| entry.site == self.site).collect();
        let steps = self.forward(entries)?;
        self.judged(steps)
    }

    /// One step of each entry. After a site has not answered once, it is not asked again.
    fn forward(&self, entries: Vec<Entry>) -> Result<Vec<Step>, Failure> {
        let client = self.client(&self.site)?;
        let (mut steps, all) = (Vec::new(), entries.len());
        let mut away = false;
        let mut status = crate::progress::Status::new(false);
        for (at, entry) in entries.into_iter().enumerate() {
            status.show(|| format!("record {} of {all}", at + 1));
            let step = match entry.status {
                _ if away => Step { entry, error: None },
                Status::Waiting { .. } => self.outbox.deliver(&client, entry)?,
                _ => self.outbox.look(&client, entry)?,
            };
            away |= matches!(step.error, Some(ClientError::Later { .. } | ClientError::Unauthorized(_)));
            steps.push(step);
        }
        status.clear();
        Ok(steps)
    }

    /// Waits a moment until the site has judged what it received.
    fn judged(&self, mut steps: Vec<Step>) -> Result<Vec<Step>, Failure> {
        let client = self.client(&self.site)?;
        for _ in 0..LOOKS {
            let open: Vec<usize> = (0..steps.len()).filter(|at| is_unjudged(&steps[*at])).collect();
            if open.is_empty() {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
            for at in open {
                let entry = steps[at].entry.clone();
                steps[at] = self.outbox.look(&client, entry)?;
            }
        }
        Ok(steps)
    }

    fn withdrawn(&self, ids: &[String]) -> Result<Vec<Step>, Failure> {
        let client = self.client(&self.site)?;
        let mut entries = Vec::new();
        for id in ids {
            let entry = self.outbox.entry(&self.site, id)?;
            entries.push(entry.ok_or_else(|| {
                Failure::usage(format!("record {} was not submitted to {}", harmless(id), self.site))
            })?);
        }
        entries.into_iter().map(|entry| Ok(self.outbox.withdraw(&client, entry)?)).collect()
    }
}

/// Whether the site has it, and has not said more; after an error it is not asked again.
fn is_unjudged(step: &Step) -> bool {
    let received =
        matches!(&step.entry.status, Status::Received { receipt, .. } if receipt.state == Publication::Received);
    received && step.error.is_none()
}

/// Shows where each record is.
fn deliver(steps: &[Step], args: &SubmitArgs) -> Result<Exit, Failure> {
    if args.json {
        let records = steps.iter().map(SubmittedRecord::of).collect();
        output::print_json(&SubmitDocument { records })?;
    } else if steps.is_empty() {
        output::tell_wrapped("nothing was submitted; `assay submit last --dry-run` shows what would be sent");
    } else {
        let columns = vec![left("record"), left("state"), wrapped("page, or why")];
        let rows = steps.iter().map(|step| {
            let (state, more) = words(step);
            vec![harmless(&step.entry.record), state.to_owned(), harmless(&more)]
        });
        output::print(&table(columns, rows, &output::stdout_style()))?;
    }
    // An error of the site that is not kept in the entry, as of a receipt that could not be asked for.
    let mut said = HashMap::new();
    for error in steps.iter().filter_map(|step| step.error.as_ref()) {
        said.entry(error.to_string()).or_insert(error);
    }
    said.keys().for_each(|error| output::tell_wrapped(&harmless(error)));
    Ok(exit(steps, args.withdraw))
}

fn exit(steps: &[Step], withdraw: bool) -> Exit {
    let open = |step: &Step| matches!(step.entry.status, Status::Waiting { .. }) || withdraw && step.error.is_some();
    if steps.iter().any(open) {
        Exit::Environment
    } else if steps.iter().any(|step| matches!(step.entry.status, Status::Refused { .. })) {
        Exit::No
    } else {
        Exit::Good
    }
}

/// The state of a record, and its page or why it does not count.
fn words(step: &Step) -> (&'static str, String) {
    match &step.entry.status {
        Status::Waiting { attempts, .. } => {
            let why = step.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
            let tries = counted(usize::try_from(*attempts).unwrap_or(usize::MAX), "attempt");
            ("waits", if *attempts == 0 { "not sent yet".to_owned() } else { format!("{tries}{why}") })
        }
        Status::Received { receipt, .. } => {
            let state = match receipt.state {
                Publication::Received => "received",
                Publication::Public => "public",
                Publication::Unlisted => "unlisted",
                Publication::Held => "held",
                Publication::Withdrawn => "withdrawn",
                Publication::Other => "other",
            };
            let reasons: Vec<String> = receipt.reasons.iter().map(|reason| reason.detail.clone()).collect();
            let more = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
            (state, format!("{}{more}", receipt.address))
        }
        Status::Refused { refusal } => {
            let place = refusal.pointer.as_ref().map(|pointer| format!(" at {pointer}")).unwrap_or_default();
            let other =
                refusal.address.as_ref().map(|address| format!("; {address} is in its place")).unwrap_or_default();
            ("refused", format!("{}{place}{other}", refusal.message))
        }
        Status::Withdrawn { at } => ("withdrawn", at.clone()),
    }
}
