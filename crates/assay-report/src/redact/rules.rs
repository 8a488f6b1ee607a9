//! What becomes of each field of the record in a shared report; of a medium, `facts.rs` says it.

use super::identity::Rule::{Each, Fields, Keep, Known, Labels, Name, Never, Path, Source, Stamp, Text};
use super::identity::{Kind, Rule};
use crate::facts::MEDIUM_RULE;

/// The record.
pub(super) const RECORD: Rule = Fields(&[
    ("schema", Stamp),
    ("id", Known),
    ("created", Stamp),
    ("tool", TOOL),
    ("host", HOST),
    ("medium", MEDIUM_RULE),
    ("labels", Labels),
    ("suite", Fields(&[("name", Known), ("version", Keep)])),
    ("settings", SETTINGS),
    ("measurements", Each(&MEASUREMENT)),
    (
        "scores",
        Each(&Fields(&[
            ("name", Text),
            ("value", ESTIMATE),
            ("unit", Known),
            ("more_is_better", Keep),
            ("program", PROGRAM),
        ])),
    ),
    ("sensors", Each(&SENSOR)),
    ("crosscheck", Each(&CROSSCHECK)),
    ("verification", VERIFICATION),
    (
        "source",
        Fields(&[
            ("format", Known),
            ("file", Source),
            ("original_text_sha256", Name(Kind::Id)),
            ("lines", Each(&Keep)),
            ("text", Never),
        ]),
    ),
    ("cluster", CLUSTER),
    ("outcome", OUTCOME),
    ("validity", Fields(&[("verdict", Keep), ("reasons", Each(&WARNING))])),
    ("warnings", Each(&WARNING)),
]);

/// With ssh the name of a node is that of the host.
const CLUSTER: Rule = Fields(&[
    ("run", Known),
    ("node", Name(Kind::Host)),
    ("attempt", Keep),
    ("nodes", Keep),
    ("mode", Known),
    ("at_a_time", Keep),
    (
        "clock",
        Fields(&[
            ("offset_ns", Keep),
            ("bound_ns", Keep),
            ("round_trip_ns", Keep),
            ("exchanges", Keep),
            ("drift_ppm", Keep),
            ("drift_bound_ppm", Keep),
        ]),
    ),
    ("lost", Text),
    ("settled", SETTLED),
]);

const SETTLED: Rule = Fields(&[
    ("by", Keep),
    ("nodes", Keep),
    ("area_bytes", Keep),
    ("own_area_bytes", Keep),
    (
        "loads",
        Each(&Fields(&[
            ("workload", Known),
            ("block_bytes", Keep),
            ("queue_depth", Keep),
            ("jobs", Keep),
            ("to_typical", Keep),
            ("operations", Keep),
            ("standing", Keep),
        ])),
    ),
]);

const PROGRAM: Rule = Fields(&[
    ("program", Known),
    ("tree", Text),
    ("values", Each(&Keep)),
    ("elapsed_ns", Each(&Keep)),
    ("medium_busy_share", Keep),
    ("waiting_share", Keep),
    ("medium_bytes", Keep),
    ("originals", Each(&ORIGINAL)),
]);

const TOOL: Rule =
    Fields(&[("name", Known), ("version", Known), ("commit", Known), ("engine", Known), ("engine_reason", Text)]);

const HOST: Rule = Fields(&[
    ("hostname", Name(Kind::Host)),
    ("board", Text),
    ("cpu", Text),
    ("cores", Keep),
    ("memory_bytes", Keep),
    ("kernel", Known),
    ("os", Text),
    ("governor", Known),
    ("arch", Known),
    ("slot", Known),
]);

const SETTINGS: Rule = Fields(&[
    ("budget_ns", Keep),
    ("max_write_bytes", Keep),
    ("planned_write_bytes", Keep),
    ("written_bytes", Keep),
    ("read_bytes", Keep),
    ("elapsed_ns", Keep),
    ("waited_ns", Keep),
    ("span_bytes", Keep),
    ("seed", Keep),
    ("repeats", Keep),
    ("confidence", Keep),
    ("enough", Keep),
    ("hang_after_ns", Keep),
    ("suite_text", Text),
    ("raw_device", Keep),
    ("direct_alignment_bytes", Keep),
    ("direct_source", Text),
    ("layout", Fields(&[("bytes", Keep), ("elapsed_ns", Keep)])),
    ("null_ns_per_operation", Keep),
    ("crosscheck", Known),
]);

const MEASUREMENT: Rule = Fields(&[
    ("workload", WORKLOAD),
    ("requested", WORKLOAD),
    ("engine", Known),
    ("repeats", Each(&REPEAT)),
    ("iops", ESTIMATE),
    ("bytes_per_second", ESTIMATE),
    ("durable_bytes_per_second", ESTIMATE),
    ("latency_ns", LATENCY),
    ("service_ns", LATENCY),
    ("proof_ratio", Keep),
    ("in_flight", Keep),
    ("batching", BATCHING),
    ("bus_limited", Keep),
    ("instrument_limited", Keep),
    ("soak", SOAK),
    ("bytes_per_joule", ESTIMATE),
    ("operations_per_joule", ESTIMATE),
    ("warnings", Each(&WARNING)),
]);

const BATCHING: Rule =
    Fields(&[("wait_for", Keep), ("tried", Keep), ("iops_ratio", Keep), ("p50_ratio", Keep), ("p99_ratio", Keep)]);

const LATENCY: Rule = Fields(&[
    ("mean", ESTIMATE),
    ("p50", ESTIMATE),
    ("p90", ESTIMATE),
    ("p99", ESTIMATE),
    ("p99_9", ESTIMATE),
    ("max", ESTIMATE),
]);

const WORKLOAD: Rule = Fields(&[
    ("name", Known),
    ("op", Keep),
    ("read_percent", Keep),
    ("pattern", Keep),
    ("block_bytes", Keep),
    ("queue_depth", Keep),
    ("jobs", Keep),
    ("span_bytes", Keep),
    ("direct", Keep),
    ("sync", Keep),
    ("arrivals", Fields(&[("iops", Keep), ("process", Keep)])),
    (
        "distribution",
        Fields(&[
            ("kind", Keep),
            ("theta", Keep),
            ("h", Keep),
            ("deviation_percent", Keep),
            ("operations_percent", Keep),
            ("area_percent", Keep),
            ("zones", Each(&Fields(&[("operations_percent", Keep), ("area_percent", Keep)]))),
        ]),
    ),
    ("blocks", Each(&Fields(&[("block_bytes", Keep), ("percent", Keep)]))),
    ("offset_bytes", Keep),
    ("think", Fields(&[("pause_ns", Keep), ("after_operations", Keep)])),
    ("refined", REFINED),
    ("priorities", PRIORITIES),
    ("cpus", Each(&Keep)),
    ("poll", Keep),
    ("together", Fields(&[("group", Known), ("beside", Each(&Known))])),
    ("stop", Fields(&[("ramp_ns", Keep), ("duration_ns", Keep), ("max_bytes", Keep)])),
    ("unknown", Each(&Keep)),
]);

const REFINED: Rule = Fields(&[
    ("align_bytes", Keep),
    ("stride", Fields(&[("run_bytes", Keep), ("step_bytes", Keep)])),
    ("files", Keep),
    ("shared", Keep),
    ("apart", Keep),
    ("writes", Each(&Fields(&[("block_bytes", Keep), ("percent", Keep)]))),
    ("sync_every", Keep),
    ("duplicate_percent", Keep),
    ("zero_percent", Keep),
    ("flow", Fields(&[("weight", Keep), ("pause_ns", Keep)])),
]);

const PRIORITY: Rule = Fields(&[("class", Keep), ("level", Keep)]);

const PRIORITIES: Rule = Fields(&[
    ("job", PRIORITY),
    ("shares", Each(&Fields(&[("op", Keep), ("block_bytes", Keep), ("percent", Keep), ("priority", PRIORITY)]))),
]);

const ESTIMATE: Rule =
    Fields(&[("point", Keep), ("low", Keep), ("high", Keep), ("level", Keep), ("n", Keep), ("method", Known)]);

const REPEAT: Rule = Fields(&[
    ("started", Stamp),
    ("elapsed_ns", Keep),
    ("operations", Keep),
    ("bytes", Keep),
    ("iops", Keep),
    ("bytes_per_second", Keep),
    ("issued_bytes", Keep),
    ("durable_bytes_per_second", Keep),
    ("in_flight", Keep),
    ("proof_ratio", Keep),
    (
        "samples",
        Each(&Fields(&[
            ("t_ns", Keep),
            ("interval_ns", Keep),
            ("operations", Keep),
            ("bytes", Keep),
            ("p50_ns", Keep),
            ("p99_ns", Keep),
        ])),
    ),
    ("histogram", HISTOGRAM),
    ("service_histogram", HISTOGRAM),
    ("unserved", Keep),
    ("first_done_ns", Keep),
    ("last_done_ns", Keep),
    ("original", ORIGINAL),
    ("common_start", Fields(&[("planned_ns", Keep), ("began_ns", Keep), ("bound_ns", Keep), ("nodes", Keep)])),
    (
        "steady",
        Fields(&[("status", Keep), ("half_width", Keep), ("drift", Keep), ("lag1", Keep), ("truncated_ns", Keep)]),
    ),
    ("outcome", OUTCOME),
]);

const HISTOGRAM: Rule =
    Fields(&[("scheme", Known), ("sum_ns", Keep), ("min_ns", Keep), ("max_ns", Keep), ("counts", Each(&Each(&Keep)))]);

const SOAK: Rule = Fields(&[
    ("burst_bytes_per_second", ESTIMATE),
    ("burst_ns", Keep),
    ("sustained_bytes_per_second", ESTIMATE),
    ("sustained_ns", Keep),
    ("bytes", Keep),
    ("elapsed_ns", Keep),
    (
        "cliff",
        Fields(&[
            ("time_ns", Keep),
            ("bytes_at", Keep),
            ("temperature_celsius", Keep),
            ("drop", Keep),
            ("p_value", Keep),
            ("cause", Keep),
        ]),
    ),
]);

const SENSOR: Rule =
    Fields(&[("name", Text), ("kind", Known), ("unit", Known), ("source", Text), ("samples", Each(&Each(&Keep)))]);

const CROSSCHECK: Rule = Fields(&[
    ("workload", Known),
    ("peer", Known),
    ("peer_version", Known),
    ("pairs", Each(&PAIR)),
    ("ours_iops", ESTIMATE),
    ("theirs_iops", ESTIMATE),
    ("ratio", ESTIMATE),
    ("p50_ratio", ESTIMATE),
    ("p99_ratio", ESTIMATE),
    ("trouble", Text),
]);

const PAIR: Rule =
    Fields(&[("peer_first", Keep), ("ours", SIDE), ("theirs", SIDE), ("durable", Keep), ("original", ORIGINAL)]);

const ORIGINAL: Rule = Fields(&[
    ("tool", Known),
    ("version", Known),
    ("command", Text),
    ("input", Never),
    ("text_sha256", Name(Kind::Id)),
    ("text", Never),
]);

const SIDE: Rule = Fields(&[("iops", Keep), ("p50_ns", Keep), ("p99_ns", Keep)]);

const VERIFICATION: Rule = Fields(&[
    ("method", Keep),
    ("verdict", Keep),
    ("checker", Keep),
    ("by_check", Known),
    ("kind", Keep),
    ("sign", SIGN),
    ("ended", Keep),
    ("doubt", Keep),
    ("announced_bytes", Keep),
    ("area_bytes", Keep),
    ("real_bytes", Keep),
    ("real_low_bytes", Keep),
    ("real_high_bytes", Keep),
    ("holds", Each(&Fields(&[("offset_bytes", Keep), ("bytes", Keep)]))),
    ("checked_bytes", Keep),
    ("written_bytes", Keep),
    ("refused_bytes", Keep),
    ("counts", COUNTS),
    ("places", Fields(&[("read", Keep), ("lost", Keep)])),
    ("offsets", Keep),
    ("first_error", Fields(&[("offset_bytes", Keep), ("class", Keep), ("holds_offset_bytes", Keep)])),
    ("map", Each(&Fields(&[("offset_bytes", Keep), ("bytes", Keep), ("counts", COUNTS)]))),
    ("write", PASS),
    ("read", PASS),
    (
        "read_back",
        Fields(&[
            ("by", Keep),
            ("because", Fields(&[("reason", Keep), ("bytes", Keep), ("said", Text)])),
            ("dropped", Keep),
            ("elsewhere_bytes", Keep),
        ]),
    ),
    ("cache_bytes", Keep),
    ("reach", REACH),
    ("remarks", Each(&Keep)),
    (
        "retention",
        Fields(&[
            ("by_check", Known),
            ("age", Fields(&[("low_seconds", Keep), ("high_seconds", Keep)])),
            (
                "speed",
                Fields(&[
                    ("bytes_per_second", Keep),
                    ("first_bytes_per_second", Keep),
                    ("ratio", ESTIMATE),
                    ("same", Fields(&[("host", Keep), ("reader", Keep), ("bus", Keep)])),
                    ("sign", Keep),
                ]),
            ),
        ]),
    ),
]);

const REACH: Rule = Fields(&[
    ("tested_share", Keep),
    ("loss_share", Keep),
    ("loss_found", Keep),
    ("caches_up_to_bytes", Keep),
    ("thin_excluded", Keep),
    ("of", Keep),
    ("wraparounds_from_share", Keep),
]);

const SIGN: Rule = Fields(&[
    ("sign", Keep),
    ("distance_bytes", Keep),
    ("overwritten_sectors", Keep),
    ("first_overwritten_bytes", Keep),
    ("lost", Keep),
    ("of", Keep),
    ("places", Keep),
    ("bytes", Keep),
]);

const COUNTS: Rule =
    Fields(&[("good", Keep), ("changed", Keep), ("overwritten", Keep), ("corrupted", Keep), ("unreadable", Keep)]);

const PASS: Rule = Fields(&[
    ("bytes", Keep),
    ("elapsed_ns", Keep),
    ("speed", Each(&Fields(&[("offset_bytes", Keep), ("bytes", Keep), ("elapsed_ns", Keep)]))),
]);

const OUTCOME: Rule = Fields(&[
    ("state", Keep),
    ("failure", Keep),
    ("detail", Text),
    ("workload", Known),
    ("elapsed_ns", Keep),
    ("written_bytes", Keep),
]);

const WARNING: Rule = Fields(&[("finding", FINDING), ("severity", Keep), ("cause", Text), ("remedy", Text)]);

/// A workload or a program, in what may be reduced of it.
const SIZE: Rule = Fields(&[
    ("of", Keep),
    ("block_bytes", Keep),
    ("queue_depth", Keep),
    ("jobs", Keep),
    ("writes", Keep),
    ("files", Keep),
    ("transactions", Keep),
    ("rows", Keep),
]);

const THROTTLING: Rule =
    Fields(&[("sign", Keep), ("times", Keep), ("policy", Known), ("khz", Keep), ("device", Text), ("flag", Keep)]);

/// What a tool does not tell.
const UNTOLD: Rule = Fields(&[
    ("about", Keep),
    ("settings", Each(&Keep)),
    ("share_of_reads", Keep),
    ("taken", Keep),
    ("taken_unit", Known),
    ("taken_bytes", Keep),
    ("taken_line", Keep),
    ("figure", Text),
    ("job", Text),
    ("engine", Known),
    ("sum", Text),
    ("jobs", Each(&Text)),
    ("usual_bytes", Keep),
    ("bytes_per_second", Keep),
]);

/// What an imported text lacks.
const MISSING: Rule = Fields(&[
    ("what", Keep),
    ("tool", Known),
    ("section", Text),
    ("names", Each(&Text)),
    ("tells", Each(&Keep)),
    ("flaw", Keep),
    ("missing", Keep),
    ("of", Keep),
    ("job", Text),
    ("part", Keep),
    ("test", Text),
    ("score", Text),
    ("asked_bytes", Keep),
    ("told_bytes", Keep),
    ("failed", Text),
    ("figures", Keep),
]);

/// What of an imported text contradicts itself.
const CONTRADICTION: Rule = Fields(&[
    ("between", Keep),
    ("product", AMOUNT),
    ("one", AMOUNT),
    ("other", AMOUNT),
    ("quantity", Keep),
    ("of", Text),
    ("here", Keep),
    ("place", Keep),
    ("there", Keep),
    ("other_place", Keep),
    ("option", Known),
    ("command", Text),
    ("output", Text),
    ("format", Known),
    ("fields", Keep),
    ("on", Keep),
    ("test", Keep),
]);

const AMOUNT: Rule = Fields(&[("quantity", Keep), ("value", Keep)]);

/// Fields of all kinds of findings: a name means the same in each.
const FINDING: Rule = Fields(&[
    ("kind", Keep),
    ("after", Keep),
    ("after_ns", Keep),
    ("asked", Keep),
    ("asked_size", SIZE),
    ("by_all", Keep),
    ("asked_bytes", Keep),
    ("asked_iops", Keep),
    ("lasted_ns", Keep),
    ("planned_ns", Keep),
    ("at_block_bytes", Keep),
    ("before", Keep),
    ("bytes", Keep),
    ("change", Keep),
    ("counter", Keep),
    ("directories", Keep),
    ("fields", Keep),
    ("first", Text),
    ("governor", Known),
    ("flags", Each(&Keep)),
    ("high", Keep),
    ("in_flight", Keep),
    ("job", Text),
    ("journal", Path),
    ("late_ns", Keep),
    ("reached_iops", Keep),
    ("unserved", Keep),
    ("lines", Keep),
    ("limit", Fields(&[("by", Keep), ("bytes_per_second", Keep)])),
    ("low", Keep),
    ("median_ns", Keep),
    ("medium", Keep),
    ("most", Text),
    ("notes", Each(&Text)),
    ("null_operations_per_second", Keep),
    ("of", Keep),
    ("operations", Keep),
    ("over", Keep),
    ("pages", Keep),
    ("path", Path),
    ("peer", Known),
    ("planned", Keep),
    ("program", Known),
    ("proof_ratio", Keep),
    ("ran", Keep),
    ("ratio", Keep),
    ("reached", Keep),
    ("reason", Text),
    ("repeats", Keep),
    ("rested_ns", Keep),
    ("runs", Keep),
    ("suspended_ns", Keep),
    ("sensor", Text),
    ("share", Keep),
    ("shortfall", Fields(&[("because", Keep), ("bytes", Keep), ("engine", Known), ("said", Text)])),
    ("sign", Keep),
    ("signs", Each(&THROTTLING)),
    ("slow_share", Keep),
    ("source", Keep),
    ("threads", Keep),
    ("tool", Known),
    ("used_size", SIZE),
    ("used_bytes", Keep),
    ("record", Known),
    ("why", Text),
    ("contradiction", CONTRADICTION),
    ("error", Keep),
    ("missing", MISSING),
    ("said", Text),
    ("untold", UNTOLD),
]);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value};

    use super::*;

    /// The committed schema, in which a new field has to be decided on.
    const SCHEMA: &str = include_str!("../../../../schemas/record-v1.json");

    struct Walk {
        definitions: Map<String, Value>,
        problems: Vec<String>,
    }

    impl Walk {
        /// The schemas of `node`: the one it refers to, and each alternative.
        fn alternatives(&self, node: &Value, out: &mut Vec<Value>) {
            if let Some(name) = node["$ref"].as_str() {
                let name = name.trim_start_matches("#/$defs/");
                return self.alternatives(&self.definitions[name], out);
            }
            for key in ["anyOf", "oneOf", "allOf"] {
                node[key].as_array().into_iter().flatten().for_each(|other| self.alternatives(other, out));
            }
            out.push(node.clone());
        }

        fn check(&mut self, path: &str, node: &Value, rule: &Rule) {
            // What is left out whole needs no rules for its parts.
            if matches!(rule, Never) {
                return;
            }
            let mut nodes = Vec::new();
            self.alternatives(node, &mut nodes);
            let mut seen = BTreeSet::new();
            for node in &nodes {
                self.shape(path, node, rule);
                for (name, field) in node["properties"].as_object().into_iter().flatten() {
                    seen.insert(name.clone());
                    match rule {
                        Fields(rules) => match rules.iter().find(|(known, _)| known == name) {
                            Some((_, rule)) => self.check(&format!("{path}/{name}"), field, rule),
                            None => self.problems.push(format!("{path}/{name}: no rule")),
                        },
                        _ => self.problems.push(format!("{path}: has fields, and its rule is {rule:?}")),
                    }
                }
                let items = node["prefixItems"].as_array().into_iter().flatten().chain(node.get("items"));
                for item in items.filter(|item| item.is_object()) {
                    match rule {
                        Each(rule) => self.check(&format!("{path}/*"), item, rule),
                        _ => self.problems.push(format!("{path}: is a list, and its rule is {rule:?}")),
                    }
                }
                if let (Some(values), Each(rule)) = (node.get("additionalProperties").filter(|v| v.is_object()), rule) {
                    self.check(&format!("{path}/{{}}"), values, rule);
                }
            }
            // Of a map with a rule for some keys, the schema names none.
            if let (Fields(rules), false) = (rule, seen.is_empty()) {
                let stale = rules.iter().filter(|(name, _)| !seen.contains(*name));
                self.problems.extend(stale.map(|(name, _)| format!("{path}/{name}: a rule without a field")));
            }
        }

        /// Text must not be kept unchanged.
        fn shape(&mut self, path: &str, node: &Value, rule: &Rule) {
            let kind = &node["type"];
            let text = kind == "string" || kind.as_array().is_some_and(|kinds| kinds.contains(&"string".into()));
            let word = node.get("const").is_some() || node.get("enum").is_some();
            if text && !word && matches!(rule, Keep) {
                self.problems.push(format!("{path}: is text, and its rule lets it out as it is"));
            }
            if word && !matches!(rule, Keep) {
                self.problems.push(format!("{path}: is a word of the format, and its rule is {rule:?}"));
            }
        }
    }

    fn check(schema: &Value) -> Vec<String> {
        let definitions = schema["$defs"].as_object().unwrap().clone();
        let mut walk = Walk { definitions, problems: Vec::new() };
        walk.check("", schema, &RECORD);
        walk.problems.sort();
        walk.problems.dedup();
        walk.problems
    }

    #[test]
    fn every_field_of_the_schema_has_a_rule() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        assert_eq!(check(&schema), Vec::<String>::new(), "decide in rules.rs or facts.rs what becomes of these fields");
    }

    #[test]
    fn a_new_field_is_noticed() {
        let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
        schema["$defs"]["Medium"]["properties"]["owner"] = serde_json::json!({ "type": "string" });
        schema["$defs"]["Host"]["properties"]["cores"] = serde_json::json!({ "type": "string" });
        assert_eq!(
            check(&schema),
            ["/host/cores: is text, and its rule lets it out as it is", "/medium/owner: no rule"]
        );
    }
}
