//! Priorities of operations: ioprio_set(2) for those of a thread; io_uring takes them with each of its entries, too.

use assay_core::priority::Priority;

/// Whether operations can have a priority.
pub const PRIORITIES: bool = true;
/// `IOPRIO_WHO_PROCESS` of include/uapi/linux/ioprio.h: a thread by its number, this one where that is 0.
const WHO_PROCESS: libc::c_int = 1;

/// Gives the operations of this thread a priority from now on.
pub(crate) fn prioritise(priority: Priority) -> Result<(), String> {
    let (this, value) = (0 as libc::c_int, libc::c_int::from(priority.value()));
    // SAFETY: the call takes three numbers and touches no memory of this process.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, this, value) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel tells of a thread is what was asked of it.
    #[test]
    fn the_kernel_knows_the_priority_of_a_thread() {
        for text in ["best-effort/7", "idle", "best-effort"] {
            let priority = Priority::parse(text).unwrap();
            let told = std::thread::spawn(move || {
                prioritise(priority).unwrap();
                // SAFETY: as above.
                unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, 0 as libc::c_int) }
            });
            assert_eq!(told.join().unwrap(), libc::c_long::from(priority.value()), "{text}");
        }
    }
}
