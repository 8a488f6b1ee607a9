//! The command that stands above an output of fio, as people paste it: `$ fio --name=x --rw=randread --bs=4k …`.
//!
//! It tells what the output for people does not, such as direct I/O, the size of the area and syncs. Where the two differ
//! it is the command of another run: the output counts, and nothing of the command does.

use std::collections::BTreeMap;

use assay_core::finding::{Contradiction, Finding};
use assay_core::workload::Op;

use super::job::Job;
use super::load::{self, Definition};
use super::printed::{NAME, is_printed};
use super::text;
use crate::command::{commands, continued, goes_on, is_cut_off, is_options};
use crate::reach::{Beside, held};
use crate::text::Text;

/// Most lines between a command and its output, those of the command included.
const MOST_ABOVE: usize = 24;
/// Most lines from the name of a file of jobs to its call, and to its first section.
const MOST_OF_FILE: usize = 80;
const MOST_TO_FILE: usize = 4;
/// Most options of a command.
const MOST_OPTIONS: usize = 500;
/// Lines that may stand between a command and its output begin with these.
const BETWEEN: [&str; 10] =
    ["```", "fio-", "Starting ", "Jobs: ", "fio: ", "note: ", "[code]", "[/code]", "##[endgroup]", "shell: "];
/// Options without a value (fio's manual; `l_opts` of its init.c, and those of type `FIO_OPT_STR_SET`).
const FLAGS: [&str; 9] = [
    "group_reporting",
    "time_based",
    "thread",
    "gtod_reduce",
    "stonewall",
    "minimal",
    "append-terse",
    "norandommap",
    "exitall",
];

/// A job of a command: its name and its options, those for all jobs included.
type CommandJob = (String, BTreeMap<String, String>);

/// What a command asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Command {
    jobs: Vec<CommandJob>,
    /// The line that it begins in.
    pub(super) line: usize,
    /// That other text stands between it and the output.
    pub(super) doubt: Option<Finding>,
}

impl Command {
    /// The command whose output begins at line `at`.
    pub(super) fn above(text: &Text, at: usize) -> Option<Self> {
        for line in (at.saturating_sub(MOST_ABOVE)..at).rev() {
            let here = text.line(line).trim();
            if let Some(words) = words(text, line, at) {
                return Self::from_words(&words, line);
            }
            if let Some(file) = file_called(text, line) {
                return Self::from_file(text, line, &file);
            }
            let goes_on = is_options(here) || goes_on(here) || is_cut_off(text, line);
            // Beside the output in a result of Ansible stands what else is known of the command.
            let member = here.starts_with('"') && here.contains("\":");
            let between = here.is_empty() || here.ends_with(':') || BETWEEN.iter().any(|start| here.starts_with(start));
            let between = between || member;
            if !goes_on && !between {
                break;
            }
        }
        Self::apart(text, at)
    }

    /// The command of an output above which other text stands.
    fn apart(text: &Text, at: usize) -> Option<Self> {
        let beside = if text::is_definition(text, at) { Beside::Cache } else { Beside::Load };
        let is_call = |words: &[String]| {
            let is_file = |word: &String| word.contains('.') && !word.contains(['=', '/']) && words.len() == 1;
            words.first().is_some_and(|word| word.starts_with('-') || is_file(word))
        };
        let held = held(text, at, NAME, beside, is_call, is_printed)?;
        let doubt = held.doubt(text, NAME);
        Self::from_words(&held.words, held.line).map(|command| Self { doubt, ..command })
    }

    /// Options before the first name are those of all jobs. `None` where a file has the jobs, or something was left out.
    fn from_words(words: &[String], line: usize) -> Option<Self> {
        let mut command = Self { jobs: Vec::new(), line, doubt: None };
        let mut shared = BTreeMap::new();
        let mut rest = words.iter().take(MOST_OPTIONS).peekable();
        while let Some(word) = rest.next() {
            let option = word.strip_prefix("--").or(word.strip_prefix('-')).filter(|option| !option.is_empty())?;
            let (key, value) = match option.split_once('=') {
                Some((key, value)) => (key, value.to_owned()),
                None if FLAGS.contains(&option) => (option, "1".to_owned()),
                // The value of an option may be a word of its own.
                None => match rest.next_if(|next| !next.starts_with('-')) {
                    Some(value) => (option, value.clone()),
                    None => (option, "1".to_owned()),
                },
            };
            // A variable has no known value. Names and places may hold one: no figure depends on them.
            let is_place = matches!(key, "name" | "filename" | "directory" | "output");
            if value == "..." || value.contains(['$', '…']) && !is_place || key.contains(['$', '…']) {
                return None;
            }
            if key == "name" && value != "global" {
                command.jobs.push((value, shared.clone()));
            } else if key != "name" {
                let options = command.jobs.last_mut().map_or(&mut shared, |(_, options)| options);
                options.insert(key.to_owned(), value);
            }
        }
        if command.jobs.is_empty() && !shared.is_empty() {
            command.jobs.push(("fio".to_owned(), shared));
        }
        (!command.jobs.is_empty()).then_some(command)
    }

    /// The jobs of a file that is shown above its call, below its name: `cat job.fio`.
    fn from_file(text: &Text, call: usize, file: &str) -> Option<Self> {
        let name = file.rsplit('/').next()?;
        let begins = |line: &usize| {
            let shown = text.line(*line);
            // Empty lines and fences may stand between.
            shown.contains(name) && (line + 1..line + MOST_TO_FILE).any(|next| text.line(next).trim().starts_with('['))
        };
        let shown = (call.saturating_sub(MOST_OF_FILE)..call).rev().find(begins)?;
        let mut command = Self { jobs: Vec::new(), line: shown, doubt: None };
        let (mut shared, mut global) = (BTreeMap::new(), true);
        let mut begun = false;
        for line in shown + 1..call {
            let line = text.line(line).trim();
            if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                (begun, global) = (true, section == "global");
                if !global {
                    command.jobs.push((section.to_owned(), shared.clone()));
                }
                continue;
            }
            if line.is_empty() || line.starts_with(['#', ';']) || !begun {
                continue;
            }
            let (key, value) = line.split_once('=').unwrap_or((line, "1"));
            let is_option = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            // What is no option stands below the file.
            if !is_option {
                break;
            }
            if value.contains('$') {
                return None;
            }
            let options = if global { &mut shared } else { command.jobs.last_mut().map(|(_, options)| options)? };
            if options.len() < MOST_OPTIONS {
                options.insert(key.to_owned(), value.trim().to_owned());
            }
        }
        (!command.jobs.is_empty() && command.jobs.len() <= MOST_OPTIONS).then_some(command)
    }

    /// Gives a job that tells no options those of the command, unless they contradict what it tells; the contradiction.
    /// `definition` is what the output says of the job before it starts.
    pub(super) fn give(&self, job: &mut Job, definition: Option<&Definition>, alone: bool) -> Option<Contradiction> {
        let (name, options) = match self.jobs.as_slice() {
            // A line without a name is of the only job.
            [only] if alone && job.name.is_empty() => only,
            jobs => jobs.iter().find(|(name, _)| *name == job.name)?,
        };
        if let Some(contradiction) = contradiction(options, job, definition) {
            return Some(contradiction);
        }
        job.options.clone_from(options);
        job.name.clone_from(name);
        if let Some(definition) = definition {
            complete(&mut job.options, definition);
        }
        None
    }

    /// Whether two results without a name are the directions of its only job.
    pub(super) fn is_mix_of(&self, one: &Job, other: &Job) -> bool {
        let rw = |(_, options): &CommandJob| {
            let rw = options.get("rw").or(options.get("readwrite"));
            rw.is_some_and(|rw| matches!(rw.as_str(), "rw" | "readwrite" | "randrw"))
        };
        let ops: Vec<Op> = [one, other].into_iter().flat_map(|job| &job.sides).map(|side| side.op).collect();
        let nameless = one.name.is_empty() && other.name.is_empty();
        self.is_of_one() && self.jobs.iter().all(rw) && nameless && ops == [Op::Read, Op::Write]
    }

    /// How many results the clones of a job have, each its own.
    pub(super) fn clones(&self, name: &str) -> usize {
        let job = self.jobs.iter().find(|(known, _)| known == name);
        let apart = job.filter(|(_, options)| !options.contains_key("group_reporting"));
        apart.and_then(|(_, options)| options.get("numjobs")?.parse().ok()).unwrap_or(1)
    }

    /// Whether one result may be of its only job: no clones of that have results of their own.
    pub(super) fn is_of_one(&self) -> bool {
        let clones = |options: &BTreeMap<String, String>| {
            options.get("numjobs").is_some_and(|clones| clones != "1") && !options.contains_key("group_reporting")
        };
        matches!(self.jobs.as_slice(), [(_, options)] if !clones(options))
    }
}

/// What a command leaves to fio's defaults, the output has.
fn complete(options: &mut BTreeMap<String, String>, definition: &Definition) {
    let mut add = |names: &[&str], value: Option<String>| {
        if let (Some(first), Some(value), false) =
            (names.first(), value, names.iter().any(|name| options.contains_key(*name)))
        {
            options.insert((*first).to_owned(), value);
        }
    };
    add(&["rw", "readwrite"], Some(definition.rw.clone()).filter(|rw| !rw.is_empty()));
    add(&["ioengine"], Some(definition.engine.clone()).filter(|engine| !engine.is_empty()));
    add(&["iodepth"], definition.depth.map(|depth| depth.to_string()));
    if let [Some(read), Some(write)] = definition.blocks {
        let sizes = ["bs", "blocksize", "bsrange", "blocksize_range", "bssplit", "bs_is_seq_rand"];
        add(&sizes, Some(format!("{read},{write}")));
    }
}

/// The first option of a command that is another one in the output.
fn contradiction(
    options: &BTreeMap<String, String>,
    job: &Job,
    definition: Option<&Definition>,
) -> Option<Contradiction> {
    let get = |names: &[&str]| names.iter().find_map(|name| options.get(*name)).map(|value| value.trim());
    let found = |option: &str, command: &str, output: String| {
        Some(Contradiction::Command { option: option.to_owned(), command: command.to_owned(), output })
    };
    let kind = |rw: &str| rw.split(':').next().unwrap_or_default().replace("readwrite", "rw");
    let rw = get(&["rw", "readwrite"]).unwrap_or("read");
    let Some(definition) = definition else {
        // Without a line that says what it was to do, what it did says it.
        let did = |op: Op| job.sides.iter().any(|side| side.op == op);
        return match kind(rw).trim_start_matches("rand") {
            "read" if did(Op::Write) => found("rw", rw, "writes".to_owned()),
            "write" if did(Op::Read) && !did(Op::Write) => found("rw", rw, "reads".to_owned()),
            _ => None,
        };
    };
    if !definition.rw.is_empty() && kind(rw) != kind(&definition.rw) {
        return found("rw", rw, definition.rw.clone());
    }
    let engine = get(&["ioengine"]).filter(|engine| !engine.starts_with("external:"));
    if let Some(engine) = engine.filter(|engine| !definition.engine.is_empty() && *engine != definition.engine) {
        return found("ioengine", engine, definition.engine.clone());
    }
    let depth = get(&["iodepth"]).and_then(|text| Some((text, text.parse::<u32>().ok()?)));
    if let Some(((text, _), other)) = depth.zip(definition.depth).filter(|((_, depth), other)| depth != other) {
        return found("iodepth", text, other.to_string());
    }
    let block = get(&["bs", "blocksize"])?;
    let base = if get(&["kb_base"]) == Some("1000") { 1000 } else { 1024 };
    let asked = load::block_sizes(block, base);
    let differs = asked.iter().zip(definition.blocks).find_map(|(asked, used)| asked.zip(used).filter(|(a, b)| a != b));
    differs.and_then(|(_, used)| found("bs", block, used.to_string()))
}

/// The file of jobs that a call of fio in line `at` names as its only argument.
fn file_called(text: &Text, at: usize) -> Option<String> {
    let line = text.line(at);
    let words =
        line.contains("fio").then(|| commands(line.trim(), "fio"))?.into_iter().find(|words| !words.is_empty())?;
    match words.as_slice() {
        [file] if file.contains('.') && !file.starts_with('-') => Some(file.clone()),
        _ => None,
    }
}

/// The words of a call of fio in line `at`, which may go on in the lines up to `before`.
fn words(text: &Text, at: usize, before: usize) -> Option<Vec<String>> {
    if !text.line(at).contains("fio") {
        return None;
    }
    let whole = continued(text, at, before, is_options);
    let words = commands(&whole, "fio").into_iter().find(|words| !words.is_empty())?;
    words.first().is_some_and(|word| word.starts_with('-')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &str) -> Option<Vec<CommandJob>> {
        let text = Text::from_bytes(lines.as_bytes());
        Command::above(&text, text.len()).map(|command| command.jobs)
    }

    fn get(lines: &str, job: usize, option: &str) -> Option<String> {
        of(lines)?.get(job)?.1.get(option).cloned()
    }

    #[test]
    fn commands_as_they_are_pasted() {
        for line in [
            "$ fio --name=x --bs=4k --direct=1",
            "root@host:~# sudo /usr/bin/fio --name x --bs 4k -direct=1 2>&1 | tee log\n\n```",
            "time fio --bs=4k --direct=1 --name=x; sync",
            "# fio --name=x \\\n   --bs=4k --direct \\\n  --runtime=10\nOutput:\n",
            "$ fio --name=x --bs=4k\n--direct=1 --filename=\"/mnt/a b\"",
            "##[group]Run fio --name=x --bs=4k --direct=1\nfio --name=x --bs=4k --direct=1\nshell: /bin/sh -e {0}\n##[endgroup]",
        ] {
            let found = of(line).unwrap_or_default();
            assert_eq!((found.len(), found[0].0.as_str()), (1, "x"), "{line}: {found:?}");
            let get = |option| get(line, 0, option).unwrap_or_default();
            assert_eq!((get("bs"), get("direct")), ("4k".to_owned(), "1".to_owned()), "{line}");
        }
        let two = "fio --direct=1 --name=a --rw=read --name=b --rw=write";
        assert_eq!((get(two, 0, "rw"), get(two, 1, "rw")), (Some("read".to_owned()), Some("write".to_owned())));
        assert_eq!(get(two, 1, "direct"), Some("1".to_owned()), "what stands first is of all");
    }

    #[test]
    fn a_command_above_other_text_is_doubtful() {
        let doubt = |lines: &str| {
            let text = Text::from_bytes(lines.as_bytes());
            Command::above(&text, text.len()).map(|command| command.doubt.is_some())
        };
        assert_eq!(doubt("fio --name=x --bs=4k\nOn the old kernel:\n"), Some(false), "as people end a title");
        assert_eq!(doubt("fio --name=x --bs=4k\nand something else\n"), Some(true));
        assert_eq!(doubt("fio --name=x --bs=4k\nfio job.fio\nand something else\n"), None);
        assert_eq!(doubt("fio --name=x --bs=4k\nnow with 8k\n"), None);
    }

    #[test]
    fn what_does_not_tell_the_load_is_no_command() {
        for line in [
            "fio job.fio",
            "fio --output=x job.fio",
            "fio --name=x --bs=4k ...",
            "fio --name=x --bs=4k --invalidate ...",
            "fio --name=x --bs=$bs",
            "I ran fio - it took long",
            "dd if=a of=b",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }
}
