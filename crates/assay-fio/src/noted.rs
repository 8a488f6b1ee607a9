//! Options with a note: assay does what they ask for in another way, or not at all, and says so.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_told() {
        assert!(matches!(noted("verify"), Some(Noted::Replaced(words)) if words.contains("assay verify")));
        assert!(matches!(noted("write_bw_log"), Some(Noted::Named)));
        assert!(noted("zonemode").is_none() && noted("verify_only").is_none());
    }
}
