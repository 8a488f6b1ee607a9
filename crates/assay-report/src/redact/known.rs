//! Identities that fields of a record hold, to be replaced wherever else in it they stand.

use serde_json::Value;

use super::name::{Key, Kind};
use super::path;
use super::plain::is_plain;
use super::rule::Rule;

/// Shorter ones are not searched for within other text, where they would match by chance; and of this length
/// only those with a digit.
const SHORTEST: usize = 3;
/// From this length on an identity is replaced within longer words too: `SN035344…`.
const LONG: usize = 8;

/// Identities with the short names that replace them.
pub(super) struct Known {
    /// The longest first, so that a serial number that contains another one is replaced as a whole.
    searched: Vec<(String, String)>,
    /// Identities that are also words of sentences. They are replaced in other text only.
    plain: Vec<(String, String)>,
    /// Replaced only where they are all there is.
    short: Vec<(String, String)>,
}

impl Known {
    /// Identities in the fields that name a unit, a host or a path.
    pub(super) fn of(record: &Value, rule: &Rule, key: &Key) -> Self {
        let mut all = Vec::new();
        gather(record, rule, key, &mut all);
        all.retain(|(identity, _)| !identity.is_empty());
        all.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        let (searched, short): (Vec<_>, Vec<_>) = all.into_iter().partition(|(identity, _)| {
            let length = identity.chars().count();
            length > SHORTEST || (length == SHORTEST && identity.bytes().any(|b| b.is_ascii_digit()))
        });
        let (plain, searched) = searched.into_iter().partition(|(identity, _)| is_plain(identity));
        Self { searched, plain, short }
    }

    /// The identity at the start of the rest of a sentence: its length in bytes and its short name. `inside` says that
    /// a word continues here.
    pub(super) fn at(&self, text: &str, inside: bool) -> Option<(usize, &str)> {
        Self::begins(&self.searched, text, inside)
    }

    fn begins<'a>(all: &'a [(String, String)], text: &str, inside: bool) -> Option<(usize, &'a str)> {
        all.iter().find_map(|(identity, name)| {
            let found = text.get(..identity.len())?;
            let after = text.get(identity.len()..)?.chars().next();
            let whole = !inside && !after.is_some_and(char::is_alphanumeric);
            let matches = found.eq_ignore_ascii_case(identity) && (whole || identity.len() >= LONG);
            matches.then_some((identity.len(), name.as_str()))
        })
    }

    /// The short name for a text that is an identity and nothing else.
    pub(super) fn whole(&self, text: &str) -> Option<&str> {
        let mut known = self.searched.iter().chain(&self.plain).chain(&self.short);
        known.find(|(identity, _)| identity.eq_ignore_ascii_case(text)).map(|(_, name)| name.as_str())
    }

    /// Replaces identities in a `text` that assay did not write, such as a label. Nothing else is replaced.
    pub(super) fn replaced(&self, text: &str) -> String {
        if let Some(name) = self.whole(text) {
            return name.to_owned();
        }
        replaced(text, |rest, inside| {
            let found = self.at(rest, inside).or_else(|| Self::begins(&self.plain, rest, inside));
            found.map(|(length, name)| (length, name.to_owned()))
        })
    }
}

/// Replaces each part of `text` that `find` recognises at the start of the remaining text. The second argument of
/// `find` says whether a word continues there. `find` returns the length in bytes and the replacement.
pub(super) fn replaced(text: &str, mut find: impl FnMut(&str, bool) -> Option<(usize, String)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut inside = false;
    while let Some(c) = rest.chars().next() {
        let found = find(rest, inside).filter(|(length, _)| *length > 0 && rest.is_char_boundary(*length));
        let length = match found {
            Some((length, name)) => {
                out.push_str(&name);
                length
            }
            None => {
                out.push(c);
                c.len_utf8()
            }
        };
        let (taken, after) = rest.split_at(length);
        inside = taken.chars().next_back().is_some_and(char::is_alphanumeric);
        rest = after;
    }
    out
}

fn gather(value: &Value, rule: &Rule, key: &Key, all: &mut Vec<(String, String)>) {
    match (rule, value) {
        (Rule::Fields(rules), Value::Object(fields)) => {
            for (name, rule) in *rules {
                if let Some(value) = fields.get(*name) {
                    gather(value, rule, key, all);
                }
            }
        }
        (Rule::Each(rule), Value::Array(items)) => items.iter().for_each(|item| gather(item, rule, key, all)),
        (Rule::Each(rule), Value::Object(fields)) => fields.values().for_each(|item| gather(item, rule, key, all)),
        (Rule::Name(kind), Value::String(text)) => {
            all.extend(forms(*kind, text).map(|form| (form.to_owned(), key.name(*kind, text))));
            if *kind == Kind::Unit {
                // The disks of an array.
                all.extend(text.split(" + ").map(|one| (one.to_owned(), key.name(*kind, one))));
            }
        }
        (Rule::Path, Value::String(text)) => gather_path(text, key, all),
        (Rule::Source, Value::String(text)) if path::is_path(text) => gather_path(text, key, all),
        (Rule::MountOption, Value::String(text)) => {
            let user = text.split_once('=').filter(|(name, _)| ["username", "user", "domain"].contains(name));
            all.extend(user.map(|(_, user)| (user.to_owned(), key.name(Kind::Path, user))));
        }
        _ => {}
    }
}

/// The path as a whole, since in other text one with blanks is not told from what follows it; its host and
/// user; and the components that name a user or a volume.
fn gather_path(text: &str, key: &Key, all: &mut Vec<(String, String)>) {
    let whole = path::redacted(text, key);
    if whole != *text && text.len() >= LONG {
        all.push((text.to_owned(), whole));
    }
    if let Some((_, server, _)) = path::remote(text) {
        let (user, host) = server.rsplit_once('@').map_or((None, server), |(user, host)| (Some(user), host));
        all.extend(user.map(|user| (user.to_owned(), key.name(Kind::Path, user))));
        all.extend(forms(Kind::Host, host).map(|form| (form.to_owned(), key.name(Kind::Host, host))));
    }
    all.extend(path::names(text).into_iter().map(|name| (name.to_owned(), key.name(Kind::Path, name))));
}

/// The forms of an identity in other text: unchanged; for a host also without its domain; for an SD card or eMMC also
/// the serial number within its CID (kernel drivers/mmc/core/sd.c and mmc.c: bits 24 to 55, or 16 to 47).
fn forms(kind: Kind, identity: &str) -> impl Iterator<Item = &str> {
    let is_cid = kind == Kind::Unit && identity.len() == 32 && identity.bytes().all(|b| b.is_ascii_hexdigit());
    let serials = [18..26, 20..28].map(|range| identity.get(range).filter(|_| is_cid));
    let host = identity.split_once('.').filter(|_| kind == Kind::Host && identity.parse::<std::net::IpAddr>().is_err());
    std::iter::once(identity).chain(serials.into_iter().flatten()).chain(host.map(|(first, _)| first))
}
