//! Settings of a block queue that change results
//! (kernel Documentation/ABI/stable/sysfs-block, `/sys/block/<disk>/queue`).

use std::collections::BTreeMap;

use assay_core::text::label;

use crate::block::Node;
use crate::files;

const PLAIN: [&str; 5] = ["nr_requests", "read_ahead_kb", "rotational", "write_cache", "max_sectors_kb"];

pub(crate) fn settings(node: &Node) -> BTreeMap<String, String> {
    let dir = node.dir.join("queue");
    let mut map = BTreeMap::new();
    for name in PLAIN {
        if let Some(value) = files::text(&dir.join(name)).and_then(|text| label(&text, 64)) {
            map.insert(name.to_owned(), value);
        }
    }
    if let Some(value) = files::text(&dir.join("scheduler")).and_then(|text| label(active(&text), 64)) {
        map.insert("scheduler".to_owned(), value);
    }
    map
}

/// `none [mq-deadline] kyber`: the active one is in brackets.
fn active(text: &str) -> &str {
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(text, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_active_scheduler_is_the_one_in_brackets() {
        assert_eq!(super::active("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(super::active("none"), "none");
    }
}
