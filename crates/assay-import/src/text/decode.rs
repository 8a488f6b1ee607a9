//! Bytes as text, and quoted-printable as what it stands for.

use super::lines::Line;

/// Bytes as text: by their byte order mark, as UTF-16 where every second byte of the beginning is zero, as UTF-8, else
/// as Latin-1.
pub(crate) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => narrow(rest),
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => match zeros(bytes) {
            (even, odd, pairs) if odd * 10 >= pairs * 6 && even * 10 < pairs && pairs > 0 => {
                wide(bytes, u16::from_le_bytes)
            }
            (even, odd, pairs) if even * 10 >= pairs * 6 && odd * 10 < pairs && pairs > 0 => {
                wide(bytes, u16::from_be_bytes)
            }
            _ => narrow(bytes),
        },
    }
}

/// Zeros at even and odd places of the first pairs of bytes, and how many pairs were looked at.
fn zeros(bytes: &[u8]) -> (usize, usize, usize) {
    let pairs = bytes.chunks_exact(2).take(512);
    pairs.fold((0, 0, 0), |(even, odd, n), pair| {
        (even + usize::from(pair[0] == 0), odd + usize::from(pair[1] == 0), n + 1)
    })
}

fn wide(bytes: &[u8], order: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| order([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn narrow(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // Cut in the middle of a character, or a few bytes of something else in a log: still UTF-8.
        Err(_) => {
            let lossy = String::from_utf8_lossy(bytes);
            let bad = lossy.matches(char::REPLACEMENT_CHARACTER).count();
            let other = lossy.chars().filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER).count();
            if bad <= 1 && other > 0 || bad < other {
                lossy.into_owned()
            } else {
                bytes.iter().map(|b| char::from(*b)).collect()
            }
        }
    }
}

/// Lengths of lines that go on in the next: a mail breaks them before 76 bytes, with marks of a quotation taken off.
const SOFT: std::ops::RangeInclusive<usize> = 60..=76;
/// Fewest ends of lines that tell of it where no equals sign does.
const LEAST_ENDS: usize = 2;

/// Most lines of the head of a mail or of one of its parts.
const MOST_OF_HEAD: usize = 200;

/// Takes quoted-printable off, where it is. The head of a mail says that its body is so coded; heads are never, and are full
/// of equals signs. Without such a head the text is looked at as a whole.
pub(super) fn quoted_printable(lines: &mut Vec<Line>) {
    let bodies = bodies(lines);
    if bodies.is_empty() {
        if is_quoted(lines) {
            *lines = unquoted_lines(std::mem::take(lines));
        }
        return;
    }
    let (mut rest, mut at) = (std::mem::take(lines).into_iter(), 0);
    for body in bodies {
        lines.extend(rest.by_ref().take(body.start - at));
        let part: Vec<Line> = rest.by_ref().take(body.len()).collect();
        lines.extend(if is_quoted(&part) { unquoted_lines(part) } else { part });
        at = body.end;
    }
    lines.extend(rest);
}

/// The bodies whose heads say that they are quoted-printable: each ends where another mail or part begins.
fn bodies(lines: &[Line]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if found.last().is_some_and(|body| at < body.end) || !is_coded_head(&line.text) {
            continue;
        }
        let head = lines.iter().enumerate().skip(at).take(MOST_OF_HEAD);
        let Some(from) = head.into_iter().find_map(|(at, line)| line.text.trim().is_empty().then_some(at)) else {
            continue;
        };
        let others = lines.iter().enumerate().skip(from);
        let to = others.into_iter().find_map(|(at, line)| begins_another(&line.text).then_some(at));
        found.push(from..to.unwrap_or(lines.len()));
    }
    found
}

/// `Content-Transfer-Encoding: quoted-printable`, in any case of letters (RFC 2045).
fn is_coded_head(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    name.eq_ignore_ascii_case("Content-Transfer-Encoding") && value.trim().eq_ignore_ascii_case("quoted-printable")
}

/// Whether a line is the first of another mail or of the head of another part of one.
fn begins_another(line: &str) -> bool {
    ["Return-Path: ", "Received: from ", "Content-Type: ", "Content-Transfer-Encoding: "]
        .iter()
        .any(|name| line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

/// Whether lines are quoted-printable: an equals sign occurs as `=3D`, and hardly ever as itself. `rw=read` and `20=20.14%`
/// are no part of such a text. A text without an equals sign is known by the ends of its lines: those that go on are as long
/// as a mail allows, and a blank at an end is `=20`.
fn is_quoted(lines: &[Line]) -> bool {
    // Blanks at the end of a line are none of what was coded (RFC 2045).
    let texts = || lines.iter().map(|line| line.text.trim_end());
    let signs = texts().flat_map(|text| text.match_indices('=').map(|(at, _)| &text.as_bytes()[at + 1..]));
    let (mut coded, mut plain, mut itself) = (0usize, 0usize, false);
    for behind in signs {
        let hex = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
        match behind {
            [] => coded += 1,
            [high, low, ..] if hex(high) && hex(low) => {
                coded += 1;
                itself |= (*high, *low) == (b'3', b'D');
            }
            _ => plain += 1,
        }
    }
    let is_soft = |line: &str| line.ends_with('=') && !line.ends_with("==") && SOFT.contains(&line.len());
    let ends = texts().filter(|text| is_soft(text) || text.ends_with("=20")).count();
    (itself || ends >= LEAST_ENDS) && plain * 4 <= coded
}

/// Lines without the coding.
fn unquoted_lines(lines: Vec<Line>) -> Vec<Line> {
    let mut whole: Vec<Line> = Vec::with_capacity(lines.len());
    let mut goes_on = false;
    for line in lines {
        let text = line.text.trim_end();
        let (text, soft) = match text.strip_suffix('=') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let text = unquoted(text);
        match whole.last_mut() {
            Some(last) if goes_on => last.text.push_str(&text),
            _ => whole.push(Line { number: line.number, text }),
        }
        goes_on = soft;
    }
    whole
}

fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match (first, after) {
            (b'=', [high, low, tail @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                let value = hex(*high).unwrap_or(0) * 16 + hex(*low).unwrap_or(0);
                bytes.push(u8::try_from(value).unwrap_or(b'?'));
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
