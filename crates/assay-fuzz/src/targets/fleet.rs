//! What nodes and Ansible say of a run on many nodes, and the file that keeps the run.

use assay_fleet::{Event, Ledger, RunEnd};

/// # Panics
/// Where a line is believed beyond its type, or a run that was read cannot be written and read again.
pub fn run(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        if let Some(Event::Result(event)) = Event::from_line(line) {
            let end = event.end();
            assert!(end.is_none_or(|why| !why.is_empty()), "an end has a reason: {event:?}");
            assert!(!event.ignored || end.is_none(), "what is ignored ends nothing: {event:?}");
        }
    }
    let Ok(ledger) = std::str::from_utf8(data).map_err(drop).and_then(|text| Ledger::from_json(text).map_err(drop))
    else {
        return;
    };
    assert!(ledger.version <= Ledger::VERSION);
    let written = ledger.to_json().unwrap_or_else(|error| panic!("{error}"));
    let again = Ledger::from_json(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    // Numbers of an inventory may lose their last digit.
    assert_eq!(
        (again.nodes.as_slice(), &again.rotation, again.missing()),
        (ledger.nodes.as_slice(), &ledger.rotation, ledger.missing())
    );
    for entry in &ledger.nodes {
        let Some(fate) = &entry.fate else { continue };
        assert!(!fate.is_result() || fate.record().is_some(), "a result has a record: {fate:?}");
    }
    let whole = matches!(ledger.end(), RunEnd::Whole | RunEnd::MediumFailed);
    assert_eq!(whole, ledger.missing().is_empty(), "a run is whole where no record is missing");
}

pub fn seeds() -> Vec<Vec<u8>> {
    let events = [
        r#"{"event":"play","play":"Measure"}"#,
        r#"{"event":"result","node":"n1","status":"ok","task":"t","changed":false,"facts":{"node_result":{"exit":"0"}}}"#,
        r#"{"event":"result","node":"n2","status":"failed","ignored":false,"message":"exit code 2, usage: assay: /x"}"#,
        r#"{"event":"result","node":"n2","status":"failed","ignored":true}"#,
        r#"{"event":"result","node":"n3","status":"unreachable","message":"no route"}"#,
        r#"{"event":"stats","nodes":{"n1":{"ok":1}}}"#,
        "PLAY RECAP",
    ];
    let ledger = r#"{"version":2,"run":"0ycb7vf5h0","created":"2026-11-23T12:00:00Z","via":"ssh","mode":"simultaneous",
        "at_a_time":null,"program":"assay","arguments":["--engine","null"],"inventory":{"files":["/c.ini"],"limit":null,
        "variables":{"a":1.5}},"rotation":{"plan":"0123456789abcdef","round":1,"wave":1,
        "places":[{"node":"n1","target":"/m","slot":"1"}]},
        "settled":{"nodes":4,"area_bytes":67108864,"loads":[{"block_bytes":1048576,"queue_depth":8,"jobs":1,
        "seconds":0.1,"bytes_in_flight":8388608.0}]},"nodes":[
        {"name":"n1","target":"/m","cell":{"model":"EVO","unit":"1","slot":"1"},"medium":"0x1","attempts":1,
        "fate":{"fate":"recorded","id":"0ycatfq4g0"}},
        {"name":"n2","target":"/m","attempts":1,"fate":{"fate":"not_begun","cause":"no_target","reason":"no such file"}},
        {"name":"n3","target":"/m","attempts":1,"fate":{"fate":"medium_failed","id":"0ycatfq4g1","reason":"hung"}},
        {"name":"n4","target":"/m","attempts":0,"fate":null}]}"#;
    let one = |line: &&str| line.as_bytes().to_vec();
    let mut seeds: Vec<Vec<u8>> = events.iter().map(one).collect();
    seeds.extend([events.join("\n").into_bytes(), ledger.as_bytes().to_vec(), b"{\"version\":3}".to_vec()]);
    seeds
}
