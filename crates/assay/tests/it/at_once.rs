//! Workloads at the same time, blocks of several sizes and pauses, from the suite to what is told.

use assay_core::finding::Finding;
use assay_core::outcome::Outcome;
use assay_core::record::Measurement;
use assay_lab::{Lab, Missing, skip};

use crate::common::{Place, random, run, suite};

fn grouped(name: &str, op: &str) -> String {
    random(name, op, "400ms") + "group = \"both\"\n"
}

fn contention() -> String {
    let workloads = [random("alone", "read", "400ms"), grouped("reader", "read"), grouped("writer", "write")];
    suite("pair", "20s", 2, &workloads)
}

#[test]
fn a_group_is_measured_at_once_and_told_apart_and_together() {
    let _lab = Lab::share();
    let place = Place::new();
    place.file("tiny.toml", contention());
    // On a busy machine one of them may come to its end before the other has begun to count.
    let cut = |m: &Measurement| m.warnings.iter().any(|w| matches!(w.finding, Finding::EndedByNeighbour { .. }));
    let mut runs = (0..4).map(|_| place.measured());
    let record = runs.find(|record| !record.measurements.iter().any(cut)).unwrap();
    assert_eq!(record.outcome, Outcome::Completed);
    let [alone, reader, writer] = &record.measurements[..] else { panic!("{:?}", record.measurements.len()) };
    assert!([alone, reader, writer].iter().all(|m| m.repeats.len() == 2 && m.iops.is_some()));
    assert_eq!((reader.workload.offset_bytes, writer.workload.offset_bytes), (0, 2 << 20));
    assert_eq!((alone.workload.span_bytes, reader.workload.span_bytes), (4 << 20, 2 << 20));
    let beside = reader.workload.together.as_ref().unwrap();
    assert_eq!(
        (beside.group.as_str(), beside.beside.as_slice()),
        ("both", ["random write 4 KiB".to_owned()].as_slice())
    );
    assert!(alone.workload.together.is_none());
    for (one, other) in reader.repeats.iter().zip(&writer.repeats) {
        assert_eq!(one.started, other.started, "they begin together");
    }
    let shown = run(place.assay(["show", "last"]));
    let words = shown.succeeds().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "random read 4 KiB and random write 4 KiB move",
        "beside the others",
        "the IOPS alone",
        "beside random write 4 KiB",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    place.assert_clean();
}

#[test]
fn groups_and_pauses_are_not_for_fio() {
    let place = Place::new();
    place.file("pair.toml", contention());
    let run_by_fio = || place.assay(["run", "--engine", "fio", "--suite", "pair.toml", "medium"]);
    run(run_by_fio()).refuses(2, &["`reader`", "use another engine"]);
    place.file("pair.toml", suite("t", "9s", 1, &[random("r", "read", "200ms") + "think = \"1ms\"\n"]));
    run(run_by_fio()).refuses(2, &["`r` has think time", "use another engine"]);
}

#[test]
fn a_job_file_with_jobs_at_once_becomes_a_suite_that_runs() {
    let _lab = Lab::share();
    let place = Place::new();
    place.file("disk.inc", "size=2m\n");
    place.file(
        "job.fio",
        "[global]\ninclude disk.inc\nruntime=300ms\nverify=crc32c\n[r]\nrw=randread\nbssplit=4k/50:16k/50\n[w]\nrw=write\nbs=64k\n\
         thinktime=1ms\nthinktime_blocks=4\n",
    );
    let imported = run(place.assay(["suite", "import", "job.fio", "-o", "tiny.toml"]));
    assert!(imported.succeeds().stderr.contains("`assay verify` does that"), "{}", imported.stderr);
    let record = place.measured();
    let [reader, writer] = &record.measurements[..] else { panic!() };
    assert_eq!(reader.workload.blocks.to_string(), "4KiB/50:16KiB/50");
    assert_eq!(writer.workload.think.unwrap().to_string(), "1 ms think time every 4");
    let repeat = &reader.repeats[0];
    let mean = repeat.bytes as f64 / repeat.operations as f64;
    assert!((6_000.0..15_000.0).contains(&mean), "{mean}");
    run(place.assay(["suite", "import", "tiny.toml"])).refuses(2, &["is not a job file of fio"]);
    place.file("job.fio", "[a]\ninclude ../medium/x\n");
    run(place.assay(["suite", "import", "job.fio"]))
        .refuses(2, &["job.fio:2: include", "in the folder of the job file"]);
    place.assert_clean();
}

/// What is exported is understood by fio itself.
#[test]
fn fio_reads_what_is_exported() {
    let place = Place::new();
    place.file("pair.toml", contention());
    for name in ["contention", "quick", "fsync", "pair.toml"] {
        run(place.assay(["suite", "export", name, "--format", "fio", "-o", "out.fio"])).succeeds();
        let mut fio = std::process::Command::new("fio");
        fio.arg("--parse-only").arg("out.fio").current_dir(place.path());
        match fio.output() {
            Err(_) => return skip("fio_reads_what_is_exported", &Missing("needs fio".to_owned())),
            Ok(read) => assert!(read.status.success(), "{name}: {}", String::from_utf8_lossy(&read.stderr)),
        }
    }
}
