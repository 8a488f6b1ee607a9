//! Whether a document that was redacted elsewhere is redacted.

use serde_json::Value;

use super::identity::Key;
use super::redactor::redacted;

/// The JSON pointer (RFC 6901) of the first place in the document of a record that a [`Redactor`](super::Redactor) would
/// change or leave out; `None` where it is redacted. Short names stay, with any key.
#[must_use]
pub fn unredacted(record: &Value) -> Option<String> {
    difference(record, &redacted(record.clone(), &Key::Kept))
}

/// Where two values differ first.
fn difference(a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let within = |(name, value): (&String, &Value)| {
                let below = match other.get(name) {
                    Some(there) => difference(value, there)?,
                    None => String::new(),
                };
                Some(format!("/{}{below}", name.replace('~', "~0").replace('/', "~1")))
            };
            one.iter().find_map(within)
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs.into_iter().find_map(|(at, (a, b))| Some(format!("/{at}{}", difference(a, b)?)))
        }
        _ => (a != b).then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Redactor;

    fn full() -> Value {
        json!({
            "schema": "1.0", "id": "0yknftbqsr", "created": "2026-11-28T15:43:57Z",
            "tool": {"name": "assay", "version": "0.1.0", "engine": "uring", "engine_reason": "asked for on node7.example.org"},
            "host": {"hostname": "node7.example.org", "cpu": "Cortex-A76", "cores": 4},
            "medium": {
                "kind": "sd", "model": "SN64G", "unit": "035344534e36344780a1b2c3d4016a00", "attached": "b5a1-77/1",
                "path": "/home/alice/card", "mount_point": "/media/alice/My Card", "device": "/dev/mmcblk0p1",
                "mount_options": ["rw", "uid=1000", "addr=192.168.7.9", "errors=remount-ro"],
                "health": {}, "queue": {}
            },
            "labels": {"model": "SN64G", "serial": "1234567", "owner": "node7"},
            "warnings": [{"severity": "note", "cause": "mount failed at /home/alice/x/y: see http://alice@nas.lan:80/a/b", "remedy": ""}],
            "source": {"format": "fio", "file": "\\\\nas\\share\\alice.txt", "text": "secret", "lines": [1], "original_text_sha256": "aa55aa55aa55aa55"}
        })
    }

    #[test]
    fn what_was_redacted_is_redacted_whoever_has_the_key() {
        for seed in [1, 7, 200] {
            let mut record = full();
            Redactor::with_key([seed; 32]).value(&mut record);
            // The note that counts the fields that were left out is part of the document.
            assert_eq!(unredacted(&record), None, "{record:#}");
        }
    }

    #[test]
    fn the_place_of_what_is_not_redacted_is_said() {
        let mut clean = full();
        Redactor::with_key([3; 32]).value(&mut clean);
        for (pointer, value) in [
            ("/host/hostname", json!("node7")),
            ("/medium/unit", json!("035344534e36344780a1b2c3d4016a00")),
            ("/medium/unit", json!("unit-3FA9C1D2")),
            ("/medium/path", json!("/home/alice")),
            ("/warnings/0/cause", json!("mail of bob@example.org")),
            ("/warnings/0/cause", json!("at b8:27:eb:12:34:56")),
            ("/labels/serial", json!("9876543")),
            ("/medium/mount_options/1", json!("addr=192.168.7.9")),
            ("/source/text", json!("what fio printed")),
            ("/host/secret~1name", json!("x")),
        ] {
            let mut record = clean.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match record.pointer_mut(parent).unwrap() {
                Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
                parent => parent[name.replace("~1", "/")] = value,
            }
            assert_eq!(unredacted(&record).as_deref(), Some(pointer));
        }
    }
}
