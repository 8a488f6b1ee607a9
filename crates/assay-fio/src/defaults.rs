//! Options that change nothing that is measured: at their default, or about what assay does in any case.

use crate::given::Given;

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
