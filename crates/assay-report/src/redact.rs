//! What identifies a piece or a host, replaced by a short keyed hash in anything shared.

use assay_core::record::Record;
use serde_json::Value;

/// Replaces serial numbers, CIDs and host names by keyed hashes: the same piece keeps the same
/// short name in all reports made with one key, and nobody without the key can test a guess.
pub struct Redactor {
    /// Secret key; kept with the store.
    pub key: [u8; 32],
    /// Leave everything as it is, because the user asked for that.
    pub keep_identity: bool,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("keep_identity", &self.keep_identity).finish_non_exhaustive()
    }
}

/// Identities shorter than this are not searched for in other text: they would match by chance.
const SHORTEST_SEARCHED: usize = 4;

/// Mount options of network file systems that hold addresses (nfs(5), mount.cifs(8)).
const ADDRESS_OPTIONS: [&str; 4] = ["addr", "clientaddr", "mountaddr", "ip"];

impl Redactor {
    /// The record without identity. Where an identity also stands in a path or in the words of a
    /// warning, it is replaced there too.
    #[must_use]
    pub fn record(&self, record: &Record) -> Record {
        let Ok(mut value) = serde_json::to_value(record) else { return self.fields(record) };
        self.value(&mut value);
        serde_json::from_value(value).unwrap_or_else(|_| self.fields(record))
    }

    /// The same on a record as a JSON document; unknown fields are kept.
    pub fn value(&self, record: &mut Value) {
        if self.keep_identity {
            return;
        }
        let mut known: Vec<(String, String)> = Vec::new();
        for (pointer, kind) in [("/medium/unit", "unit"), ("/host/hostname", "host")] {
            if let Some(Value::String(text)) = record.pointer_mut(pointer) {
                let name = self.name(kind, text);
                known.push((std::mem::replace(text, name.clone()), name));
            }
        }
        if let Some(Value::String(device)) = record.pointer_mut("/medium/device")
            && let Some((server, rest)) = remote(device)
        {
            let name = self.name("host", server);
            known.push((server.to_owned(), name.clone()));
            *device = format!("{name}:{rest}");
        }
        if let Some(Value::Array(options)) = record.pointer_mut("/medium/mount_options") {
            for option in options {
                if let Value::String(text) = option
                    && let Some((key, address)) = text.split_once('=')
                    && ADDRESS_OPTIONS.contains(&key)
                {
                    *text = format!("{key}={}", self.name("host", address));
                }
            }
        }
        known.retain(|(identity, name)| identity.len() >= SHORTEST_SEARCHED && identity != name);
        // The longest first, so that a serial number that holds another is replaced whole.
        known.sort_by_key(|(identity, _)| std::cmp::Reverse(identity.len()));
        for part in ["medium", "settings", "measurements", "warnings", "validity", "outcome", "source", "verification"]
        {
            if let Some(value) = record.get_mut(part) {
                replace_all(value, &known);
            }
        }
    }

    /// Only the two fields, for a record that JSON cannot hold.
    fn fields(&self, record: &Record) -> Record {
        let mut record = record.clone();
        if !self.keep_identity {
            record.medium.unit = record.medium.unit.map(|u| self.name("unit", &u));
            record.host.hostname = record.host.hostname.map(|h| self.name("host", &h));
        }
        record
    }

    /// `unit-3fa9c1d2` for an identity; a name that is one already stays.
    #[must_use]
    pub fn name(&self, kind: &str, identity: &str) -> String {
        let already = identity
            .strip_prefix(kind)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|hash| hash.len() == 8 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        if already {
            return identity.to_owned();
        }
        // The kind is part of the message, so that a host named like a serial number gets its own.
        let hash = blake3::keyed_hash(&self.key, format!("{kind}\0{identity}").as_bytes());
        let hex = hash.to_hex();
        format!("{kind}-{}", hex.get(..8).unwrap_or_default())
    }
}

/// Server and rest of a remote device like `nas.lan:/export`.
fn remote(device: &str) -> Option<(&str, &str)> {
    let (server, rest) = device.split_once(':')?;
    (!server.is_empty() && !server.contains('/')).then_some((server, rest))
}

fn replace_all(value: &mut Value, known: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (identity, name) in known {
                if let Some(replaced) = replace_whole(text, identity, name) {
                    *text = replaced;
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|v| replace_all(v, known)),
        Value::Object(fields) => fields.values_mut().for_each(|v| replace_all(v, known)),
        _ => {}
    }
}

/// `text` with `identity` replaced where it is not part of a longer word; `None` where it is
/// not in it.
fn replace_whole(text: &str, identity: &str, name: &str) -> Option<String> {
    if !text.contains(identity) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(identity) {
        let (before, found) = rest.split_at(at);
        let after = found.get(identity.len()..).unwrap_or_default();
        let inside = before.chars().next_back().is_some_and(char::is_alphanumeric)
            || after.chars().next().is_some_and(char::is_alphanumeric);
        out.push_str(before);
        out.push_str(if inside { identity } else { name });
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}
