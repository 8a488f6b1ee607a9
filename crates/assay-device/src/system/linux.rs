//! Linux, and functions that all Unix systems share.
//!
//! Disks are asked by the requests `MMC_IOC_CMD`, `NVME_IOCTL_ADMIN_CMD` and `SG_IO`. Devices are opened for reading, so that
//! closing them tells udev nothing. Command numbers are fixed in the functions below; each moves data from the disk to the host.

use std::ffi::{c_int, c_void};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::{io, ptr};

use assay_core::health::NoAnswer;
use assay_core::record::Host;
use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::ioctl::{Getter, Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::DeviceError;
use crate::files::Stat;
use crate::health::{Ask, Disk, Question, Refusal};
use crate::look::{Seen, TargetInfo, What};
use crate::storage::Backing;

/// Root of the kernel's trees.
pub(crate) const ROOT: &str = "/";

/// Fills `bytes` with unpredictable random data (getrandom(2)).
///
/// # Errors
/// The system's.
pub fn random(bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match getrandom(rest, GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Queries the kernel, and not the server of a network file system, which may never answer (statx(2),
/// `AT_STATX_DONT_SYNC`).
pub(crate) fn stat(path: &Path) -> Option<Stat> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO).ok()?;
    let is_block = FileType::from_raw_mode(stat.stx_mode.into()) == FileType::BlockDevice;
    Some(Stat {
        of_block_device: is_block.then_some((stat.stx_rdev_major, stat.stx_rdev_minor)),
        device: (stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
    })
}

/// The kernel's backing of the loop device with this number at `path`; `None` if it is detached.
///
/// # Errors
/// Where the device cannot be opened, or the kernel does not answer.
pub(crate) fn loop_backing(path: &Path, number: (u32, u32)) -> io::Result<Option<Backing>> {
    /// `LOOP_GET_STATUS64` of linux/loop.h.
    const STATUS: Opcode = 0x4C05;
    /// The first three words of `struct loop_info64`, and the rest of its 232 bytes.
    #[repr(C)]
    struct LoopInfo {
        device: u64,
        inode: u64,
        rdevice: u64,
        rest: [u64; 26],
    }
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let rdev = file.metadata()?.rdev();
    if (rustix::fs::major(rdev), rustix::fs::minor(rdev)) != number {
        return Err(io::Error::other(format!("{} is another device", path.display())));
    }
    // SAFETY: for this request the kernel writes a `struct loop_info64`, which the type has the layout of; any bytes
    // are valid for it.
    let answer = unsafe { ioctl(&file, Getter::<STATUS, LoopInfo>::new()) };
    let info = match answer {
        Ok(info) => info,
        Err(Errno::NXIO) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let of = |number: u64| (rustix::fs::major(number), rustix::fs::minor(number));
    // For a file, older kernels also return the number of its file system as the third one (drivers/block/loop.c).
    Ok(Some(match info.rdevice {
        0 => Backing::File { device: of(info.device), inode: info.inode },
        rdevice if rdevice == info.device => Backing::File { device: of(info.device), inode: info.inode },
        rdevice => Backing::Device(of(rdevice)),
    }))
}

/// The fsid of the btrfs that holds `path`; `None` for another file system.
pub(crate) fn btrfs_id(path: &Path) -> Option<[u8; 16]> {
    /// `struct btrfs_ioctl_fs_info_args` of linux/btrfs.h, whose size is part of the request.
    #[repr(C)]
    struct FsInfo {
        max_id: u64,
        devices: u64,
        fsid: [u8; 16],
        rest: [u64; 124],
    }
    /// `BTRFS_IOC_FS_INFO`.
    const INFO: Opcode = opcode::read::<FsInfo>(0x94, 31);
    /// `BTRFS_SUPER_MAGIC` of linux/magic.h.
    const BTRFS: u64 = 0x9123_683e;
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).ok()?;
    // Only btrfs is opened: for others the request may mean something else.
    let kind = rustix::fs::statfs(path).ok()?.f_type as u64;
    let file = (kind == BTRFS).then(|| OpenOptions::new().read(true).custom_flags(flags).open(path).ok())??;
    // SAFETY: for this request btrfs fills the structure, which is as large as its own; any bytes are valid for it.
    unsafe { ioctl(&file, Getter::<INFO, FsInfo>::new()) }.ok().map(|info| info.fsid)
}

/// Kind and device of a path without links.
pub(crate) fn seen(path: &Path) -> Result<Seen, DeviceError> {
    let meta = fs::metadata(path).map_err(|error| DeviceError::from_io(path, error))?;
    let (what, dev) = match meta.file_type().is_block_device() {
        true => (What::BlockDevice, meta.rdev()),
        false => (What::from_metadata(path, &meta)?, meta.dev()),
    };
    Ok(Seen { what, dev: (rustix::fs::major(dev), rustix::fs::minor(dev)) })
}

/// Refuses a path to something that is not measured on this system.
pub(crate) fn refuse(_path: &Path) -> Result<(), DeviceError> {
    Ok(())
}

/// The kernel's log, opened without blocking: it returns what is available.
pub(crate) fn kernel_log() -> Option<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").ok()
}

/// Read from the kernel's trees instead.
pub(crate) fn host() -> Option<Host> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn available_memory() -> Option<u64> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn target(_path: &Path, _seen: Seen) -> Option<TargetInfo> {
    None
}

/// Read from the kernel's trees instead.
pub(crate) fn load() -> Option<[u64; 3]> {
    None
}

// Functions that all Unix systems share.

/// Name of this host according to the system.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Reads at an offset; returns the number of bytes.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// A path as people write it.
pub(crate) fn as_written(path: &str) -> String {
    path.to_owned()
}

/// Bytes of each answer.
const BLOCK: usize = 512;
/// How long the kernel waits for one answer, in milliseconds.
const TIMEOUT_MS: u32 = 3000;

/// The system.
#[derive(Debug)]
pub(crate) struct SystemAsks {
    /// Whether the trees are of this machine, so that their devices are here.
    pub(crate) is_here: bool,
}

impl Ask for SystemAsks {
    fn ask(&self, disk: &Disk, question: Question) -> Result<Vec<u8>, Refusal> {
        if !self.is_here {
            return Err(NoAnswer::NotHere.into());
        }
        let file = open(disk).map_err(refusal)?;
        match question {
            // CMD8 of an eMMC has no argument; of an SD card it is another command, so only an eMMC is asked.
            Question::ExtCsd => card(&file, 8, 0),
            Question::SdVendor(argument) => card(&file, 56, argument.value()),
            Question::NvmeSmart => nvme_log(&file, 2),
            Question::NvmeErrors => nvme_log(&file, 1),
            Question::AtaIdentify => ata(&file, &AtaCommand { command: 0xec, ..AtaCommand::default() }),
            Question::AtaSmartData => ata(&file, &AtaCommand::smart(0xd0)),
            Question::AtaSmartThresholds => ata(&file, &AtaCommand::smart(0xd1)),
            Question::AtaStatistics(page) => ata(
                &file,
                &AtaCommand { command: 0x2f, lba: [0x04, page, 0], is_extended: true, ..AtaCommand::default() },
            ),
        }
    }
}

fn open(disk: &Disk) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(&disk.path)?;
    let rdev = file.metadata()?.rdev();
    if (rustix::fs::major(rdev), rustix::fs::minor(rdev)) != disk.number {
        return Err(io::Error::other("the node is of another device"));
    }
    Ok(file)
}

fn refusal(error: io::Error) -> Refusal {
    let why = match Errno::from_io_error(&error) {
        Some(Errno::PERM | Errno::ACCESS) => NoAnswer::NeedsRoot,
        // A card that does not know the command does not answer it.
        Some(Errno::NOTTY | Errno::NOSYS | Errno::OPNOTSUPP | Errno::TIMEDOUT) => NoAnswer::NotSupported,
        Some(Errno::NOENT | Errno::NXIO | Errno::NODEV) => NoAnswer::NotHere,
        _ => NoAnswer::Refused,
    };
    let detail = matches!(why, NoAnswer::Refused).then(|| assay_core::text::harmless(&error.to_string()));
    Refusal { why, detail }
}

/// A request with a structure that the kernel reads and fills; its result is the request's.
struct Passed<'a, const OPCODE: Opcode, T>(&'a mut T);

// SAFETY: the opcode belongs to a request whose structure `T` has the layout of, which each use below says; the structure is
// borrowed for as long as the request lasts.
unsafe impl<const OPCODE: Opcode, T> Ioctl for Passed<'_, OPCODE, T> {
    type Output = c_int;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(result: IoctlOutput, _: *mut c_void) -> rustix::io::Result<c_int> {
        Ok(result)
    }
}

/// `struct mmc_ioc_cmd` of linux/mmc/ioctl.h.
#[repr(C)]
#[derive(Default)]
struct MmcCommand {
    write_flag: c_int,
    is_acmd: c_int,
    opcode: u32,
    arg: u32,
    response: [u32; 4],
    flags: u32,
    blksz: u32,
    blocks: u32,
    postsleep_min_us: u32,
    postsleep_max_us: u32,
    data_timeout_ns: u32,
    cmd_timeout_ms: u32,
    pad: u32,
    data_ptr: u64,
}

const MMC_IOC_CMD: Opcode = opcode::read_write::<MmcCommand>(179, 0);
/// Answer R1 and a transfer of data with the address (`MMC_RSP_SPI_R1 | MMC_RSP_R1 | MMC_CMD_ADTC` of linux/mmc/core.h).
const R1_WITH_DATA: u32 = 1 << 7 | 1 << 4 | 1 << 2 | 1 | 1 << 5;

/// One block from a card or an eMMC.
fn card(file: &File, number: u32, argument: u32) -> Result<Vec<u8>, Refusal> {
    let mut block = vec![0u8; BLOCK];
    let mut command = MmcCommand {
        write_flag: 0, // from the card
        opcode: number,
        arg: argument,
        flags: R1_WITH_DATA,
        blksz: BLOCK as u32,
        blocks: 1,
        data_ptr: block.as_mut_ptr().expose_provenance() as u64,
        ..MmcCommand::default()
    };
    // SAFETY: the structure is that of the request, and its pointer leads to a block of the size that it says, which the kernel
    // fills before the request returns.
    unsafe { ioctl(file, Passed::<MMC_IOC_CMD, MmcCommand>(&mut command)) }.map_err(|error| refusal(error.into()))?;
    Ok(block)
}

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

const NVME_ADMIN_CMD: Opcode = opcode::read_write::<NvmeCommand>(b'N', 0x41);

/// 512 bytes of a log of the whole drive.
fn nvme_log(file: &File, log: u32) -> Result<Vec<u8>, Refusal> {
    let mut block = vec![0u8; BLOCK];
    let mut command = NvmeCommand {
        opcode: 0x02, // Get Log Page
        nsid: u32::MAX,
        addr: block.as_mut_ptr().expose_provenance() as u64,
        data_len: BLOCK as u32,
        // Words of four bytes less one, and the log.
        cdw10: (BLOCK as u32 / 4 - 1) << 16 | log,
        timeout_ms: TIMEOUT_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: as of a card.
    let status = unsafe { ioctl(file, Passed::<NVME_ADMIN_CMD, NvmeCommand>(&mut command)) };
    match status.map_err(|error| refusal(error.into()))? {
        0 => Ok(block),
        status => Err(Refusal { why: NoAnswer::Refused, detail: Some(format!("NVMe status {status:#06x}")) }),
    }
}

/// `struct sg_io_hdr` of scsi/sg.h.
#[repr(C)]
struct SgHeader {
    interface_id: c_int,
    dxfer_direction: c_int,
    cmd_len: u8,
    mx_sb_len: u8,
    iovec_count: u16,
    dxfer_len: u32,
    dxferp: *mut c_void,
    cmdp: *mut u8,
    sbp: *mut u8,
    timeout: u32,
    flags: u32,
    pack_id: c_int,
    usr_ptr: *mut c_void,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sb_len_wr: u8,
    host_status: u16,
    driver_status: u16,
    resid: c_int,
    duration: u32,
    info: u32,
}

/// `SG_IO` of scsi/sg.h, and its direction from the device.
const SG_IO: Opcode = 0x2285;
const FROM_DEVICE: c_int = -3;
const CHECK_CONDITION: u8 = 2;
const ILLEGAL_REQUEST: u8 = 5;

/// An ATA command that reads one block (PIO data-in).
#[derive(Debug, Default)]
struct AtaCommand {
    command: u8,
    features: u8,
    lba: [u8; 3],
    is_extended: bool,
}

impl AtaCommand {
    /// A part of SMART, with the mark that the command has in its address (4Fh, C2h).
    fn smart(part: u8) -> Self {
        Self { command: 0xb0, features: part, lba: [0, 0x4f, 0xc2], is_extended: false }
    }

    /// ATA PASS-THROUGH (16) of SAT: protocol 4 is PIO data-in; byte 2 says that one block (bit 2) moves from the device (bit 3),
    /// as the sector count tells (bits 1:0). Bit 5, which asks for the registers, is not set: many bridges do not return them.
    fn block(&self) -> [u8; 16] {
        let mut block = [0; 16];
        block[0] = 0x85;
        block[1] = 4 << 1 | u8::from(self.is_extended);
        block[2] = 0b0000_1110;
        block[4] = self.features;
        block[6] = 1;
        (block[8], block[10], block[12]) = (self.lba[0], self.lba[1], self.lba[2]);
        block[14] = self.command;
        block
    }
}

fn ata(file: &File, command: &AtaCommand) -> Result<Vec<u8>, Refusal> {
    let mut data = vec![0u8; BLOCK];
    let mut block = command.block();
    let mut sense = [0u8; 32];
    let mut header = SgHeader {
        interface_id: c_int::from(b'S'),
        dxfer_direction: FROM_DEVICE,
        cmd_len: block.len() as u8,
        mx_sb_len: sense.len() as u8,
        iovec_count: 0,
        dxfer_len: BLOCK as u32,
        dxferp: data.as_mut_ptr().cast(),
        cmdp: block.as_mut_ptr(),
        sbp: sense.as_mut_ptr(),
        timeout: TIMEOUT_MS,
        flags: 0,
        pack_id: 0,
        usr_ptr: ptr::null_mut(),
        status: 0,
        masked_status: 0,
        msg_status: 0,
        sb_len_wr: 0,
        host_status: 0,
        driver_status: 0,
        resid: 0,
        duration: 0,
        info: 0,
    };
    // SAFETY: the structure is that of the request. Its pointers lead to buffers of the sizes that it says, which live until the
    // request has returned.
    unsafe { ioctl(file, Passed::<SG_IO, SgHeader>(&mut header)) }.map_err(|error| refusal(error.into()))?;
    if (header.status, header.host_status) != (0, 0) {
        return Err(scsi_refusal(header.status, header.host_status, &sense));
    }
    let missing = usize::try_from(header.resid).unwrap_or(0).min(BLOCK);
    data.truncate(BLOCK - missing);
    Ok(data)
}

/// What the status of a command means, with its sense data (SPC, fixed and descriptor format).
fn scsi_refusal(status: u8, host: u16, sense: &[u8; 32]) -> Refusal {
    let key = match sense[0] & 0x7f {
        0x72 | 0x73 => sense[1] & 0x0f,
        _ => sense[2] & 0x0f,
    };
    if host == 0 && status == CHECK_CONDITION && key == ILLEGAL_REQUEST {
        return NoAnswer::NotSupported.into();
    }
    let detail = format!("SCSI status {status:#04x}, host {host:#04x}, sense key {key:#03x}");
    Refusal { why: NoAnswer::Refused, detail: Some(detail) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Argument;

    #[test]
    fn structures_have_the_sizes_of_the_kernel() {
        assert_eq!((size_of::<MmcCommand>(), size_of::<NvmeCommand>()), (72, 72));
        if cfg!(target_pointer_width = "64") {
            assert_eq!(size_of::<SgHeader>(), 88);
        }
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "arm")) {
            assert_eq!((MMC_IOC_CMD, NVME_ADMIN_CMD), (0xc048_b300, 0xc048_4e41));
        }
        assert_eq!(R1_WITH_DATA, 0xb5); // 181, as sdmon issue 16 dumped it
    }

    #[test]
    fn ata_commands_read_one_block() {
        let smart = AtaCommand::smart(0xd0).block();
        assert_eq!(smart, [0x85, 0x08, 0x0e, 0, 0xd0, 0, 1, 0, 0, 0, 0x4f, 0, 0xc2, 0, 0xb0, 0]);
        let log = AtaCommand { command: 0x2f, lba: [4, 7, 0], is_extended: true, ..AtaCommand::default() };
        assert_eq!(log.block(), [0x85, 0x09, 0x0e, 0, 0, 0, 1, 0, 4, 0, 7, 0, 0, 0, 0x2f, 0]);
    }

    #[test]
    fn a_bridge_that_knows_no_such_command_is_not_at_fault() {
        // smartmontools issue 160, a JMS551: "unsupported field in scsi command", in fixed format.
        let mut sense = [0u8; 32];
        (sense[0], sense[2]) = (0x70, 0x05);
        assert_eq!(scsi_refusal(2, 0, &sense).why, NoAnswer::NotSupported);
        (sense[0], sense[1], sense[2]) = (0x72, 0x05, 0);
        assert_eq!(scsi_refusal(2, 0, &sense).why, NoAnswer::NotSupported);
        assert_eq!(scsi_refusal(0, 3, &[0; 32]).why, NoAnswer::Refused); // DID_TIME_OUT
    }

    #[test]
    fn a_file_a_missing_node_and_another_machine_are_not_asked() {
        let asks = SystemAsks { is_here: true };
        let of = |path: &str, question| {
            let disk = Disk { path: path.to_owned(), number: (1, 3) };
            asks.ask(&disk, question).unwrap_err().why
        };
        assert_eq!(of("/dev/assay-has-none", Question::NvmeSmart), NoAnswer::NotHere);
        assert_eq!(of("/proc/self/exe", Question::AtaIdentify), NoAnswer::Refused);
        // /dev/null is 1:3, and knows no request.
        for question in
            [Question::NvmeErrors, Question::ExtCsd, Question::SdVendor(Argument::First), Question::AtaSmartData]
        {
            assert!(matches!(of("/dev/null", question), NoAnswer::NotSupported | NoAnswer::Refused), "{question:?}");
        }
        let disk = Disk { path: "/dev/null".to_owned(), number: (1, 3) };
        let other = SystemAsks { is_here: false }.ask(&disk, Question::NvmeSmart);
        assert_eq!(other.unwrap_err().why, NoAnswer::NotHere);
    }
}
