//! What the collection's callback says, a JSON object a line. Nodes have their words in it: none is believed beyond its type
//! and its length.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest line that is read, in bytes. What `assay info` says of a medium takes a few thousand.
pub(super) const MAX_LINE: u64 = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A task is over on a node.
    Result(NodeEvent),
    /// The playbook is over.
    Stats {},
    /// Something else.
    #[serde(other)]
    Other,
}

/// How a task ended on a node.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct NodeEvent {
    /// The node.
    pub node: String,
    /// How it ended.
    pub status: Status,
    /// Where it did not succeed, why.
    #[serde(default)]
    pub message: String,
    /// Whether that is no reason to end with the node.
    #[serde(default)]
    pub ignored: bool,
    /// What the role says of the node.
    #[serde(default)]
    pub facts: Map<String, Value>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Well.
    Ok,
    /// Not well.
    Failed,
    /// The node was not reached.
    Unreachable,
    /// It was not for this node.
    Skipped,
}

impl Event {
    /// From a line; none where it is something else, as other callbacks and warnings of Ansible are.
    #[must_use]
    pub fn from_line(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }
}

impl NodeEvent {
    /// Whether this is the end of the node, and why.
    #[must_use]
    pub fn end(&self) -> Option<&str> {
        let ended = matches!(self.status, Status::Failed | Status::Unreachable) && !self.ignored;
        ended.then_some(if self.message.is_empty() { "no message" } else { &self.message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_callback_are_read_and_others_are_none() {
        let line = br#"{"event":"result","node":"n1","status":"failed","ignored":false,"message":"no","task":"t","facts":{"a":1}}"#;
        let Some(Event::Result(event)) = Event::from_line(line) else { panic!("no result") };
        assert_eq!((event.node.as_str(), event.end(), &event.facts["a"]), ("n1", Some("no"), &Value::from(1)));
        let ignored = br#"{"event":"result","node":"n1","status":"failed","ignored":true,"message":"no"}"#;
        assert!(matches!(Event::from_line(ignored), Some(Event::Result(event)) if event.end().is_none()));
        assert_eq!(Event::from_line(br#"{"event":"stats","nodes":{"n1":{"ok":1}}}"#), Some(Event::Stats {}));
        assert_eq!(Event::from_line(br#"{"event":"play","play":"x"}"#), Some(Event::Other));
        for other in [&b"PLAY RECAP ****"[..], b"{}", b"[1]", b"\xff", br#"{"event":"result","node":5,"status":"ok"}"#]
        {
            assert_eq!(Event::from_line(other), None);
        }
    }
}
