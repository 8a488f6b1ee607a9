//! Command lines that stand in a log above what they printed.

use std::sync::LazyLock;

use crate::pattern::Regex;
use crate::text::Text;

/// The commands of a tool in a line, each as its arguments: `sudo dd if=a of=b && dd if=b of=c` has two of `dd`.
pub(crate) fn commands<'a>(line: &'a str, tool: &str) -> Vec<Vec<&'a str>> {
    if !line.contains(tool) {
        return Vec::new();
    }
    let parts = line.split([';', '|', '&', '`', '<', '>', '{', '}']);
    parts.filter_map(|part| arguments(part, tool)).collect()
}

fn arguments<'a>(part: &'a str, tool: &str) -> Option<Vec<&'a str>> {
    let mut words = part.split_whitespace().map(|word| {
        let word = word.trim_start_matches(['"', '\'', '(', '$', '“']);
        word.trim_end_matches(['"', '\'', ')', '”'])
    });
    // A prompt may stand before it without a blank: `[root@host dir]#dd if=a`.
    words.find(|word| word.rsplit(['/', '#', '$', '%', '❯']).next() == Some(tool))?;
    Some(words.filter(|word| !word.is_empty()).collect())
}

/// The value of an argument `key=value`; of several the last, as tools take it.
pub(crate) fn option_value<'a>(arguments: &[&'a str], key: &str) -> Option<&'a str> {
    arguments.iter().rev().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// A size as `dd` and `iozone` take it: a number with a letter of a power of 1024, or with `kB`, `MB` of 1000; `4x512`
/// is a product. What a tool means by a number without a letter is `bare` bytes.
pub(crate) fn option_size(text: &str, bare: u64) -> Option<u64> {
    text.split('x')
        .map(|factor| factor_of(factor, bare))
        .try_fold(1_u64, |product, factor| product.checked_mul(factor?))
}

fn factor_of(text: &str, bare: u64) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text.get(..digits)?.parse().ok()?;
    let unit = match text.get(digits..)? {
        "" => bare,
        "c" | "B" => 1,
        "w" => 2,
        "b" => 512,
        "k" | "K" | "KiB" | "Ki" => 1 << 10,
        "m" | "M" | "MiB" | "Mi" => 1 << 20,
        "g" | "G" | "GiB" | "Gi" => 1 << 30,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// Whether a path is a device that holds data: `/dev/sda`, and not `/dev/zero`.
pub(crate) fn is_device(path: &str) -> bool {
    let none = ["zero", "null", "full", "random", "urandom", "stdin", "stdout", "shm", "tty", "fd"];
    path.strip_prefix("/dev/").is_some_and(|name| {
        let first = name.split('/').next().unwrap_or_default();
        !first.is_empty() && !none.contains(&first)
    })
}

// The line that begins a tool's output and names its version.

/// A line that begins an output.
pub(crate) struct Title {
    /// Stands in each such line, as it is looked for sooner than a shape.
    words: &'static str,
    /// Its first group is the version.
    shape: LazyLock<Regex>,
}

impl Title {
    /// One that holds `words`; `shape` makes its pattern.
    pub(crate) const fn new(words: &'static str, shape: fn() -> Regex) -> Self {
        Self { words, shape: LazyLock::new(shape) }
    }

    /// Whether line `at` is one.
    pub(crate) fn stands(&self, text: &Text, at: usize) -> bool {
        let line = text.line(at);
        line.contains(self.words) && self.shape.is_match(line)
    }

    /// The version that line `at` names, if it names one.
    pub(crate) fn version(&self, text: &Text, at: usize) -> Option<String> {
        self.shape.captures(text.line(at))?.get(1).map(|version| version.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_behind_prompts_and_beside_others() {
        let line =
            "root@pi:~# sync; time dd if=/dev/zero of=t bs=4k conv=fsync && /bin/dd if=t of=/dev/null 2>&1 | tail -1";
        let found = commands(line, "dd");
        assert_eq!(found.len(), 2);
        assert_eq!(option_value(&found[0], "conv"), Some("fsync"));
        assert_eq!(option_value(&found[1], "of"), Some("/dev/null"));
        assert_eq!(commands("bash -c \"(dd if=/dev/zero of=bf; sync)\"", "dd"), [["if=/dev/zero", "of=bf"]]);
        assert_eq!(
            commands("[root@host share]#dd if=/dev/zero of=/share/f1", "dd"),
            [["if=/dev/zero", "of=/share/f1"]]
        );
        assert_eq!(commands("pi@pi:~$/bin/dd if=a of=b", "dd"), [["if=a", "of=b"]]);
        assert!(commands("add it up", "dd").is_empty());
    }

    #[test]
    fn sizes_of_options() {
        for (text, bytes) in
            [("4k", 4096), ("512", 512), ("1M", 1 << 20), ("1MB", 1_000_000), ("4x512", 2048), ("2b", 1024)]
        {
            assert_eq!(option_size(text, 1), Some(bytes), "{text}");
        }
        assert_eq!(option_size("64", 1024), Some(65_536), "iozone takes a bare number for KiB");
        for bad in ["", "k", "x", "-1", "4q", "99999999999999999999", "99999999999g"] {
            assert_eq!(option_size(bad, 1), None, "{bad}");
        }
    }

    #[test]
    fn devices_hold_data() {
        assert!(is_device("/dev/sda") && is_device("/dev/mapper/x"));
        assert!(!is_device("/dev/zero") && !is_device("/dev/shm/x") && !is_device("file") && !is_device("/dev/"));
    }
}
