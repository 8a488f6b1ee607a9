//! `assay licences`

use assay_core::exit::Exit;
use assay_packed::{Packed, packed};

use crate::cli::LicencesArgs;
use crate::documents::LicenceDocument;
use crate::failure::Failure;
use crate::output;

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
