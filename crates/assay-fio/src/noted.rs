//! Options with a note: assay does what they ask for in another way, or not at all, and says so.

use crate::given::Given;

/// What these say is about fio's own clock, logs and output, its generator of offsets, how it makes and removes its
/// files, and when it ends jobs beside each other: assay does each in its own way.
const OF_FIO_ALONE: [&str; 60] = [
    "allow_file_create",
    "allrandrepeat",
    "buffer_compress_chunk",
    "bwavgtime",
    "clat_percentiles",
    "clocksource",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_working_set_percentage",
    "disable_bw",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "exit_what",
    "exitall",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "gtod_cpu",
    "gtod_reduce",
    "hugepage-size",
    "ignore_zone_limits",
    "io_submit_mode",
    "iomem",
    "iopsavgtime",
    "lat_percentiles",
    "lockmem",
    "log_avg_msec",
    "log_compression",
    "log_compression_cpus",
    "log_entries",
    "log_hist_coarseness",
    "log_hist_msec",
    "log_issue_time",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_store_compressed",
    "log_unix_epoch",
    "mem",
    "new_group",
    "overwrite",
    "per_job_logs",
    "percentile_list",
    "random_generator",
    "randseed",
    "significant_figures",
    "slat_percentiles",
    "thinktime_blocks_type",
    "unified_rw_reporting",
    "unlink",
    "userspace_reap",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// Options with what is done instead.
const REPLACEMENTS: [(&[&str], &str); 9] = [
    (
        &[
            "verify",
            "do_verify",
            "verify_async",
            "verify_async_cpus",
            "verify_backlog",
            "verify_backlog_batch",
            "verify_dump",
            "verify_fatal",
            "verify_header_seed",
            "verify_interval",
            "verify_offset",
            "verify_pattern",
            "verify_state_save",
            "verify_write_sequence",
            "verifysort",
            "verifysort_nr",
        ],
        "what is written is not read back and compared by a run; `assay verify` does that on the same directory or device",
    ),
    (
        &[
            "steadystate",
            "ss",
            "steadystate_duration",
            "ss_dur",
            "steadystate_ramp_time",
            "ss_ramp",
            "steadystate_check_interval",
            "ss_interval",
        ],
        "a repeat lasts its runtime; whether it was steady is judged and shown",
    ),
    (&["nrfiles", "openfiles"], "the files of a job are parts of one file, which a stream goes through in turns"),
    (
        &["loops"],
        "a repeat lasts its time, however often it goes through the area; --repeats sets how often it is made",
    ),
    (&["number_ios", "io_size", "io_limit"], "a repeat is ended by its time and not by what was done"),
    (
        &["numa_cpu_nodes", "numa_mem_policy", "cpus_allowed", "cpus_allowed_policy", "cpumask"],
        "processors are chosen by --cpus, and else by the kernel, as memory is",
    ),
    (&["hipri"], "completions are polled for with --poll alone"),
    (
        &["ratemin", "rate_min", "rate_iops_min", "rate_cycle", "ratecycle"],
        "a rate that is not reached is reported, and does not end the run",
    ),
    (&["startdelay"], "jobs that run at the same time begin together"),
];

/// What is to be said of an option.
pub(crate) enum Noted {
    /// It is in the list of those that assay does in its own way.
    Named,
    /// This.
    Replaced(&'static str),
}

/// What is to be said of an option that is taken note of; `None` where it is none of them.
pub(crate) fn noted(key: &str) -> Option<Noted> {
    if OF_FIO_ALONE.contains(&key) {
        return Some(Noted::Named);
    }
    REPLACEMENTS.iter().find(|(keys, _)| keys.contains(&key)).map(|(_, words)| Noted::Replaced(words))
}

// Options that change nothing that is measured: at their default, or about what assay does in any case.

/// Options with the values that are as if they were not there, and what can be said of any other value.
const AT_DEFAULT: [(&[&str], &[&str], &str); 21] = [
    (&["sync"], &["0", "none"], "write fdatasync=1, which syncs after each write"),
    (&["atomic"], &["0"], "atomic writes are not made"),
    (&["serialize_overlap"], &["0"], "operations are not held back where they meet others in flight"),
    (&["continue_on_error"], &["none", "0"], "a run ends with the first error, which is a result"),
    (&["ignore_error"], &["0"], "a run ends with the first error, which is a result"),
    (&["error_dump"], &["0", "1"], ""),
    (&["iodepth_low"], &["0"], "as soon as one operation is done the next begins; remove it"),
    (&["priohint", "cmdprio_hint"], &["0"], "priorities have no hints, such as those for command duration limits"),
    (&["percentage_random"], &["100"], "use rw=read or rw=randread, or jobs at the same time"),
    (&["percentage_sequential"], &["0"], "use rw=read or rw=randread, or jobs at the same time"),
    (&["rw_sequencer"], &["sequential"], "each operation goes on from the one before"),
    (&["pre_read"], &["0"], "the page cache is emptied before a run; remove it"),
    (&["file_append"], &["0"], "assay measures in a file of its own"),
    (&["create_only"], &["0"], "remove the job, which only makes files"),
    (&["allow_mounted_write"], &["0", "1"], ""),
    (&["bs_is_seq_rand", "bs_unaligned"], &["0"], "give sizes of reads and of writes"),
    (&["buffer_pattern"], &["0"], "use zero_buffers or dedupe_percentage"),
    (&["max_latency"], &["0"], "latencies are reported, and end no run"),
    (&["rate_ignore_thinktime"], &["0", "1"], ""),
    (&["sqthread_poll", "nonvectored", "force_async", "nowait"], &["0"], "operations are submitted by the job itself"),
    (&["experimental_verify", "verify_only", "trim_percentage"], &["0"], "use `assay verify`"),
];

/// Whether an option changes nothing that is measured; its value is checked all the same.
///
/// # Errors
/// What its value is, where that is not the default.
pub(crate) fn changes_nothing(option: Given<'_, '_>) -> Result<bool, String> {
    let key = option.key;
    let known = AT_DEFAULT.iter().find(|(keys, _, _)| keys.contains(&key));
    if let Some((_, values, mend)) = known {
        // A switch without a value is on.
        let value = option.value.unwrap_or("1");
        return match values.contains(&value) {
            true => Ok(true),
            false => Err(format!("option `{key}` does not map to a workload of assay: {mend}")),
        };
    }
    match key {
        "name" => {
            option.text()?;
        }
        "loops" => return Ok(option.text()? == "1"),
        "iodepth_batch"
        | "iodepth_batch_submit"
        | "iodepth_batch_complete"
        | "iodepth_batch_complete_min"
        | "iodepth_batch_complete_max" => {
            option.text()?.parse::<u32>().map_err(|_| format!("{key} must be a whole number"))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_told() {
        assert!(matches!(noted("verify"), Some(Noted::Replaced(words)) if words.contains("assay verify")));
        assert!(matches!(noted("write_bw_log"), Some(Noted::Named)));
        assert!(noted("zonemode").is_none() && noted("verify_only").is_none());
    }

    #[test]
    fn a_default_is_taken_and_anything_else_is_named() {
        let of = |key, value| changes_nothing(Given { key, value, line: 1, base: 1024 });
        assert_eq!(
            (of("sync", Some("0")), of("priohint", Some("0")), of("loops", Some("1"))),
            (Ok(true), Ok(true), Ok(true))
        );
        assert_eq!((of("size", Some("0")), of("loops", Some("3"))), (Ok(false), Ok(false)));
        assert!(of("sync", Some("1")).unwrap_err().contains("fdatasync=1"));
        assert!(of("atomic", None).unwrap_err().contains("`atomic`"));
    }
}
