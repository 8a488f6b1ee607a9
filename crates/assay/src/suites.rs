//! Suites: the built-in ones are files too, embedded.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use assay_core::suite::Suite;
use assay_core::text::harmless;

use crate::failure::Failure;

/// Built-in suites, name and text.
pub(crate) const BUILT_IN: [(&str, &str); 4] = [
    ("quick", include_str!("../../../suites/quick.toml")),
    ("smoke", include_str!("../../../suites/smoke.toml")),
    ("read-only", include_str!("../../../suites/read-only.toml")),
    ("blocks", include_str!("../../../suites/blocks.toml")),
];

/// A longer file is no suite; without a limit, `/dev/zero` would fill the memory.
const LONGEST: u64 = 1 << 20;

/// Text of a suite and its name in messages: a built-in one by name, else a file.
fn text(name: &str) -> Result<(String, String), Failure> {
    if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
        return Ok(((*text).to_owned(), format!("{name}.toml")));
    }
    let shown = harmless(name);
    let path = Path::new(name);
    let looks_like_a_file = name.contains('/') || path.extension().is_some() || path.exists();
    if !looks_like_a_file {
        let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
        return Err(Failure::usage(format!("no suite `{shown}`; there are {}, or name a file", names.join(", "))));
    }
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text)) {
        Ok(length) if length as u64 > LONGEST => {
            Err(Failure::usage(format!("{shown}: is larger than 1 MiB; a suite is a small TOML file")))
        }
        Ok(_) => Ok((text, shown)),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(Failure::usage(format!("{shown}: is not a text file; a suite is a TOML file")))
        }
        Err(error) => Err(Failure::usage(format!("{shown}: {error}"))),
    }
}

/// A suite by name or file, and its text.
pub(crate) fn checked(name: &str) -> Result<(String, Suite), Failure> {
    let (text, file) = text(name)?;
    let suite = Suite::parse(&text, &file)?;
    Ok((text, suite))
}

/// A suite by name or file.
pub(crate) fn load(name: &str) -> Result<Suite, Failure> {
    checked(name).map(|(_, suite)| suite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::units::Bytes;
    use std::time::Duration;

    #[test]
    fn every_built_in_suite_is_sound_and_named_like_its_file() {
        for (name, text) in BUILT_IN {
            let suite = Suite::parse(text, name).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(suite.name, name);
        }
    }

    #[test]
    fn quick_is_what_the_documentation_promises() {
        let suite = load("quick").unwrap();
        assert_eq!((suite.budget, suite.max_write), (Duration::from_secs(90), Bytes(1 << 30)));
        assert!(suite.repeats >= 3);
        assert_eq!(suite.workloads.len(), 7);
    }
}
