//! The figures as Parquet, read by DuckDB: types, order and content, and the queries of docs/public.md.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_lab::{Missing, skip};
use serde_json::{Value, json};

use crate::samples::{Of, document, id_of};
use crate::server::{Server, account, sqlite};

const QUERY: &str = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall(), default=str))";

/// A Python with DuckDB.
fn python() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/python/bin/python");
    let has = |python: &PathBuf| {
        Command::new(python).args(["-c", "import duckdb"]).output().is_ok_and(|output| output.status.success())
    };
    [own, PathBuf::from("python3")].into_iter().find(has)
}

fn rows(python: &Path, directory: &Path, query: &str) -> Vec<Value> {
    let output = Command::new(python).args(["-c", QUERY, query]).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{query}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn duckdb_reads_the_figures() {
    let Some(python) = python() else {
        return skip("figures in DuckDB", &Missing("needs duckdb of Python (tests/install-peers.sh)".to_owned()));
    };
    let directory = tempfile::tempdir().unwrap();
    let (database, data) = (sqlite(directory.path()), directory.path().join("data"));
    let token = account(&database, "alice");
    let server = Server::start(&database, &[]);
    for seed in 1..=8u64 {
        let (model, speed) = if seed % 2 == 0 { ("Ä \"card\", 'b'", 0.7) } else { ("Card A", 1.0) };
        let of = Of { seed, model, unit: &format!("{model} {}", seed / 3), speed, ..Of::default() };
        assert_eq!(server.put(&token, &id_of(seed), document(of, "alice").as_bytes()).status, 201);
    }
    server.shows(8);
    assert!(server.stop());
    let server = Server::start(&database, &["--data", data.to_str().unwrap()]);
    while server.get("/data/manifest.json").status != 200 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    for name in ["figures.parquet", "figures.csv"] {
        std::fs::write(directory.path().join(name), server.get(&format!("/data/{name}")).body).unwrap();
    }
    let asked = |query: &str| rows(&python, directory.path(), query);
    assert_eq!(
        asked("SELECT count(*), count(DISTINCT id), count(iops_low) FROM 'figures.parquet'"),
        [json!([24, 8, 24])]
    );
    // What is not known is null; numbers are numbers.
    assert_eq!(asked("SELECT count(bridge), typeof(any_value(iops)) FROM 'figures.parquet'"), [json!([0, "DOUBLE"])]);
    let unsorted =
        "SELECT count(*) FROM (SELECT model, lag(model) OVER () AS before FROM 'figures.parquet') WHERE before > model";
    assert_eq!(asked(unsorted), [json!([0])]);
    let text = "read_csv('figures.csv', header = true, all_varchar = true)";
    let columns = "model, id, unit, load, verdict, CAST(iops AS DOUBLE), CAST(bytes_per_second AS DOUBLE)";
    let both = format!(
        "SELECT {columns} FROM 'figures.parquet' EXCEPT SELECT {columns} FROM {text} UNION ALL \
         (SELECT {columns} FROM {text} EXCEPT SELECT {columns} FROM 'figures.parquet')"
    );
    assert_eq!(asked(&both), Vec::<Value>::new(), "CSV and Parquet say the same");
    let page = include_str!("../../../../docs/public.md");
    let queries: Vec<&str> = page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(queries.len(), 3);
    let answers: Vec<Vec<Value>> = queries.iter().map(|query| asked(query)).collect();
    let models: Vec<&str> = answers[0].iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(models, ["SanDisk Card A, 64.0 GB", "SanDisk Ä \"card\", 'b', 64.0 GB"]);
    assert_eq!((&answers[0][0][1], &answers[0][0][2]), (&json!(3), &json!(1)), "{:?}", answers[0]);
    let [fast, slow] = [0, 1].map(|at: usize| answers[0][at][3].as_f64().unwrap());
    assert!((slow / fast - 0.7).abs() < 0.05, "{slow} {fast}");
    assert_eq!((answers[1].len(), answers[2].len()), (2, 2 * 3), "{answers:?}");
    assert_eq!(answers[1][0][1], "Raspberry Pi 5 Model B Rev 1.0");
    assert_eq!(answers[2][0][2], "2026-04-01 00:00:00");
}
