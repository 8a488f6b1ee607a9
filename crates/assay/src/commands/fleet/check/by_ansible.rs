//! Nodes of an inventory.

use std::collections::BTreeMap;

use assay_engine::Control;
use assay_fleet::{DayClock, NodeEvent, Status};
use serde_json::Value;

use super::row::Row;
use crate::cli::FleetCheckArgs;
use crate::commands::fleet::ansible::{Ansible, Host, reason, variables};
use crate::commands::fleet::count::Count;
use crate::failure::Failure;

pub(super) fn rows(args: &FleetCheckArgs, control: &Control) -> Result<Vec<Row>, Failure> {
    let variables = variables(args.binaries.as_ref(), &args.arguments)?;
    let ansible = Ansible::new(&args.inventory, control)?;
    let hosts = ansible.hosts()?;
    let mut rows: Vec<Row> = hosts.iter().map(row).collect();
    let numbers: BTreeMap<&str, usize> = hosts.iter().enumerate().map(|(at, host)| (host.name.as_str(), at)).collect();
    let count = Count::of(hosts.iter().map(|host| host.name.as_str()));
    ansible.play("check", &hosts, variables, &mut |event| {
        // Events of other nodes are ignored.
        if let Some(at) = numbers.get(event.node.as_str()) {
            take(&mut rows[*at], &event);
            if event.facts.contains_key("node_report") || event.end().is_some() {
                count.done(&event.node);
            }
        }
    })?;
    Ok(rows)
}

fn row(host: &Host) -> Row {
    let Host { name, target, unit, slot, .. } = host.clone();
    let reason = target.is_empty().then(|| "the inventory has no assay_target for it".to_owned());
    Row { node: name, target, unit, slot, reason, ..Row::default() }
}

fn take(row: &mut Row, event: &NodeEvent) {
    row.reached = event.status != Status::Unreachable;
    if let Some(report) = event.facts.get("node_report") {
        read_report(row, report);
    }
    if let Some(end) = event.end() {
        row.reason.get_or_insert_with(|| reason(end));
    }
}

/// What a node says of itself.
fn read_report(row: &mut Row, report: &Value) {
    let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
    row.reached = true;
    row.machine = text("machine");
    row.bits = report["bits"].as_u64().and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0);
    row.version = text("version");
    row.medium = serde_json::from_value(report["medium"].clone()).ok();
    row.free_bytes = report["target_free_bytes"].as_u64();
    row.clock = clock(&report["clock"]);
    if text("refused").is_empty() {
        row.planned_write_bytes = report["planned_write_bytes"].as_u64();
        row.budget_ns = report["budget_ns"].as_u64();
    } else {
        row.reason.get_or_insert_with(|| reason(&text("refused")));
    }
}

fn clock(read_report: &Value) -> Option<DayClock> {
    let nanoseconds = |name: &str| read_report[name].as_f64().map(|seconds| seconds * 1e9).filter(|ns| ns.abs() < 1e18);
    let (offset, bound) = (nanoseconds("offset_s")?, nanoseconds("bound_s").filter(|bound| *bound >= 0.0)?);
    Some(DayClock { offset_ns: offset as i64, bound_ns: bound as u64 })
}
