//! The machine that measures, and who used its processors.

use std::sync::OnceLock;

use assay_core::record::Host;
use assay_core::text::label;

use super::sysctl::{number, text};

/// What the machine says of itself; `slot` is left to the user's label.
pub(crate) fn host() -> Option<Host> {
    Some(Host {
        hostname: label(&crate::host_name(), 128),
        board: text(c"hw.model"),
        cpu: text(c"machdep.cpu.brand_string"),
        cores: number(c"hw.logicalcpu").and_then(|cores| u32::try_from(cores).ok()),
        memory_bytes: number(c"hw.memsize"),
        // Records name a kernel of Linux by its number alone; macOS is told by its version and build.
        kernel: None,
        os: os(),
        governor: None,
        arch: Some(std::env::consts::ARCH.to_owned()),
        slot: None,
    })
}

fn os() -> Option<String> {
    let version = text(c"kern.osproductversion")?;
    let build = text(c"kern.osversion").map_or_else(String::new, |build| format!(" ({build})"));
    label(&format!("macOS {version}{build}"), 128)
}

/// What new programs can have is not told: the cache of files takes nearly all memory, and gives it back.
pub(crate) fn available_memory() -> Option<u64> {
    None
}

/// Ticks of all processors by what they did, in the order of `CPU_STATE_USER` and so on (mach/machine.h).
#[expect(deprecated, reason = "the crate that libc names instead is one more for one function")]
fn ticks() -> Option<[u32; libc::CPU_STATE_MAX as usize]> {
    static HOST: OnceLock<libc::mach_port_t> = OnceLock::new();
    // SAFETY: the call takes nothing and gives a number, of which each is to be given back: so it is asked for once.
    let host = *HOST.get_or_init(|| unsafe { libc::mach_host_self() });
    let mut load_info = libc::host_cpu_load_info { cpu_ticks: [0; libc::CPU_STATE_MAX as usize] };
    let mut words = libc::HOST_CPU_LOAD_INFO_COUNT;
    // SAFETY: the structure of this flavour, of as many words as are told, which is written for the time of the call.
    let status =
        unsafe { libc::host_statistics(host, libc::HOST_CPU_LOAD_INFO, (&raw mut load_info).cast(), &raw mut words) };
    (status == libc::KERN_SUCCESS).then_some(load_info.cpu_ticks)
}

/// Times of all processors, of this process and of its children that ended, in ticks of 10 ms. Those of other
/// processes, and of the kernel for whom, are not asked for. Each count has 32 bits: where one begins anew, nothing is told of the
/// time in which it did.
pub(crate) fn load() -> Option<[u64; 3]> {
    let [user, system, idle, nice] = ticks()?.map(u64::from);
    let user = user + nice;
    let own = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].into_iter().map(own_user).sum();
    Some([user + system + idle, user, own])
}

/// Time outside of the kernel in ticks of 10 ms; 0 where it is not told.
fn own_user(whose: libc::c_int) -> u64 {
    // SAFETY: a structure of numbers, for which zeros are values.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is written for the time of the call.
    if unsafe { libc::getrusage(whose, &raw mut usage) } != 0 {
        return 0;
    }
    let seconds = u64::try_from(usage.ru_utime.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(usage.ru_utime.tv_usec).unwrap_or(0);
    seconds.saturating_mul(100).saturating_add(microseconds / 10_000)
}
