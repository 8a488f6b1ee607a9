//! fio's job files: what is read, what is refused and where, and that nothing is lost on the way.

use std::time::Duration;

use assay_core::arrivals::Process;
use assay_core::suite::{Suite, SuiteError};
use assay_core::units::Bytes;
use assay_core::workload::{Op, Pattern, Sync};
use assay_fio::{JobFile, JobPlace, Wish, job_file};
use proptest::prelude::*;

/// Reads a job file that includes none.
fn read_job_file(text: &str, file: &str) -> Result<JobFile, SuiteError> {
    assay_fio::read_job_file(text, file, &|_| Err("no such file".to_owned()), &Wish::default())
}

fn suite(name: &str) -> Suite {
    let path = format!("{}/../../suites/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the suite is there");
    Suite::parse(&text, &path).expect("the suite is sound")
}

#[test]
fn every_built_in_suite_comes_back_as_it_was_exported() {
    for name in [
        "quick",
        "smoke",
        "read-only",
        "blocks",
        "crystaldiskmark3",
        "crystaldiskmark5",
        "crystaldiskmark8",
        "pibenchmarks",
        "iozone",
        "sweep",
        "sd-class",
        "fsync",
    ] {
        let mut suite = suite(name);
        let back = read_job_file(&job_file(&suite), "x.fio").unwrap_or_else(|e| panic!("{name}: {e}"));
        // A job file does not say which tool a load was taken from.
        suite.workloads.iter_mut().for_each(|w| w.original = None);
        assert_eq!(back.suite, suite, "{name}");
    }
}

#[test]
fn jobs_mixes_syncs_and_odd_regions_come_back_too() {
    let text = "name = \"odd\"\nversion = 3\npurpose = \"a; b # c\"\nbudget = \"40s\"\nmax_write = \"1GiB\"\nrepeats = 1\nspan = \"64MiB\"\n\
        [[workload]]\nname = \"a-1\"\nop = \"mixed\"\nread_percent = 70\npattern = \"sequential\"\nblock = \"1MiB\"\nqueue_depth = 4\njobs = 3\n\
        [[workload]]\nname = \"b\"\nop = \"write\"\npattern = \"random\"\nblock = \"8k\"\njobs = 4\nsync = \"fdatasync\"\nduration = \"7s\"\nspan = \"32MiB\"\n\
        [[workload]]\nname = \"c\"\nop = \"read\"\npattern = \"random\"\nblock = \"512\"\ndirect = false\n";
    let suite = Suite::parse(text, "odd.toml").unwrap();
    assert_eq!(read_job_file(&job_file(&suite), "x.fio").unwrap().suite, suite);
}

/// fio's default, psync, has one operation in flight whatever its iodepth says.
#[test]
fn an_engine_that_is_not_named_keeps_no_queue() {
    let text = |engine| format!("[a]\nrw=randread\nbs=4k\nsize=64m\niodepth=16\nruntime=2\ntime_based\n{engine}");
    let depth = |engine| read_job_file(&text(engine), "x.fio").unwrap().suite.workloads[0].queue_depth;
    assert_eq!((depth(""), depth("ioengine=psync\n"), depth("ioengine=io_uring\n")), (1, 1, 16));
}

const FOREIGN: &str = "\
; what everybody has lying around
[global]
ioengine=libaio
direct=1 # past the cache
size=1g
runtime=30
time_based
group_reporting
filename=/mnt/card/test

[rand read]
rw=randread
bs=4k
iodepth=32
numjobs=4
norandommap

[commit]
stonewall
rw=randwrite
ioengine=psync
iodepth=16
bs=8k
fsync=1
runtime=1500ms
";

#[test]
fn a_foreign_file_becomes_a_suite_with_notes() {
    let read = read_job_file(FOREIGN, "/home/me/my card.fio").unwrap();
    let suite = &read.suite;
    assert_eq!((suite.name.as_str(), suite.repeats, suite.span), ("my-card", 1, Bytes(1 << 30)));
    assert!(suite.budget >= Duration::from_millis(31_500), "{:?}", suite.budget);
    let [read_job, commit] = suite.workloads.as_slice() else { panic!("{suite:?}") };
    assert_eq!((read_job.name.as_str(), read_job.op, read_job.pattern), ("rand-read", Op::Read, Pattern::Random));
    assert_eq!((read_job.queue_depth, read_job.jobs, read_job.direct), (32, 4, true));
    assert_eq!(read_job.duration, Some(Duration::from_secs(30)));
    assert_eq!((commit.queue_depth, commit.sync, commit.block), (1, Sync::Fsync, Bytes(8192)));
    assert!(suite.max_write.0 >= 4 * suite.span.0, "the test area fits");
    let notes = read.notes.join("\n");
    for words in ["file of filename= is not touched", "iodepth=16 is 1", "norandommap", "--max-write"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn a_job_file_says_where_it_is_run() {
    let place = |global: &str, job: &str| {
        let text = format!("[global]\nsize=64m\nrw=read\n{global}\n[a]\n{job}\n[b]\nstonewall\n{job}\n");
        read_job_file(&text, "x.fio").map(|read| read.place)
    };
    let directory = |path: &str| Ok(Some(JobPlace::Directory(path.into())));
    assert_eq!(read_job_file(FOREIGN, "x.fio").unwrap().place, Some(JobPlace::Directory("/mnt/card".into())));
    assert_eq!(place("directory=/mnt/card", ""), directory("/mnt/card"));
    assert_eq!(place("", "directory=/mnt/card\nfilename=sub/test"), directory("/mnt/card/sub"));
    assert_eq!(place("filename=deep/er/test", ""), directory("deep/er"));
    assert_eq!(place("filename=/dev/sdx", ""), Ok(Some(JobPlace::Device("/dev/sdx".into()))));
    assert_eq!(place("", ""), Ok(None));
    assert_eq!(place("filename=test", ""), Ok(None), "a file in the current directory");
    let refused = |global: &str, job: &str, line: usize, words: &str| {
        let error = place(global, job).unwrap_err();
        assert!(error.message.contains(words) && error.line == line, "{error}");
    };
    refused("directory=/a:/b", "", 4, "several places");
    refused("filename=/a/x:/b/x", "", 4, "several places");
    refused("filename=-", "", 4, "standard input");
    refused("directory=${ASSAY_IS_NOT_SET}", "", 4, "no value for `ASSAY_IS_NOT_SET`");
    refused("directory=$HOME", "", 4, "write it out");
    refused("directory=/a", "filename=/b/x", 6, "is a whole path");
    let two = "[a]\nsize=1m\ndirectory=/a\n[b]\nstonewall\nsize=1m\ndirectory=/b\n";
    let read = read_job_file(two, "x.fio").unwrap();
    assert_eq!((&read.place, &read.others), (&directory("/a").unwrap(), &vec![JobPlace::Directory("/b".into())]));
    assert!(read.suite.workloads.len() == 1 && read.notes[0].contains("a run measures one: /a here"), "{read:?}");
    let wish = Wish { at: Some("/b".into()), ..Wish::default() };
    let other = assay_fio::read_job_file(two, "x.fio", &|_| Err(String::new()), &wish).unwrap();
    assert_eq!((other.place, other.suite.workloads[0].name.as_str()), (directory("/b").unwrap(), "b"));
}

#[test]
fn jobs_without_a_file_name_have_one_each() {
    let read = read_job_file("[a]\nrw=write\nbs=1m\nsize=64m\nnumjobs=4\nruntime=5\n", "a.fio").unwrap();
    assert_eq!(read.suite.span, Bytes(256 << 20));
}

#[test]
fn options_of_logs_and_output_are_told_and_not_refused() {
    let text = "[global]\nwrite_bw_log=x\ngtod_reduce=1\npercentile_list=99:99.9\n[a]\nrw=randread\nfilesize=64m\nnrfiles=1\n\
                gtod_reduce=1\nstartdelay=5\nverify=crc32c\nloops=3\n";
    let read = read_job_file(text, "a.fio").unwrap();
    let expected_note = "[a]: ignored: write_bw_log, gtod_reduce, percentile_list";
    assert!(read.notes.iter().any(|note| note == expected_note), "{:?}", read.notes);
    for words in ["begin together", "`assay verify` does that", "--repeats"] {
        assert!(read.notes.iter().any(|note| note.contains(words)), "{words}: {:?}", read.notes);
    }
    assert_eq!(read.suite.span, Bytes(64 << 20));
}

#[test]
fn jobs_at_the_same_time_are_a_group_that_comes_back() {
    let text = "[global]\nsize=3m\n[r]\nrw=randread\nruntime=4\n[w]\nrw=write\nbssplit=4k/60:64k/40\nruntime=9\n\
                [s]\nstonewall\nrw=read\nthinktime=2ms\nthinktime_blocks=8\n[t]\nrw=randwrite\nsize=1m\n\
                random_distribution=zoned:50/5:30/15:20/\n";
    let read = read_job_file(text, "a.fio").unwrap();
    let groups: Vec<_> = read.suite.workloads.iter().map(|w| (w.group.as_deref(), w.duration)).collect();
    let nine = Some(Duration::from_secs(9));
    assert_eq!(
        groups,
        [(Some("group-1"), nine), (Some("group-1"), nine), (Some("group-2"), None), (Some("group-2"), None)]
    );
    assert_eq!(read.suite.span, Bytes(6 << 20), "each has a part");
    assert!(read.notes.iter().any(|note| note.contains("9 s, as the longest")), "{:?}", read.notes);
    let [_, w, s, t] = &read.suite.workloads[..] else { panic!() };
    assert_eq!((w.block, w.blocks.to_string().as_str()), (Bytes(64 << 10), "4KiB/60:64KiB/40"));
    assert_eq!(s.think.unwrap().to_string(), "2 ms think time every 8");
    assert_eq!(t.distribution.to_string(), "zones:50/5:30/15:20/80");
    let mut suite = read.suite;
    suite.repeats = 3;
    suite.workloads.iter_mut().for_each(|w| w.duration = None);
    assert_eq!(read_job_file(&job_file(&suite), "a.fio").unwrap().suite, suite, "{}", job_file(&suite));
    assert_eq!(Suite::parse(&suite.to_text(), "a.toml").unwrap(), suite);
}

/// fio's rates are those of each job, and its intervals are equal unless told otherwise.
#[test]
fn rates_and_distributions_are_taken_over_and_come_back() {
    let text = "[a]\nrw=randread\nsize=64m\nnumjobs=4\nrate_iops=100\nrandom_distribution=zipf:1.1\n\
                [b]\nstonewall\nrw=randread\nsize=64m\nrate=1m\nrate_process=poisson\n\
                random_distribution=zoned:80/20:20/80\n[c]\nstonewall\nrw=read\nsize=64m\n";
    let suite = read_job_file(text, "a.fio").unwrap().suite;
    let of = |at: usize| {
        let w = &suite.workloads[at];
        (w.rate.as_ref().map(ToString::to_string), w.process, w.distribution.to_string())
    };
    assert_eq!(of(0), (Some("400 iops".to_owned()), Process::Constant, "zipf:1.1".to_owned()));
    assert_eq!(of(1), (Some("1048576B/s".to_owned()), Process::Poisson, "hot:80/20".to_owned()));
    assert_eq!(of(2), (None, Process::default(), "uniform".to_owned()));
    let back = read_job_file(&assay_fio::job_file(&suite), "a.fio").unwrap().suite;
    let rates = |suite: &Suite| -> Vec<_> {
        suite
            .workloads
            .iter()
            .map(|w| (w.rate.clone(), w.rate.as_ref().map(|_| w.process), w.distribution.clone()))
            .collect()
    };
    assert_eq!(rates(&back), rates(&suite));
    let curve = job_file(&self::suite("load-curve"));
    assert_eq!(curve.matches("is left out: fio has no rate").count(), 10, "{curve}");
}

#[test]
fn every_mistake_names_its_line_and_the_option() {
    let job = |rest: &str| format!("[a]\nrw=randread\nsize=64m\n{rest}");
    for (text, line, words) in [
        (job("thinktime=2m\n"), 4, "at most 60s"),
        (job("thinktime=500\nrate=1m\n"), 4, "exclude each other"),
        (job("bssplit=4k/50:8k/60\n"), 4, "110 %"),
        (job("bssplit=4k/50:1000/50\n"), 4, "multiple of 512"),
        (job("bsrange=4k-5k\n"), 4, "use bssplit"),
        (job("wait_for=z\n"), 1, "wait_for maps only where"),
        (job("[b]\nsize=1m\n[c]\nwait_for=a\nsize=1m\n"), 6, "wait_for maps only where"),
        (job("[b]\nwait_for=a\nsize=1m\n[c]\nsize=1m\n"), 7, "add stonewall"),
        (job("verify_only\n"), 4, "`verify_only`"),
        (job("rw=randrw\nrate_iops=,5\n"), 5, "a rate of reads or of writes alone"),
        (job("rate=1000t\n"), 4, "more than 10 million"),
        (job("rate_process=late\n"), 4, "must be linear or poisson"),
        (job("random_distribution=zipf:1.1:0.3\n"), 4, "`zipf:1.1:0.3` does not map"),
        (job("random_distribution=zoned:50/5:30/15:30/80\n"), 4, "does not map"),
        (job("\n\n# x\nzonemode=zbd\n"), 7, "`zonemode`"),
        (job("direct=1\nbs=1000\n"), 5, "multiple of 512"),
        (job("bs=4KiB\ndirect=1\n"), 4, "fio reads KiB as 1000"),
        (job("bs=128m\n"), 4, "must be 1 B to 64 MiB"),
        (job("iodepth=0\n"), 4, "iodepth = 0 must be 1 to 1024"),
        (job("iodepth=-3\n"), 4, "iodepth = -3"),
        (job("numjobs=257\n"), 4, "1 to 256"),
        (job("runtime=10ms\n"), 4, "runtime must be"),
        (job("runtime=soon\n"), 4, "not a duration"),
        (job("ioengine=mmap\n"), 4, "ioengine `mmap`"),
        (job("direct=2\n"), 4, "must be 0 or 1"),
        (job("rwmixread=101\n"), 4, "0 to 100"),
        (job("rw=trim\n"), 4, "rw `trim`"),
        (job("bs\n"), 4, "bs needs a value"),
        (job("include other.fio\n"), 4, "include"),
        (job("rw=write\nfsync=1\nfdatasync=1\n"), 6, "exclude each other"),
        (job("sync=1\n"), 4, "write fdatasync=1"),
        (job("iodepth_low=3\n"), 4, "`iodepth_low`"),
        (job("continue_on_error=all\n"), 4, "ends with the first error"),
        (job("zonemode=strided\nzonesize=1m\n"), 4, "sequential jobs only"),
        (job("rw=read\nzonemode=strided\n"), 5, "needs zonesize"),
        (job("blockalign=4k,8k\nrw=randrw\n"), 4, "differs between reads and writes"),
        (job("filename=/dev/sdx:/dev/sdy\n"), 4, "write a section for each"),
        (job("size=101%\n"), 4, "0% to 100%"),
        (job("[b]\nsize=1m\n".repeat(64).as_str()), 130, "no more than 64"),
        (job("offset_increment=1m\n"), 4, "numjobs"),
        (job("size=2k\n"), 4, "less than a block"),
        ("rw=read\n".to_owned(), 1, "before any [section]"),
        ("[a\n".to_owned(), 1, "is not a section"),
        ("[a]\nrw=read\n".to_owned(), 1, "no size"),
        ("[global]\nsize=1m\n".to_owned(), 1, "no job"),
        (String::new(), 1, "no job"),
        ("[global]\nioscheduler=none\n[a]\nsize=1m\n".to_owned(), 2, "`ioscheduler`"),
    ] {
        let error = read_job_file(&text, "bad.fio").expect_err(&text);
        assert!(error.message.contains(words), "{text:?}: {error}");
        assert_eq!((error.line, error.file.as_str()), (line, "bad.fio"), "{text:?}: {error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

/// What fio's manual says of each, and what its system calls were seen to be.
#[test]
fn loads_beyond_their_blocks_are_taken_over() {
    let one = |text: &str| {
        let read = read_job_file(&format!("[a]\nsize=64m\nruntime=5\ntime_based\n{text}"), "x.fio");
        read.unwrap_or_else(|error| panic!("{text}: {error}")).suite.workloads.remove(0)
    };
    let stride = |text: &str| one(text).refined.stride.map(|stride| stride.to_string());
    assert_eq!(stride("rw=write:112k\nbs=16k\n").as_deref(), Some("16KiB/128KiB"));
    assert_eq!(stride("rw=read:-8k\nbs=4k\n").as_deref(), Some("4KiB/-4KiB"));
    let zones = "bs=64k\nzonemode=strided\nzonesize=1m\nzonerange=2m\nzoneskip=4m\n";
    assert_eq!(stride(zones).as_deref(), Some("1MiB/6MiB"));
    let mixed = one("rw=randrw\nbs=8k,16k\nrate_iops=70,30\nfsync=8\n");
    assert_eq!((mixed.block, mixed.refined.writes.to_string().as_str()), (Bytes(8192), "16KiB"));
    assert_eq!((mixed.read_percent, mixed.rate.unwrap().to_string().as_str()), (Some(70), "100 iops"));
    assert_eq!((mixed.sync, mixed.refined.sync_every, mixed.refined.align_bytes), (Sync::Fsync, 8, Some(8192)));
    assert_eq!(one("rw=write\nbs=8k,16k\nrate=,1m\n").block, Bytes(16 << 10));
    for (split, bytes) in [("64k/100", 65_536), ("4k/0:64k/100", 65_536), ("64k/100:8k/", 65_536), ("16k", 16_384)] {
        let one = one(&format!("rw=randread\nbssplit={split}\n"));
        assert_eq!(
            (one.block, one.blocks.is_empty()),
            (Bytes(bytes), true),
            "{split}: as fio, and not its default of 4k"
        );
    }
    assert_eq!(one("rw=randrw\nbssplit=4k/40:8k/60,1m/100\n").refined.writes.to_string(), "1MiB");
    assert!(one("rw=rw\n").refined.apart);
    assert_eq!(one("rw=randwrite\nbssplit=4k/50:8k/50\nba=1m\n").refined.align_bytes, Some(1 << 20));
    let uneven = one("rw=randwrite\nbssplit=512/50:8k/50\nba=4k\nrandom_distribution=zoned:50/5:30/15:20/80\n");
    assert_eq!((uneven.refined.align_bytes, uneven.distribution.is_uniform()), (Some(4096), false));
    assert_eq!(one("filename=a:b:c\nrw=write\n").refined.files, 3);
    assert_eq!(one("filename=a:b:c\nrw=write\nfile_service_type=sequential\n").refined.files, 0);
    assert!(one("filename=a\nnumjobs=4\nrw=read\n").refined.shared && !one("numjobs=4\n").refined.shared);
    let content = one("rw=write\ndedupe_percentage=30\nbuffer_compress_percentage=50\n").refined;
    assert_eq!((content.duplicate_percent, content.zero_percent), (30, 50));
    assert_eq!((one("rw=randrw\nrwmixread=100\n").op, one("rw=rw\nrwmixread=0\n").op), (Op::Read, Op::Write));
    assert_eq!(one("sync=0\nrate_iops=0\nzonemode=none\nthinktime=0\natomic=0\nfsync=0\n").rate, None);
    assert_eq!(one("rw=write\nbs=2300\nfdatasync=1\n").block, Bytes(2300), "cached I/O has any size");
}

#[test]
fn sizes_in_percent_and_of_devices_are_shares() {
    let read = |text: &str, wish: &Wish| assay_fio::read_job_file(text, "x.fio", &|_| Err(String::new()), wish);
    let device = "[global]\nfilename=/dev/sdx\nrw=randread\n";
    let suite = read(&format!("{device}[a]\nsize=20%\n[b]\nsize=20%\noffset=40%\n"), &Wish::default()).unwrap().suite;
    assert_eq!((suite.span_percent, suite.layout.name()), (Some(60.0), "none"));
    let settled = suite.settled(100 << 20).unwrap();
    let of = |at: usize| (settled.workloads[at].offset, settled.workloads[at].span);
    assert_eq!(of(0), (Some(Bytes(0)), Some(Bytes(20 << 20))));
    assert_eq!(of(1), (Some(Bytes(40 << 20)), Some(Bytes(20 << 20))));
    let whole = read(&format!("{device}[a]\noffset=1m\n"), &Wish::default()).unwrap().suite.settled(10 << 20).unwrap();
    assert_eq!((whole.span, whole.workloads[0].span), (Bytes(10 << 20), Some(Bytes(9 << 20))), "all behind the offset");
    let file = "[a]\nrw=write\n";
    assert!(read(file, &Wish::default()).unwrap_err().message.contains("--size"));
    let wish = Wish { size: Some(assay_fio::Amount::Bytes(8 << 20)), ..Wish::default() };
    assert_eq!(read(file, &wish).unwrap().suite.span, Bytes(8 << 20));
    let filled = read("[a]\nfill_device=1\nrw=write\nfilename=x\n", &Wish::default()).unwrap().suite;
    assert_eq!((filled.span_percent, filled.layout.name()), (Some(100.0), "whole"));
}

#[test]
fn jobs_of_one_file_are_at_one_place_and_increments_are_jobs_apart() {
    let text = "[global]\nfilename=x\nsize=8m\nrw=randread\n[r]\nflow=2\n[w]\nrw=write\noffset=8m\nflow=1\n";
    let suite = read_job_file(text, "x.fio").unwrap().suite;
    let [r, w] = &suite.workloads[..] else { panic!() };
    assert_eq!((r.offset, w.offset, suite.span), (Some(Bytes(0)), Some(Bytes(8 << 20)), Bytes(16 << 20)));
    assert_eq!((r.refined.flow.unwrap().weight, r.group.as_deref()), (2, Some("group-1")));
    let text = "[a]\nfilename=x\nsize=4m\nrw=write:12k\nnumjobs=3\noffset=64k\noffset_increment=16m\n";
    let suite = read_job_file(text, "x.fio").unwrap().suite;
    let places: Vec<u64> = suite.workloads.iter().map(|w| w.offset.unwrap().0 >> 10).collect();
    assert_eq!((places.as_slice(), suite.workloads[0].jobs), (&[64, 16_448, 32_832][..], 1));
    let depths = "[a]\nsize=4m\nrw=randread\nioengine=libaio\niodepth=8\nlatency_target=500\nlatency_percentile=99.9\n";
    let read = read_job_file(depths, "x.fio").unwrap();
    let found: Vec<u32> = read.suite.workloads.iter().map(|w| w.queue_depth).collect();
    assert_eq!(found, [1, 2, 4, 8]);
    assert!(read.notes.iter().any(|note| note.contains("99.9 % are within 500us")), "{:?}", read.notes);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,300}") {
        let _ = read_job_file(&text, "x.fio");
    }

    #[test]
    fn no_mixture_of_options_makes_it_panic_or_gives_a_suite_that_cannot_be(
        lines in prop::collection::vec(
            (prop::sample::select(vec![
                "[a]", "[b-1]", "[b-2]", "[global]", "; suite x version 1, 2000 ms, at most 9 bytes written: p", "stonewall",
                "rw", "bs", "size", "numjobs", "iodepth", "runtime", "offset_increment", "ioengine", "fsync", "rwmixread",
                "filename", "kb_base", "direct", "buffered", "ramp_time", "time_based",
            ]), prop::sample::select(vec![
                "", "=", "=0", "=1", "=2", "=4k", "=1m", "=64m", "=16777215t", "=18446744073709551615", "=randrw", "=write",
                "=io_uring", "=50", "=1000", "=1s", "=-1", "=x",
            ])), 0..25)
    ) {
        let text: String = lines.iter().map(|(k, v)| if k.starts_with(['[', ';']) { format!("{k}\n") } else { format!("{k}{v}\n") }).collect();
        if let Ok(read) = read_job_file(&text, "x.fio") {
            for w in &read.suite.workloads {
                prop_assert!(w.block.0.is_multiple_of(512) && w.queue_depth >= 1 && w.jobs >= 1);
                let span = w.span.unwrap_or(read.suite.span).0;
                prop_assert!(span <= read.suite.span.0 && w.block.0 * u64::from(w.jobs) <= span, "{text}");
                prop_assert_eq!(w.read_percent.is_some(), w.op == Op::Mixed);
            }
            let names: std::collections::HashSet<_> = read.suite.workloads.iter().map(|w| &w.name).collect();
            prop_assert_eq!(names.len(), read.suite.workloads.len());
        }
    }
}

#[test]
fn a_refusal_repeats_no_character_that_a_terminal_obeys_and_nothing_long() {
    let escapes = "\u{1b}[2J\u{202e}\u{9b}";
    for text in [escapes.to_owned(), "x".repeat(3000)] {
        for file in [
            format!("[a]\n{text}=1\n"),
            format!("[{text}]\nrw=read\n"),
            format!("[{text}\n"),
            format!("{text}=1\n"),
            format!("[a]\nrw={text}\n"),
            format!("[a]\nbs={text}\n"),
            format!("[a]\nruntime={text}\n"),
            format!("[a]\nioengine={text}\n"),
            format!("[a]\niodepth={text}\n"),
            format!("[a]\ndirect={text}\n"),
        ] {
            let message = read_job_file(&file, "bad.fio").unwrap_err().message;
            assert_eq!(assay_core::text::harmless(&message), message);
            assert!(message.chars().count() < 250, "{message}");
        }
    }
}

/// A file of the largest size that is read; each name was tried against all before it, for hours.
#[test]
fn equal_names_are_told_apart_in_no_time() {
    let file = "[a]\nsize=1m\nstonewall\n".repeat(40_000);
    let names: Vec<String> =
        read_job_file(&file, "x.fio").unwrap().suite.workloads.into_iter().map(|w| w.name).collect();
    assert_eq!((names[0].as_str(), names[1].as_str(), names[39_999].as_str()), ("a", "a_2", "a_40000"));
}

/// As fio 3.33 was seen to take them: a level without a class is one of best effort, and of the classes of single operations
/// the highest is the default.
#[test]
fn priorities_are_taken_over() {
    let read = |text: &str| {
        let read = read_job_file(&format!("[a]\nsize=64m\nruntime=5\nioengine=libaio\niodepth=8\n{text}"), "x.fio");
        read.map(|mut file| file.suite.workloads.remove(0)).map_err(|error| (error.line, error.message))
    };
    let said = |text: &str| read(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).priorities.to_string();
    for (text, words) in [
        ("rw=randread\nprioclass=3\ncmdprio_percentage=20\ncmdprio_class=1\n", "priority idle, 20 % realtime"),
        ("rw=randread\nprio=5\n", "priority best-effort/5"),
        ("rw=randread\nprioclass=0\nprio=0\n", "priority best-effort"),
        ("rw=randread\ncmdprio_class=2\ncmdprio=4\nlog_prio=1\npriohint=0\n", ""),
        ("rw=randrw\ncmdprio_percentage=20\n", "20 % realtime"),
        ("rw=randrw\ncmdprio_percentage=0,20\ncmdprio_class=1,3\ncmdprio=,6\n", "20 % of writes idle/6"),
        ("rw=write\ncmdprio_percentage=20,0\n", ""),
        ("rw=randread\nbssplit=4k/50:64k/50\ncmdprio_bssplit=4k/0:64k/30\n", "30 % of 64KiB realtime"),
        ("rw=randread\nbs=4k\ncmdprio_bssplit=4k/30/0/2/0:8k/9\n", "30 % best-effort/2"),
        ("rw=randrw\ncmdprio_bssplit=,4k/100/2/3\n", "100 % of writes best-effort/3"),
    ] {
        assert_eq!(said(text), words, "{text}");
    }
    for (text, line, words) in [
        ("rw=randread\nprio=8\n", 7, "prio = `8` must be 0 to 7"),
        ("rw=randread\ncmdprio_class=0\n", 7, "1 to 3"),
        ("rw=randread\ncmdprio_percentage=101\n", 7, "0 to 100"),
        ("rw=randread\ncmdprio_bssplit=4k/50:4k/60\n", 7, "110 %"),
        ("rw=randread\ncmdprio_bssplit=4k/50/1\n", 7, "SIZE/PERCENT/CLASS/LEVEL"),
        ("rw=randread\ncmdprio_bssplit=4k/50/1/0/3\n", 7, "hint"),
        ("rw=randread\ncmdprio_hint=2\n", 7, "`cmdprio_hint`"),
        ("rw=randread\ncmdprio_percentage=9\ncmdprio_bssplit=4k/5\n", 8, "exclude each other"),
        ("rw=randread\nioengine=psync\ncmdprio_percentage=9\n", 8, "ioengine=io_uring and libaio"),
        ("rw=randwrite\nfsync=1\ncmdprio_percentage=9\n", 8, "without a sync after each write"),
    ] {
        let (at, message) = read(text).expect_err(text);
        assert!(at == line && message.contains(words) && !message.contains('\n'), "{text}: {at}: {message}");
    }
}

#[test]
fn priorities_come_back_as_they_were_exported() {
    let workload = |name: &str, more: &str| format!("[[workload]]\nname = \"{name}\"\npattern = \"random\"\n{more}");
    let mixed =
        "op = \"mixed\"\nread_percent = 50\nblocks = \"4KiB/60:64KiB/40\"\nwrite_block = \"1MiB\"\nalign = \"4KiB\"\n";
    let text = [
        "name = \"p\"\nversion = 1\npurpose = \"p\"\nbudget = \"40s\"\nmax_write = \"1GiB\"\nrepeats = 1\nspan = \"64MiB\"\n",
        &workload("job", "op = \"read\"\nblock = \"4KiB\"\npriority = \"best-effort/7\"\n"),
        &workload("one", "op = \"write\"\nblock = \"4KiB\"\npriority_shares = \"20 % realtime/2\"\n"),
        &workload("two", "op = \"read\"\nblock = \"4KiB\"\nqueue_depth = 4\npriority_shares = \"5 % realtime, 9 % idle\"\n"),
        &workload("split", &format!("{mixed}priority = \"idle\"\npriority_shares = \"25 % of 64KiB reads realtime/1, 75 % of writes idle/2\"\n")),
    ]
    .concat();
    let suite = Suite::parse(&text, "p.toml").unwrap();
    assert_eq!(Suite::parse(&suite.to_text(), "p.toml").unwrap(), suite);
    let exported = job_file(&suite);
    let back = read_job_file(&exported, "x.fio").unwrap_or_else(|error| panic!("{error}\n{exported}"));
    assert_eq!(back.suite, suite, "{exported}");
    // fio looks at options of an engine behind its name alone.
    let (engine, shares) = (exported.find("ioengine=io_uring").unwrap(), exported.find("cmdprio_percentage").unwrap());
    assert!(engine < shares, "{exported}");
}
