//! What the program says of itself: `assay man`, `assay completions` and `assay licences`.

use std::path::Path;

use assay_core::exit::Exit;
use assay_packed::{Packed, packed};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::{Cli, CompletionsArgs, EXIT_CODES, LicencesArgs, ManArgs};
use crate::documents::LicenceDocument;
use crate::ending::Failure;
use crate::files;
use crate::output::{self, shown};

/// What the program reads beside its arguments.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("ASSAY_DATA", "Directory of the store; takes precedence over the next two."),
    ("XDG_DATA_HOME", "The store is in its directory assay."),
    ("HOME", "Without the two above, the store is in .local/share/assay below it."),
    ("NO_COLOR", "Where it is set and not empty, nothing is coloured."),
    ("TERM", "Where it is dumb, nothing is coloured, and there is no live progress."),
    (
        "LC_ALL, LC_CTYPE, LANG",
        "Where they name a character set other than UTF-8, or the locale C or POSIX, text is in ASCII.",
    ),
];

pub(super) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    let Some(directory) = &args.dir else {
        output::print(&page(built())?.1)?;
        return Ok(Exit::Good);
    };
    if !directory.exists() {
        return Err(Failure::usage(format!(
            "{} is not there; make it first, as with mkdir -p, or name another directory",
            shown(directory)
        )));
    }
    let written = pages(&built(), directory)?;
    output::tell(&format!("wrote {written} pages to {}", shown(directory)));
    Ok(Exit::Good)
}

/// The command line with all names that the pages have.
fn built() -> Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// Writes the page of a command and of all its subcommands; how many.
fn pages(command: &Command, directory: &Path) -> Result<usize, Failure> {
    let (name, text) = page(command.clone())?;
    let path = directory.join(name);
    files::write_whole(&path, text)?;
    let visible = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    visible.map(|subcommand| pages(subcommand, directory)).try_fold(1, |sum, written| Ok(sum + written?))
}

/// Pages that belong together, though neither is below the other.
const RELATED: [(&str, &[&str]); 11] = [
    ("assay", &["fio(1)", "smartctl(8)"]),
    ("assay-run", &["assay-verify", "assay-show", "assay-suite", "assay-report"]),
    ("assay-verify", &["assay-info", "assay-run"]),
    ("assay-info", &["assay-run", "assay-verify"]),
    ("assay-list", &["assay-show", "assay-label", "assay-rm"]),
    ("assay-show", &["assay-list", "assay-report"]),
    ("assay-report", &["assay-show", "assay-compare"]),
    ("assay-compare", &["assay-rank", "assay-report"]),
    ("assay-rank", &["assay-compare", "assay-plan", "assay-advise"]),
    ("assay-plan", &["assay-rank", "assay-fleet"]),
    ("assay-fleet", &["assay-run", "assay-plan"]),
];

/// The pages that a page names at its end: those above it, the nearest first, and those that it belongs together with.
fn see_also(page: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut above = page;
    while let Some((upper, _)) = above.rsplit_once('-') {
        names.push(format!("{upper}(1)"));
        above = upper;
    }
    let related = RELATED.iter().filter(|(name, _)| *name == page).flat_map(|(_, others)| *others);
    names.extend(related.map(|name| if name.ends_with(')') { (*name).to_owned() } else { format!("{name}(1)") }));
    names
}

/// The file name and the text of a page.
fn page(mut command: Command) -> Result<(String, String), Failure> {
    let usage = command.render_usage().to_string();
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_subcommands = command.has_subcommands();
    let version = command.get_long_version().or_else(|| command.get_version()).map(str::to_owned);
    let man = Man::new(command);
    let name = man.get_filename();
    let name = name.trim_end_matches(".1");
    let mut page = Vec::new();
    // Without a date, which would be that of the build; the page says the version.
    let title =
        format!(".TH {} 1 \"\" \"assay {}\" \"User Commands\"\n", name.to_uppercase(), env!("CARGO_PKG_VERSION"));
    man.render_name_section(&mut page)?;
    let mut synopsis = Roff::new();
    synopsis.control("SH", ["SYNOPSIS"]);
    as_it_stands(
        &mut synopsis,
        &usage.lines().map(|line| line.trim_start_matches("Usage:").trim()).collect::<Vec<_>>(),
    );
    synopsis.to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    sections(&after).to_writer(&mut page)?;
    if let Some(version) = version {
        let mut roff = Roff::new();
        roff.control("SH", ["VERSION"]);
        as_it_stands(&mut roff, &version.lines().collect::<Vec<_>>());
        roff.to_writer(&mut page)?;
    }
    let mut end = Roff::new();
    end.control("SH", ["SEE ALSO"]).text([roman(see_also(name).join(", "))]);
    end.text([roman(env!("CARGO_PKG_REPOSITORY"))]);
    end.to_writer(&mut page)?;
    // Each part begins with the same definitions.
    let text = String::from_utf8_lossy(&page).into_owned();
    let definitions = Roff::new().render();
    Ok((man.get_filename(), definitions.clone() + &title + &text.replace(&definitions, "")))
}

/// What follows the options: examples and other lists line by line as they stand, exit codes, the environment.
fn sections(after: &str) -> Roff {
    let mut roff = Roff::new();
    let mut notes: Vec<Vec<&str>> = Vec::new();
    let mut exits: Vec<&str> = EXIT_CODES.lines().collect();
    for block in blocks(after) {
        match block.split_first() {
            Some((&"Exit codes:", codes)) => exits = codes.to_vec(),
            Some((head, list)) if head.ends_with(':') && !list.is_empty() => {
                roff.control("SH", [head.trim_end_matches(':').to_uppercase().as_str()]);
                as_it_stands(&mut roff, list);
            }
            Some(_) => notes.push(block),
            None => {}
        }
    }
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
    }
    for note in notes {
        roff.control("PP", []).text([roman(note.join(" "))]);
    }
    roff.control("SH", ["EXIT STATUS"]);
    for code in exits {
        if let Some((code, words)) = code.trim().split_once(' ') {
            roff.control("TP", []).text([bold(code)]).text([roman(words.trim())]);
        }
    }
    roff.control("SH", ["ENVIRONMENT"]);
    for (name, words) in ENVIRONMENT {
        roff.control("TP", []).text([bold(name)]).text([roman(words)]);
    }
    roff
}

/// Lines that belong together: a heading with the indented lines below it, or a paragraph.
fn blocks(text: &str) -> Vec<Vec<&str>> {
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        let indented = line.starts_with(' ');
        let ends_list = |block: &Vec<&str>| block.last().is_some_and(|last| last.starts_with(' ')) && !indented;
        if line.trim().is_empty() || blocks.last().is_some_and(ends_list) {
            blocks.push(Vec::new());
        }
        if let (Some(block), false) = (blocks.last_mut(), line.trim().is_empty()) {
            block.push(line);
        }
    }
    blocks
}

/// Lines without filling, so that a command stays one line.
fn as_it_stands(roff: &mut Roff, lines: &[&str]) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

// `assay completions`

pub(super) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "assay", &mut script);
    output::print(&super::completion::with_words(args.shell, &String::from_utf8_lossy(&script)))?;
    Ok(Exit::Good)
}

// `assay licences`

const MIT: &str = include_str!("../../../../LICENSE-MIT");
const APACHE: &str = include_str!("../../../../LICENSE-APACHE");
/// A list with a line for each work, and the texts.
static THIRD_PARTY: Packed = packed!("third-party.txt");

pub(super) fn licences(args: &LicencesArgs) -> Result<Exit, Failure> {
    if args.json {
        output::print_json(&works().collect::<Vec<_>>())?;
    } else {
        let rule = "-".repeat(80);
        output::print(&format!(
            "assay is licensed under MIT or Apache-2.0, at your option.\n\n{MIT}\n{rule}\n\n{APACHE}\n{rule}\n\n{}",
            THIRD_PARTY.text()
        ))?;
    }
    Ok(Exit::Good)
}

/// Name, version and licence of each work, from the lines of the list: columns with two blanks or more between.
fn works() -> impl Iterator<Item = LicenceDocument> {
    let list = THIRD_PARTY.text().lines().take_while(|line| !line.starts_with("---"));
    list.filter_map(|line| {
        let (work, rest) = line.split_once("  ")?;
        let licence = rest.trim_start().split("  ").next()?;
        let versioned = |(_, version): &(&str, &str)| version.starts_with(|c: char| c.is_ascii_digit());
        let (name, version) = match work.rsplit_once(' ').filter(versioned) {
            Some((name, version)) => (name, Some(version)),
            None => (work, None),
        };
        Some(LicenceDocument {
            name: name.to_owned(),
            version: version.map(str::to_owned),
            licence: licence.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every page but the first leads to others, and to no page that is not there.
    #[test]
    fn a_page_says_how_the_command_is_called_and_names_pages_that_are_there() {
        fn all(command: &Command, found: &mut Vec<(String, String)>) {
            found.push(page(command.clone()).unwrap_or_else(|error| panic!("{}", error.message())));
            command.get_subcommands().filter(|sub| !sub.is_hide_set()).for_each(|sub| all(sub, found));
        }
        let mut pages = Vec::new();
        all(&built(), &mut pages);
        let names: Vec<&str> = pages.iter().map(|(name, _)| name.trim_end_matches(".1")).collect();
        for (name, text) in &pages {
            let name = name.trim_end_matches(".1");
            let title = format!(
                ".TH {} 1 \"\" \"assay {}\" \"User Commands\"\n",
                name.to_uppercase(),
                env!("CARGO_PKG_VERSION")
            );
            assert!(text.contains(&title), "{name}: {text}");
            let synopsis = text.split(".SH SYNOPSIS\n.nf\n").nth(1).unwrap_or_else(|| panic!("{name}: {text}"));
            assert!(synopsis.starts_with(&name.replace('-', " ")), "{name}: {synopsis}");
            for other in see_also(name).iter().filter_map(|other| other.strip_suffix("(1)")) {
                assert!(names.contains(&other) || other == "fio", "{name}: no page {other}");
            }
        }
        let (_, run) = pages.iter().find(|(name, _)| name == "assay-run.1").unwrap();
        assert!(run.contains(".nf\nassay run [OPTIONS] [TARGET]\n.fi"), "{run}");
        assert!(run.contains(".SH \"SEE ALSO\"\nassay(1), assay\\-verify(1)"), "{run}");
    }

    #[test]
    fn examples_stay_lines_and_paragraphs_become_notes() {
        let after = "Examples:\n  assay a    x\n  assay b\n\nWords that\ngo on.\n\nExit codes:\n  0  good\n  1  no";
        let text = sections(after).render();
        assert!(text.contains(".SH EXAMPLES\n.nf\nassay a    x\nassay b\n.fi\n"), "{text}");
        assert!(text.contains(".SH NOTES\n.PP\nWords that go on.\n"), "{text}");
        assert!(text.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ngood\n.TP\n\\fB1\\fR\nno\n"), "{text}");
        assert!(sections("").render().contains("interrupted"), "the general codes where a command has none of its own");
    }
}
