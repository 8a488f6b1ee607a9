//! State files of a check, from valid to absurd.

use crate::dice::Dice;

/// The state that a check of `area` bytes saves when it is killed while it writes.
pub(super) fn honest(area: u64) -> String {
    format!(
        r#"{{"version":1,"pid":4242,"host":"there","area_bytes":{area},"written_bytes":0,"kept":false,"read":null}}"#
    )
}

/// A state that no check saves.
pub(super) fn absurd(dice: &mut Dice) -> Vec<u8> {
    let huge = ["18446744073709551615", "9223372036854775808", "-1", "1e300", "281474976710656"];
    let number = huge[dice.below(huge.len() as u64) as usize];
    let counts = r#"{"good":0,"changed":0,"overwritten":0,"corrupted":0,"unreadable":0}"#;
    let tally = |cell: &str, cells: &str, area: &str| {
        format!(
            r#"{{"version":1,"pid":1,"host":"h","area_bytes":1048576,"written_bytes":1048576,"kept":false,"read":[0,{{"cell_bytes":{cell},"counts":{counts},"first":null,"last_lost_end":0,"good_since":0,"cells":{cells},"area_bytes":{area}}}]}}"#
        )
    };
    let text = match dice.below(9) {
        0 => honest(0).replace("\"area_bytes\":0", &format!("\"area_bytes\":{number}")),
        1 => honest(1 << 20).replace("\"written_bytes\":0", &format!("\"written_bytes\":{number}")),
        2 => tally("0", "[]", "1048576"),
        3 => tally(number, "[]", "1048576"),
        4 => tally("1048576", &format!("[{counts}]"), number),
        5 => "[".repeat(100_000),
        6 => format!("\"{}\"", "x".repeat(2 << 20)),
        7 => String::new(),
        _ => return (0..dice.below(4096)).map(|_| dice.below(256) as u8).collect(),
    };
    text.into_bytes()
}
