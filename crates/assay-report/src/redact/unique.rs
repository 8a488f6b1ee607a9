//! Names, numbers and addresses that are unique, recognised by their form.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::name::Kind;

/// Whether nothing in `text` has the form of an address or a number that is unique.
pub(super) fn finds_nothing(text: &str) -> bool {
    let mut before = None;
    text.char_indices().all(|(at, c)| {
        let found = text.get(at..).and_then(|rest| unique(rest, before));
        before = Some(c);
        found.is_none()
    })
}

/// Names, numbers and addresses that are unique by how they are given out.
pub(super) fn unique(rest: &str, before: Option<char>) -> Option<(usize, Kind)> {
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let some = |kind: Kind| move |length: usize| (length, kind);
    registered(rest)
        .or_else(|| uuid(rest))
        .or_else(|| interface(rest))
        .or_else(|| pairs(rest))
        .map(some(Kind::Id))
        .or_else(|| ip(rest).map(some(Kind::Host)))
        .or_else(|| hexadecimal(rest).map(some(Kind::Id)))
}

/// Length of the run of characters at the start that satisfy `of`.
pub(super) fn run(rest: &str, of: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !of(c)).unwrap_or(rest.len())
}

/// Whether a word ends after `length` bytes.
pub(super) fn ends(rest: &str, length: usize) -> bool {
    !rest.get(length..).and_then(|after| after.chars().next()).is_some_and(|c| c.is_alphanumeric() || c == '_')
}

pub(super) fn starts_with_any<'a>(rest: &str, prefixes: &[&'a str]) -> Option<&'a str> {
    prefixes.iter().copied().find(|p| rest.get(..p.len()).is_some_and(|start| start.eq_ignore_ascii_case(p)))
}

/// Names of iSCSI, NVMe and SCSI: iqn, eui, naa (RFC 7143, 4.2.7), nqn (NVMe base specification), and the forms
/// of udev (60-persistent-storage.rules).
fn registered(rest: &str) -> Option<usize> {
    let prefix = starts_with_any(rest, &["iqn.", "nqn.", "eui.", "naa.", "t10.", "nvme.", "wwn-"])?;
    let name = rest.get(..run(rest, |c| c.is_ascii_alphanumeric() || ".:-_%".contains(c)))?;
    let name = name.trim_end_matches(['.', ':', '-']);
    (name.len() >= prefix.len() + 4).then_some(name.len())
}

/// RFC 9562, and the eight digits of a FAT volume, which have to contain a letter, so that a range of numbers does not
/// match.
fn uuid(rest: &str) -> Option<usize> {
    let fat = |text: &str| text.bytes().any(|b| b.is_ascii_uppercase()) && text == text.to_uppercase();
    digit_groups(rest, &[8, 4, 4, 4, 12])
        .or_else(|| digit_groups(rest, &[4, 4]).filter(|length| rest.get(..*length).is_some_and(fat)))
}

/// Length of groups of hexadecimal digits of these lengths with hyphens between.
fn digit_groups(rest: &str, lengths: &[usize]) -> Option<usize> {
    let mut at = 0;
    for length in lengths {
        if at > 0 {
            rest.get(at..)?.starts_with('-').then_some(())?;
            at += 1;
        }
        rest.get(at..at + length).filter(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))?;
        at += length;
    }
    ends(rest, at).then_some(at)
}

/// Network interfaces named after their address (systemd.net-naming-scheme(7)).
fn interface(rest: &str) -> Option<usize> {
    starts_with_any(rest, &["enx", "wlx", "wwx"])?;
    let length = 3 + run(rest.get(3..)?, |c| c.is_ascii_hexdigit());
    (length == 15 && ends(rest, length)).then_some(length)
}

/// Six pairs of hexadecimal digits or more: MAC, EUI-64; also in three groups of four.
fn pairs(rest: &str) -> Option<usize> {
    let group = |size: usize, separator: u8, least: usize| {
        let (mut at, mut groups) = (0, 0);
        while rest.get(at..at + size).is_some_and(|g| g.bytes().all(|b| b.is_ascii_hexdigit())) {
            at += size;
            groups += 1;
            if rest.as_bytes().get(at) != Some(&separator) {
                break;
            }
            at += 1;
        }
        (groups >= least && ends(rest, at)).then_some(at)
    };
    group(2, b':', 6).or_else(|| group(2, b'-', 6)).or_else(|| group(4, b'.', 3))
}

/// An address that is not of this machine alone.
fn ip(rest: &str) -> Option<usize> {
    let four = rest.get(..run(rest, |c| c.is_ascii_digit() || c == '.'))?.trim_end_matches('.');
    if let Ok(address) = four.parse::<Ipv4Addr>() {
        let own = address.is_loopback() || address.is_unspecified();
        return (!own && ends(rest, four.len())).then_some(four.len());
    }
    let whole = rest.get(..run(rest, |c| c.is_ascii_hexdigit() || c == ':' || c == '.'))?;
    [whole, whole.trim_end_matches(['.', ':'])].into_iter().find_map(|text| {
        let address: Ipv6Addr = text.parse().ok()?;
        (!address.is_loopback() && !address.is_unspecified() && ends(rest, text.len())).then_some(text.len())
    })
}

/// Long hexadecimal numbers: CIDs, hashes, serial numbers. Decimal numbers stay: sizes and places are that.
fn hexadecimal(rest: &str) -> Option<usize> {
    let (prefix, least) = if starts_with_any(rest, &["0x"]).is_some() { (2, 8) } else { (0, 12) };
    let digits = rest.get(prefix..)?;
    let length = run(digits, |c| c.is_ascii_hexdigit());
    let mixed = digits.get(..length)?.bytes().any(|b| b.is_ascii_digit())
        && (prefix > 0 || digits.get(..length)?.bytes().any(|b| b.is_ascii_alphabetic()));
    (length >= least && mixed && ends(digits, length)).then_some(prefix + length)
}
