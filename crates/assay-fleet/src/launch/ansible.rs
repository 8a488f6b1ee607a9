//! Nodes by the playbook `run` of the collection: one `ansible-playbook` for all of them.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::process::{EventSource, Launched, MOST_LINE, NodeEnd, OutputEvent, without_a_word};
use super::request::{Launch, NodeGroup};
use crate::ansible::{AnsibleEvent, Playbook, PrivateDirectory, TaskStatus};
use crate::ledger::{Inventory, NodeUnit};
use crate::message::own_program;

/// Starts all nodes.
pub(super) fn start(launch: &Launch<'_>) -> Vec<NodeGroup> {
    let places = (0..launch.places.len()).collect();
    vec![NodeGroup { places, launched: play(launch) }]
}

fn play(launch: &Launch<'_>) -> io::Result<Launched> {
    let none = || io::Error::other("the run has no inventory");
    let inventory = launch.inventory.ok_or_else(none)?;
    let directory = PrivateDirectory::new()?;
    // On a command line, or in an environment that Ansible passes on, all could read them.
    let keys = launch.places.iter().enumerate().map(|(number, place)| {
        directory.write(&format!("keys/{number}"), launch.key.of_node(&place.node).to_hex().as_bytes())
    });
    let keys = keys.collect::<io::Result<Vec<_>>>()?;
    let hosts: String = launch.places.iter().map(|place| place.node.clone() + "\n").collect();
    let limit = format!("@{}", directory.write("limit", hosts.as_bytes())?.display());
    let variables = variables(launch, inventory, &keys);
    let variables = directory.write("variables.json", Value::Object(variables).to_string().as_bytes())?;
    let book = Playbook {
        name: "run",
        inventory: &inventory.files,
        limit: Some(&limit),
        // Nodes wait for each other.
        forks: launch.places.len(),
        variables: Some(&variables),
    };
    let command = book.command(&directory);
    let numbers: HashMap<String, usize> = launch.places.iter().map(|place| place.node.clone()).zip(0..).collect();
    let mut launched = Launched::read(command, "", EventSource::Output, Box::new(move |line| event_of(line, &numbers)))
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::other("there is no ansible-playbook; the package ansible-core has it")
            }
            _ => error,
        })?;
    launched.keep(directory);
    Ok(launched)
}

/// What stands above the inventory's variables.
fn variables(launch: &Launch<'_>, inventory: &Inventory, keys: &[PathBuf]) -> Map<String, Value> {
    let mut variables = own_program();
    variables.extend(inventory.variables.clone());
    let mut places = Map::new();
    let (mut tunnels, mut cells) = (false, false);
    let own = |name: &str| json!(format!("{{{{ assay_places[inventory_hostname].{name} }}}}"));
    for (place, key) in launch.places.iter().zip(keys) {
        let extra = inventory.routes.get(&place.node).map(|route| route.ssh_extra_args.as_str()).unwrap_or_default();
        let tunnel = place.tunnel.as_ref().map(|tunnel| format!("-R {}", tunnel.specification()));
        tunnels |= tunnel.is_some();
        let ssh = format!("{extra} {}", tunnel.unwrap_or_default());
        let key = key.to_string_lossy();
        let mut node_variables = json!({ "rendezvous": place.rendezvous, "ssh": ssh.trim(), "key": key });
        if let Some(NodeUnit { model, unit, slot }) = &place.cell {
            cells = true;
            let own = ["--label".to_owned(), format!("model={model}")];
            (node_variables["unit"], node_variables["slot"], node_variables["options"]) =
                (json!(unit), json!(slot), json!(own));
        }
        places.insert(place.node.clone(), node_variables);
    }
    if cells {
        // The plan decides which unit is where, regardless of the inventory.
        variables.insert("assay_unit".to_owned(), own("unit"));
        variables.insert("assay_slot".to_owned(), own("slot"));
        let common = variables.remove("assay_plan_options").unwrap_or_else(|| json!([]));
        variables.insert("assay_common_options".to_owned(), common);
        let both = "{{ assay_common_options + assay_places[inventory_hostname].options }}";
        variables.insert("assay_plan_options".to_owned(), json!(both));
    }
    variables.insert("assay_run".to_owned(), json!(launch.run));
    variables.insert("assay_places".to_owned(), Value::Object(places));
    variables.insert("assay_rendezvous".to_owned(), own("rendezvous"));
    variables.insert("assay_key_file".to_owned(), own("key"));
    if tunnels {
        variables.insert("ansible_ssh_extra_args".to_owned(), own("ssh"));
    }
    variables
}

/// Understands lines of the callback.
fn event_of(line: &str, numbers: &HashMap<String, usize>) -> OutputEvent {
    let Some(AnsibleEvent::Result(event)) = AnsibleEvent::from_line(line.as_bytes()) else {
        return OutputEvent::Nothing;
    };
    let Some(place) = numbers.get(&event.node).copied() else { return OutputEvent::Nothing };
    match event.end() {
        Some(why) => {
            let words = why.chars().take(MOST_LINE).collect();
            OutputEvent::Ended(place, NodeEnd { words, code: None, reached: event.status != TaskStatus::Unreachable })
        }
        None => event.facts.get("node_result").map_or(OutputEvent::Nothing, |result| program_ended(place, result)),
    }
}

/// The end of the program on a node, by its exit code and last words. The next task names a failure too, but Ansible may hold
/// the last task of the last host back until all others have ended.
fn program_ended(place: usize, result: &Value) -> OutputEvent {
    let code = result["exit"].as_str().and_then(|code| code.parse().ok());
    let said = result["message"].as_str().map(str::trim).filter(|said| code != Some(0) && !said.is_empty());
    let words = match (code, said) {
        (Some(0), _) => "it ended".to_owned(),
        (_, None) => without_a_word(code),
        (_, Some(said)) => said.chars().take(MOST_LINE).collect(),
    };
    OutputEvent::Ended(place, NodeEnd { words, code, reached: true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RunKey;
    use crate::launch::{FarEnd, NodePlace, Tunnel};
    use crate::ledger::Route;
    use crate::transport::Endpoint;

    #[test]
    fn each_node_has_its_own_way_to_the_coordinator() {
        let key = RunKey::new().unwrap();
        let near = Endpoint::Socket(PathBuf::from("/tmp/assay-fleet-1/meet"));
        let place = |node: &str, port: Option<u16>| NodePlace {
            node: node.to_owned(),
            target: "/m".to_owned(),
            rendezvous: format!("{node}:1"),
            tunnel: port.map(|port| Tunnel { far: FarEnd::Port(port), near: near.clone() }),
            cell: None,
        };
        let route = Route { ssh: true, ssh_extra_args: "-o X=y".to_owned(), slot: String::new() };
        let inventory = Inventory {
            variables: Map::from_iter([("assay_suite".to_owned(), json!("quick"))]),
            routes: [("n1".to_owned(), route)].into(),
            ..Inventory::default()
        };
        let launch = Launch {
            run: "r",
            program: "assay",
            arguments: Vec::new(),
            suite: None,
            key: &key,
            places: vec![place("n1", Some(5)), place("n2", None)],
            inventory: Some(&inventory),
        };
        let keys = ["/k/0", "/k/1"].map(PathBuf::from);
        let passed = Value::Object(variables(&launch, &inventory, &keys));
        assert_eq!(passed["assay_places"]["n1"]["ssh"], "-o X=y -R 127.0.0.1:5:/tmp/assay-fleet-1/meet");
        assert_eq!(passed["assay_places"]["n1"]["key"], "/k/0", "each has a key of its own");
        assert_eq!(passed["assay_places"]["n2"], json!({ "rendezvous": "n2:1", "ssh": "", "key": "/k/1" }));
        assert_eq!((&passed["assay_suite"], &passed["assay_run"]), (&json!("quick"), &json!("r")));
        assert!(!passed.to_string().contains(&key.of_node("n1").to_hex()));
    }

    #[test]
    fn a_node_ends_by_its_own_events_alone() {
        let numbers = HashMap::from([("n1".to_owned(), 0)]);
        let failed = r#"{"event":"result","node":"n1","status":"unreachable","message":"no route to host"}"#;
        let end =
            |words: &str, code, reached| OutputEvent::Ended(0, NodeEnd { words: words.to_owned(), code, reached });
        assert_eq!(event_of(failed, &numbers), end("no route to host", None, false));
        let done = r#"{"event":"result","node":"n1","status":"ok","facts":{"node_result":{"exit":"0"}}}"#;
        assert_eq!(event_of(done, &numbers), end("it ended", Some(0), true));
        let other = r#"{"event":"result","node":"n2","status":"failed","message":"x"}"#;
        // The task that fails by it may be held back.
        let full = r#"{"event":"result","node":"n1","status":"ok","facts":{"node_result":{"exit":"4","message":"assay: /m is read-only"}}}"#;
        assert_eq!(event_of(full, &numbers), end("assay: /m is read-only", Some(4), true));
        let silent =
            r#"{"event":"result","node":"n1","status":"ok","facts":{"node_result":{"exit":"4","message":" "}}}"#;
        assert_eq!(event_of(silent, &numbers), end("it ended with exit code 4 without a word", Some(4), true));
        // What a node says that ends well is no reason.
        let warned = r#"{"event":"result","node":"n1","status":"ok","facts":{"node_result":{"exit":"0","message":"a warning"}}}"#;
        assert_eq!(event_of(warned, &numbers), end("it ended", Some(0), true));
        for nothing in [other, "n1 failed", r#"{"event":"result","node":"n1","status":"ok"}"#] {
            assert_eq!(event_of(nothing, &numbers), OutputEvent::Nothing);
        }
    }
}
