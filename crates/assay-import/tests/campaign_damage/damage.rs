//! What happens to texts on their way: the kinds of damage.

/// A small generator, the same everywhere (splitmix64).
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `most`, which is above zero.
    pub fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

/// A kind of damage.
pub struct Damage {
    pub name: &'static str,
    /// Whether it only wraps: all figures stay.
    pub wraps: bool,
    pub of: fn(&str, &mut Draws) -> Vec<u8>,
}

fn each(text: &str, line: impl FnMut((usize, &str)) -> String) -> Vec<u8> {
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

pub fn ended(text: &str, line: impl FnMut((usize, &str)) -> String) -> Vec<u8> {
    let mut bytes = each(text, line);
    bytes.push(b'\n');
    bytes
}

fn wrapped(text: &str, at: usize, front: &str) -> Vec<u8> {
    let mut out = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.chars().count() > at {
            let end = rest.char_indices().nth(at).map_or(rest.len(), |(end, _)| end);
            let end = rest[..end].rfind(' ').filter(|blank| *blank > 0).unwrap_or(end);
            out += &format!("{front}{}\n", &rest[..end]);
            rest = rest[end..].trim_start_matches(' ');
        }
        out += &format!("{front}{rest}\n");
    }
    out.into_bytes()
}

/// The places of digits in a text.
fn digits(text: &str) -> Vec<usize> {
    text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(at, _)| at).collect()
}

/// Puts something in the place of a digit.
fn in_place(text: &str, draws: &mut Draws, by: &[u8]) -> Vec<u8> {
    let places = digits(text);
    let Some(at) = places.get(draws.below(places.len())).copied() else { return text.as_bytes().to_vec() };
    [&text.as_bytes()[..at], by, &text.as_bytes()[at + 1..]].concat()
}

/// A text without some lines from a line on, of which the first stays where `from` says so.
fn without(text: &str, draws: &mut Draws, most: usize) -> Vec<u8> {
    let lines = text.lines().count();
    let (from, count) = (draws.below(lines), 1 + draws.below(most));
    let kept = text.lines().enumerate().filter(|(at, _)| !(from..from + count).contains(at)).map(|(_, line)| line);
    kept.flat_map(|line| [line.as_bytes(), b"\n"]).flatten().copied().collect()
}

#[rustfmt::skip]
pub const ALL: &[Damage] = &[
    Damage { name: "CR LF", wraps: true, of: |text, _| text.replace('\n', "\r\n").into_bytes() },
    Damage { name: "CR alone", wraps: true, of: |text, _| text.replace('\n', "\r").into_bytes() },
    Damage { name: "UTF-16 without a mark", wraps: true, of: |text, _| text.encode_utf16().flat_map(u16::to_le_bytes).collect() },
    Damage { name: "preformatted in HTML", wraps: true, of: |text, _| {
        format!("<html><body><pre>\n{}\n</pre></body></html>\n", text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")).into_bytes()
    } },
    Damage { name: "blanks at line ends", wraps: true, of: |text, _| ended(text, |(_, line)| format!("{line}   ")) },
    Damage { name: "no-break blanks", wraps: true, of: |text, _| text.replace("  ", " \u{a0}").into_bytes() },
    Damage { name: "quoted", wraps: true, of: |text, _| ended(text, |(_, line)| format!("> {line}")) },
    Damage { name: "quoted twice", wraps: true, of: |text, _| ended(text, |(_, line)| format!("> > {line}")) },
    Damage { name: "set in", wraps: true, of: |text, _| ended(text, |(_, line)| format!("    {line}")) },
    Damage { name: "a blank line behind each", wraps: true, of: |text, _| ended(text, |(_, line)| format!("{line}\n")) },
    Damage { name: "numbers of cat -n", wraps: true, of: |text, _| ended(text, |(at, line)| format!("{:6}\t{line}", at + 1)) },
    Damage { name: "numbers with a colon", wraps: true, of: |text, _| ended(text, |(at, line)| format!("{}: {line}", at + 1)) },
    Damage { name: "numbers with a bar", wraps: true, of: |text, _| ended(text, |(at, line)| format!("{:4} | {line}", at + 1)) },
    Damage { name: "times of a CI log", wraps: true, of: |text, _| ended(text, |(at, line)| format!("2024-05-01T10:{:02}:{:02}.1234567Z {line}", at / 60 % 60, at % 60)) },
    Damage { name: "names of containers", wraps: true, of: |text, _| ended(text, |(_, line)| format!("bench-1  | {line}")) },
    Damage { name: "a journal", wraps: true, of: |text, _| ended(text, |(at, line)| format!("May  1 10:{:02}:{:02} node1 bench[4711]: {line}", at / 60 % 60, at % 60)) },
    Damage { name: "a comment", wraps: true, of: |text, _| ended(text, |(_, line)| format!("# {line}")) },
    Damage { name: "no blanks in front", wraps: false, of: |text, _| ended(text, |(_, line)| line.trim_start().to_owned()) },
    Damage { name: "no blank lines", wraps: false, of: |text, _| text.lines().filter(|line| !line.trim().is_empty()).flat_map(|line| [line, "\n"]).collect::<String>().into_bytes() },
    Damage { name: "blanks squeezed", wraps: false, of: |text, _| ended(text, |(_, line)| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")) },
    Damage { name: "wrapped at 60", wraps: false, of: |text, _| wrapped(text, 60, "") },
    Damage { name: "quoted and wrapped at 72", wraps: false, of: |text, _| wrapped(text, 72, "> ") },
    Damage { name: "the end cut off", wraps: false, of: |text, draws| text.as_bytes()[..draws.below(text.len())].to_vec() },
    Damage { name: "the beginning cut off", wraps: false, of: |text, draws| text.as_bytes()[draws.below(text.len())..].to_vec() },
    Damage { name: "a line lost", wraps: false, of: |text, draws| without(text, draws, 1) },
    Damage { name: "lines lost", wraps: false, of: |text, draws| without(text, draws, 12) },
    Damage { name: "a digit lost", wraps: false, of: |text, draws| in_place(text, draws, "\u{fffd}".as_bytes()) },
    Damage { name: "a comma for a digit", wraps: false, of: |text, draws| in_place(text, draws, b"O") },
];
