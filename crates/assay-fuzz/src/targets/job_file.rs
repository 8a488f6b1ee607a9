//! fio's job files.

use assay_core::suite::{Suite, SuiteError};
use assay_fio::{JobFile, Wish, job_file};

use crate::claims;

/// Reads a job file that includes none.
fn read_job_file(text: &str, file: &str) -> Result<JobFile, SuiteError> {
    assay_fio::read_job_file(text, file, &|_| Err("no such file".to_owned()), &Wish::default())
}

/// A job file is read to a suite that could have been written as one, or refused in a line. The suite is
/// written as a job file again, which is read to the same suite.
pub(crate) fn run(data: &[u8]) {
    let text = claims::text(data);
    let read = match read_job_file(&text, "x.fio") {
        Ok(read) => read,
        Err(error) => {
            claims::one_line(&error);
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1, "line {}", error.line);
            return;
        }
    };
    read.notes.iter().for_each(claims::one_line);
    let suite = read.suite;
    let toml = suite.to_text();
    let same = Suite::parse(&toml, "x.toml").unwrap_or_else(|error| panic!("the suite of a job file is one: {error}"));
    assert_eq!(same.workloads.len(), suite.workloads.len());
    // Shares of a medium come to bytes, or are refused in a line.
    if let Err(why) = suite.settled(1 << 30) {
        claims::one_line(&why);
    }
    let written = job_file(&suite);
    // Each repeat is a section: a suite of many is long to write and to read.
    if written.len() < 1 << 16 && !written.contains(" is left out: ") {
        let again = read_job_file(&written, "x.fio").unwrap_or_else(|error| panic!("{error} in\n{written}"));
        assert_eq!(again.suite.workloads.len(), suite.workloads.len(), "{written}");
        assert_eq!(again.suite.repeats, suite.repeats, "{written}");
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let suites = [
        include_str!("../../../../suites/quick.toml"),
        include_str!("../../../../suites/read-only.toml"),
        include_str!("../../../../suites/smoke.toml"),
    ];
    let mut seeds: Vec<Vec<u8>> =
        suites.iter().filter_map(|text| Suite::parse(text, "x").ok()).map(|s| job_file(&s).into_bytes()).collect();
    seeds.extend(claims::texts(&[
        "[global]\nrw=randread\nbs=4k\nsize=256m\nruntime=10s\ntime_based\nioengine=libaio\niodepth=32\n[a]\n[b]\nstonewall\nrw=write\n",
        "[a-1]\nsize=1m\n[a-2]\nstonewall\nsize=1m\n[b-1]\nstonewall\nsize=1m\nrw=write\n",
        "; suite x version 1, 90000 ms, at most 5 bytes written: p\n[a-1]\nsize=1g\nnumjobs=4\nrw=rw\noffset_increment=256m\n",
        "[a]\nsize=1p\nbs=0x200\nkb_base=1000\nrwmixwrite=3\nrw=randrw\n",
        "[a]\nsize=18446744073709551615\nnumjobs=256\nbs=64m\nrw=randwrite\nfsync=1\n",
        "[\u{1b}[2J\u{202e}]\nsize=1m\n\u{9b}=3\n",
        "[a]\nsize=1m\nrw=randrw\nioengine=libaio\nprioclass=3\nbssplit=4k/40:64k/60,64k/100\ncmdprio_bssplit=64k/25/1/1:64k/75/3/2:4k/0,64k/9\n",
        "[a]\nsize=1m\nioengine=io_uring\nprio=7\ncmdprio_percentage=20,\ncmdprio_class=1,3\ncmdprio=,6\n",
        "include x\n",
        "[a]\nrw=\u{202e}read\n",
        "[a]\nruntime=99999999999999d\n",
        "[a]\nsize=1m\nnumjobs=3\n",
        "[a]\nfilename=/dev/x\nsize=50%\nrw=write:8k\nbs=4k\n[b]\nfilename=/dev/x\noffset=20%\nsize=5%\nrw=randrw\nbs=8k,16k\n",
        "[a]\nfilename=x:y\\:z\nsize=(1m*3)\nrw=rw\nrate_iops=7,3\nfsync=8\n[b]\nfill_device\nrw=read:-8k\n",
        "[a]\nfilename=x\nsize=4m\nnumjobs=3\noffset_increment=1g\nflow=2\nflow_sleep=10\nblockalign=1m\nrw=randread\n",
        "[a]\nsize=1m\nzonemode=strided\nzonesize=64k\nzoneskip=1m\n[b]\nsize=2m\niodepth=9\nlatency_target=5ms\nstonewall\n",
        "[a]\nsize=1m\nrw=write\ndedupe_percentage=9\nbuffer_compress_percentage=100\nbssplit=4k/50:8k,16k\n",
    ]));
    seeds.push(format!("[a]\n{}=1\n", "x".repeat(5000)).into_bytes());
    seeds.push(format!("[{}", "x".repeat(5000)).into_bytes());
    // Equal names: each is distinguished from all before it.
    seeds.push("[a]\nsize=1m\nstonewall\n".repeat(2000).into_bytes());
    seeds.push((1..1500).map(|n| format!("[a-{n}]\nsize=1m\nstonewall\n")).collect::<String>().into_bytes());
    seeds
}
