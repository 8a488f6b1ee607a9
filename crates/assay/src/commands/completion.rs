//! Words of the store in shell completions: ids, labels, baselines, published media and runs on a cluster. The scripts of
//! `assay completions` ask for them with the command line as it stands.

use std::collections::BTreeSet;

use assay_core::medium::CLASSES;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell;

use super::fleet::report::run_lines;
use crate::cli::Cli;
use crate::{output, queries, state};

/// The first argument that asks for words. It is no command, and no one types it.
pub(crate) const COMPLETE: &str = "__complete";

/// Most records whose ids are offered, the newest.
const MOST_IDS: usize = 50;

/// What can be named.
#[derive(Debug, Default)]
struct Known {
    /// Ids, the newest first.
    ids: Vec<String>,
    /// `KEY=VALUE` of labels, suites and kinds.
    terms: BTreeSet<String>,
    models: BTreeSet<String>,
    baselines: Vec<String>,
    published: Vec<String>,
    runs: Vec<String>,
}

impl Known {
    /// What the store and the program hold; what cannot be read is not offered.
    fn gather() -> Self {
        let mut known = Self { published: published(), ..Self::default() };
        known.baselines = queries::baseline_names().unwrap_or_default();
        known.runs = run_lines().unwrap_or_default().into_iter().map(|run| run.name).collect();
        let summaries = state::existing().ok().flatten().and_then(|store| assay_store::Store::list(&store, "all").ok());
        for summary in summaries.unwrap_or_default().into_iter().rev() {
            known.models.insert(summary.model().to_owned());
            known.terms.insert(format!("model={}", summary.model()));
            known.terms.insert(format!("suite={}", summary.suite));
            known.terms.extend(summary.unit.iter().map(|unit| format!("unit={unit}")));
            known.terms.extend(summary.labels.iter().map(|(key, value)| format!("{key}={value}")));
            if known.ids.len() < MOST_IDS {
                known.ids.push(summary.id);
            }
        }
        known
    }

    fn queries(&self, published: bool) -> Vec<String> {
        let mut all = vec!["last".to_owned(), "last~1".to_owned(), "all".to_owned()];
        all.extend(self.ids.iter().cloned());
        all.extend(self.terms.iter().cloned());
        all.extend(self.baselines.iter().map(|name| format!("{}{name}", queries::BASELINE_PREFIX)));
        if published {
            all.extend(self.published.iter().map(|name| format!("{}{name}", assay_analysis::PREFIX)));
        }
        all
    }
}

/// What stands behind `published:`: nothing for all, and each medium.
fn published() -> Vec<String> {
    let all = assay_analysis::published("").unwrap_or_default();
    let name = |id: &str| id.trim_start_matches(assay_analysis::PREFIX).split('/').next().map(str::to_owned);
    let names: BTreeSet<String> = all.iter().filter_map(|record| name(&record.id)).collect();
    std::iter::once(String::new()).chain(names).collect()
}

/// Prints the words that the last argument may become, a line each.
pub(crate) fn complete() {
    let line: Vec<String> = std::env::args_os().skip(2).map(|word| word.to_string_lossy().into_owned()).collect();
    for word in words(&line, Known::gather) {
        // A line break would be two words.
        if !word.contains(['\n', '\r']) && output::print(&word).is_err() {
            return;
        }
    }
}

/// The words that the last of `line` may become; `line` is what stands behind `assay`.
fn words(line: &[String], known: impl FnOnce() -> Known) -> Vec<String> {
    let Some((current, before)) = line.split_last() else { return Vec::new() };
    let mut root = Cli::command();
    root.build();
    let Some((path, argument)) = argument(&root, before, current) else { return Vec::new() };
    let Some(offered) = offered(&path, argument) else { return Vec::new() };
    let known = known();
    let all = match offered {
        Offered::Queries { published } => known.queries(published),
        Offered::Labels => known.terms.iter().filter(|term| !term.starts_with("suite=")).cloned().collect(),
        Offered::Baselines => known.baselines,
        Offered::Runs => known.runs,
        Offered::Prices => known.models.iter().map(|model| format!("{model}=")).collect(),
        Offered::Classes => CLASSES.iter().map(|class| class.name.to_owned()).collect(),
        Offered::Limits => LIMITS.map(str::to_owned).to_vec(),
    };
    // Of several queries with commas the last is completed.
    let several = matches!(offered, Offered::Queries { .. });
    let at = current.rfind(',').filter(|_| several).map_or(0, |comma| comma + 1);
    let (head, tail) = current.split_at(at);
    all.into_iter().filter(|word| word.starts_with(tail)).map(|word| format!("{head}{word}")).collect()
}

/// Limits as people write them, to be changed.
const LIMITS: [&str; 3] = ["slower than 5%", "p99 higher than 10%", "rate lower than 5%"];

#[derive(Clone, Copy)]
enum Offered {
    Queries { published: bool },
    Labels,
    Baselines,
    Runs,
    Prices,
    Classes,
    Limits,
}

/// What an argument of the command at `path` takes, by the name of its value.
fn offered(path: &[&str], argument: &Arg) -> Option<Offered> {
    let value = argument.get_value_names()?.first()?.as_str();
    // These change or copy records of the store.
    let stored = matches!(path.first(), Some(&("rm" | "label" | "export" | "baseline")));
    Some(match value {
        "QUERY" => Offered::Queries { published: !stored },
        "KEY=VALUE" => Offered::Labels,
        "NAME" if path.first() == Some(&"baseline") => Offered::Baselines,
        "RUN" | "RUN|none" if path.first() == Some(&"fleet") => Offered::Runs,
        "RUN" => Offered::Queries { published: false },
        "MODEL=PRICE" => Offered::Prices,
        "CLASS" => Offered::Classes,
        "LIMIT" => Offered::Limits,
        _ => return None,
    })
}

/// The argument that `current` is a value of, and the names of its command.
fn argument<'c>(root: &'c Command, before: &[String], current: &str) -> Option<(Vec<&'c str>, &'c Arg)> {
    let (mut command, mut path) = (root, Vec::new());
    let (mut positionals, mut awaited) = (0, None);
    for word in before {
        if awaited.take().is_some() {
            continue;
        }
        let option = option(command, word);
        match option {
            // `--label=unit=3` has its value already.
            Some(option) => awaited = Some(option).filter(|o| takes_value(o) && !word.contains('=')),
            None if word.starts_with('-') => {}
            None => match command.find_subcommand(word).filter(|_| positionals == 0) {
                Some(below) => {
                    command = below;
                    path.push(below.get_name());
                }
                None => positionals += 1,
            },
        }
    }
    if let Some(option) = awaited {
        return Some((path, option));
    }
    if current.starts_with('-') || command.has_subcommands() {
        return None;
    }
    let all: Vec<&Arg> = command.get_positionals().collect();
    // The last may take several values.
    let argument = *all.get(positionals).or(all.last())?;
    Some((path, argument))
}

/// The option that a word names, long or short.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let long = word.strip_prefix("--").map(|long| long.split('=').next().unwrap_or(long));
    command.get_arguments().find(|argument| match long {
        Some(long) => argument.get_long() == Some(long),
        None => argument.get_short().is_some_and(|short| word == format!("-{short}")),
    })
}

/// Whether a value stands behind it as a word of its own.
fn takes_value(option: &Arg) -> bool {
    option.get_num_args().is_some_and(|number| number.min_values() > 0)
        && option.get_action().takes_values()
        && !option.is_require_equals_set()
}

// What the scripts that clap makes of the declarations lack.

const BASH: &str = r#"
_assay_words() {
    _assay "$@"
    local line="${COMP_LINE:0:COMP_POINT}" current head word
    local -a all found=()
    read -ra all <<< "$line"
    [[ $line == *[[:space:]] ]] && all+=("")
    current="${all[${#all[@]}-1]}"
    # A word of readline begins behind a colon or an equals sign.
    head="${current%"${current##*[:=]}"}"
    while IFS= read -r word; do
        word="${word#"$head"}"
        [[ $word == *[!a-zA-Z0-9_.:=,~/%+@-]* ]] && printf -v word %q "$word"
        found+=("$word")
    done < <("${all[0]}" __complete "${all[@]:1}" 2>/dev/null)
    [[ ${#found[@]} -gt 0 ]] && COMPREPLY=("${found[@]}")
    return 0
}
complete -F _assay_words -o bashdefault -o default assay
"#;

const ZSH: &str = r#"
_assay_words() {
    local -a found
    found=("${(@f)$(${words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "$found[1]" ]]; then
        compadd -- "${found[@]}"
    else
        _assay "$@"
    fi
}
"#;

const FISH: &str = r#"
function __assay_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    $before[1] __complete $before[2..-1] "$current" 2>/dev/null
end
complete -c assay -a '(__assay_words)'
"#;

/// The script of a shell, with the words of the store where the shell is one of those that are known here.
pub(super) fn with_words(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => match script.rsplit_once("\nif [ \"$funcstack[1]\"") {
            Some((functions, end)) => {
                let end = end
                    .replace("_assay \"$@\"", "_assay_words \"$@\"")
                    .replace("compdef _assay ", "compdef _assay_words ");
                format!("{functions}\n{ZSH}\nif [ \"$funcstack[1]\"{end}")
            }
            None => script.to_owned(),
        },
        _ => script.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Known {
            ids: words(&["5f3k2abcde", "9ka"]),
            terms: ["model=EVO Plus", "suite=quick", "unit=7"].map(str::to_owned).into(),
            models: ["EVO Plus".to_owned()].into(),
            baselines: words(&["main"]),
            published: words(&["", "samsung-evo-plus-64gb"]),
            runs: words(&["7k2m9"]),
        }
    }

    fn offered_for(line: &str) -> Vec<String> {
        words(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), known)
    }

    #[test]
    fn an_argument_is_completed_by_what_it_takes() {
        for (line, expected) in [
            ("show 5f", &["5f3k2abcde"][..]),
            ("compare last published:sam", &["published:samsung-evo-plus-64gb"]),
            ("compare 9ka,mod", &["9ka,model=EVO Plus"]),
            ("rank base", &["baseline:main"]),
            ("report -o x.md unit", &["unit=7"]),
            ("run --label mo", &["model=EVO Plus"]),
            ("baseline rm m", &["main"]),
            ("baseline set m", &["main"]),
            ("baseline set main 9", &["9ka"]),
            ("fleet report 7", &["7k2m9"]),
            ("advise class last --class A", &["A1", "A2"]),
            ("advise buy all --price E", &["EVO Plus="]),
            ("compare a b --fail-if slo", &["slower than 5%"]),
            // Changed are records of the store alone.
            ("rm published:sam", &[]),
            // Options, commands and files are the shell's or clap's.
            ("compare --", &[]),
            ("plan ", &[]),
            ("import mod", &[]),
            ("run --suite qu", &[]),
            ("", &[]),
        ] {
            assert_eq!(offered_for(line), expected, "{line}");
        }
    }

    #[test]
    fn scripts_ask_for_words_in_the_name_of_the_command() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "assay", &mut script);
            let script = with_words(shell, &String::from_utf8_lossy(&script));
            assert!(script.contains(&format!(" {COMPLETE} ")), "{shell}");
            if shell == Shell::Zsh {
                assert!(script.contains("compdef _assay_words assay") && script.starts_with("#compdef assay"));
            }
        }
    }
}
