//! Records of assay itself, which are taken as they are.

use serde_json::value::RawValue;

/// The documents of a file that begins with a record of assay, one after another or in a list; `None` where it does not.
pub(crate) fn documents(bytes: &[u8]) -> Option<Result<Vec<&str>, String>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let first = match text.strip_prefix('[') {
        Some(_) => serde_json::from_str::<Vec<&RawValue>>(text).ok()?.first()?.get(),
        None => serde_json::Deserializer::from_str(text).into_iter::<&RawValue>().next()?.ok()?.get(),
    };
    if !is_record(first) {
        return None;
    }
    let mut documents = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<&RawValue>() {
        let value = match value {
            Ok(value) => value.get(),
            Err(error) => return Some(Err(format!("a record of assay is not complete: {error}"))),
        };
        match serde_json::from_str::<Vec<&RawValue>>(value) {
            Ok(list) => documents.extend(list.iter().map(|value| value.get())),
            Err(_) => documents.push(value),
        }
    }
    Some(Ok(documents))
}

/// Whether a JSON object has the fields by which a record is known.
fn is_record(json: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Marks {
        #[serde(rename = "schema")]
        _schema: String,
        #[serde(rename = "id")]
        _id: String,
        #[serde(rename = "suite")]
        _suite: serde::de::IgnoredAny,
        #[serde(rename = "medium")]
        _medium: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Marks>(json).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stand_alone_in_lines_or_in_a_list() {
        let one = r#"{"schema":"1.0","id":"a","suite":{},"medium":{},"new":1}"#;
        for text in [one.to_owned(), format!("\u{feff} {one}\n"), format!("[{one}]")] {
            assert_eq!(documents(text.as_bytes()), Some(Ok(vec![one])), "{text}");
        }
        assert_eq!(documents(format!("{one}\n{one}\n").as_bytes()).unwrap().unwrap().len(), 2);
        assert!(matches!(documents(format!("{one}\n{{\"schema\":").as_bytes()), Some(Err(_))), "cut off");
        for other in ["", "{}", "[1]", "text", r#"{"fio version":"fio-3.33"}"#, "{\"schema\":\"1.0\""] {
            assert_eq!(documents(other.as_bytes()), None, "{other}");
        }
    }
}
