//! What Ansible and other programs print as strings of JSON: the output of a task under `stdout`, `stdout_lines` or `msg`.

use super::MOST_LINES;
use super::line::Line;

/// Keys whose strings are the output of a program.
const KEYS: [&str; 5] = ["stdout", "stdout_lines", "msg", "stderr", "stderr_lines"];

/// Puts the lines of such strings in the place of the strings.
pub(super) fn expand(lines: &mut Vec<Line>) {
    if !lines.iter().any(|line| key_of(&line.text).is_some_and(|key| KEYS.contains(&key))) {
        return;
    }
    let mut plain: Vec<Line> = Vec::with_capacity(lines.len());
    let mut listed = false;
    for line in lines.drain(..) {
        let key = key_of(&line.text).filter(|key| KEYS.contains(key));
        let value = key.and_then(|_| line.text.split_once(':')).map(|(_, value)| value);
        let number = line.number;
        if let Some(text) = value.and_then(string) {
            let parts = text.split('\n').take(MOST_LINES + 1);
            plain.extend(parts.map(|part| Line { number, text: part.trim_end_matches('\r').to_owned() }));
            listed = false;
        } else if value.is_some_and(|value| value.trim() == "[") {
            listed = true;
            plain.push(line);
        } else if let Some(text) = listed.then(|| string(&line.text)).flatten() {
            plain.push(Line { number, text });
        } else {
            listed = false;
            plain.push(line);
        }
        if plain.len() > MOST_LINES {
            break;
        }
    }
    *lines = plain;
}

/// The key of a line like `"key": …`.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.trim_start().strip_prefix('"')?.split_once('"')?;
    // `debug: var=fio.stdout_lines` prints the whole name of the variable.
    let key = key.rsplit_once('.').map_or(key, |(_, last)| last);
    rest.trim_start().starts_with(':').then_some(key)
}

/// The string that a line consists of, with a comma behind it or none.
fn string(text: &str) -> Option<String> {
    let text = text.trim();
    serde_json::from_str(text.strip_suffix(',').unwrap_or(text)).ok()
}
