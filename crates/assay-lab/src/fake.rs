//! A block device whose answers the test supplies: a fake card that the kernel sees as a real one.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::host::{Missing, need};
use super::limited::NbdFuse;
use super::mount::LoopDevice;

/// The implementation of the device.
pub trait Backing: Send + 'static {
    /// Announced size in bytes.
    fn bytes(&self) -> u64;

    /// Logical block in bytes: 512 or 4096.
    fn block_bytes(&self) -> u32 {
        512
    }

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// The reader gets `EIO`.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes `data` at `offset`.
    ///
    /// # Errors
    /// The writer gets `EIO`.
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Makes all written data durable.
    ///
    /// # Errors
    /// The caller that flushes gets `EIO`.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A [`Backing`] that a thread of the test serves by the NBD protocol. nbdfuse shows it as a file, and a loop device
/// shows the file as a block device.
#[derive(Debug)]
pub struct FakeCard {
    device: Option<LoopDevice>,
    fuse: Option<NbdFuse>,
    /// Tells the server at the next connection that there is nothing more to serve.
    ended: Arc<AtomicBool>,
    directory: tempfile::TempDir,
}

impl FakeCard {
    /// Makes the device.
    ///
    /// # Errors
    /// [`Missing`] with the reason.
    pub fn new(backing: impl Backing) -> Result<Self, Missing> {
        need(&["nbdfuse", "losetup", "fusermount3"])?;
        let fail = |e: io::Error| Missing(format!("fake card: {e}"));
        let directory = tempfile::Builder::new().prefix("assay-lab-").tempdir().map_err(fail)?;
        let socket = directory.path().join("socket");
        let (bytes, block_bytes) = (backing.bytes(), backing.block_bytes());
        let ended = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ended);
        let listener = UnixListener::bind(&socket).map_err(fail)?;
        let backing: Arc<Mutex<dyn Backing>> = Arc::new(Mutex::new(backing));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), backing) = (stream, Arc::clone(&backing)) else { return };
                if over.load(Ordering::Acquire) {
                    return;
                }
                // A client that leaves ends only its own connection.
                std::thread::spawn(move || serve(&stream, &backing));
            }
        });
        let mut card = Self { device: None, fuse: None, ended, directory };
        let fuse = card.fuse.insert(NbdFuse::mount(&socket, card.directory.path().join("disk"), bytes)?);
        card.device = Some(LoopDevice::attach_with_blocks(fuse.point(), true, block_bytes)?);
        Ok(card)
    }

    /// Its block device.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.device.as_ref().map_or(self.directory.path(), LoopDevice::path)
    }
}

impl Drop for FakeCard {
    fn drop(&mut self) {
        drop(self.device.take());
        drop(self.fuse.take());
        // Until here the server keeps the backing, which may be large.
        self.ended.store(true, Ordering::Release);
        let _ = UnixStream::connect(self.directory.path().join("socket"));
    }
}

// Names and numbers of the NBD protocol, from doc/proto.md of NetworkBlockDevice/nbd.
const NBDMAGIC: &[u8; 8] = b"NBDMAGIC";
const IHAVEOPT: &[u8; 8] = b"IHAVEOPT";
const FIXED_NEWSTYLE_AND_NO_ZEROES: u16 = 0b11;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const EXPORT_NAME: u32 = 1;
const ABORT: u32 = 2;
const INFO: u32 = 6;
const GO: u32 = 7;
const REP_ACK: u32 = 1;
const REP_INFO: u32 = 3;
const REP_ERR_UNSUP: u32 = 0x8000_0001;
const HAS_FLAGS_AND_FLUSH: u16 = 0b101;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const FLUSH: u16 = 3;
const EPERM: u32 = 1;
const EIO: u32 = 5;
const EINVAL: u32 = 22;
/// Longest request that is served; the kernel and nbdfuse send far shorter ones.
const LONGEST: u32 = 32 << 20;

fn take<const N: usize>(mut stream: &UnixStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Serves requests until the client leaves.
fn serve(stream: &UnixStream, backing: &Mutex<dyn Backing>) -> io::Result<()> {
    let lock = || backing.lock().unwrap_or_else(PoisonError::into_inner);
    let bytes = lock().bytes();
    if !negotiate(stream, bytes)? {
        return Ok(());
    }
    let mut out = stream;
    loop {
        let magic = u32::from_be_bytes(take(stream)?);
        let _flags = take::<2>(stream)?;
        let kind = u16::from_be_bytes(take(stream)?);
        let handle = take::<8>(stream)?;
        let offset = u64::from_be_bytes(take(stream)?);
        let length = u32::from_be_bytes(take(stream)?);
        if magic != REQUEST || length > LONGEST || kind == DISCONNECT {
            return Ok(());
        }
        let mut data = vec![0; length as usize];
        let done = match kind {
            READ => lock().read(offset, &mut data),
            WRITE => {
                let mut input = stream;
                input.read_exact(&mut data)?;
                lock().write(offset, &data)
            }
            FLUSH => lock().flush(),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        };
        let mut reply = REPLY.to_be_bytes().to_vec();
        let error = match done.as_ref().map_err(io::Error::kind) {
            Ok(()) => 0,
            Err(io::ErrorKind::ReadOnlyFilesystem) => EPERM,
            Err(io::ErrorKind::InvalidInput) => EINVAL,
            Err(_) => EIO,
        };
        reply.extend_from_slice(&error.to_be_bytes());
        reply.extend_from_slice(&handle);
        if kind == READ && done.is_ok() {
            reply.extend_from_slice(&data);
        }
        out.write_all(&reply)?;
    }
}

/// Negotiates; returns whether the client starts transmission.
fn negotiate(stream: &UnixStream, bytes: u64) -> io::Result<bool> {
    let mut out = stream;
    out.write_all(&[&NBDMAGIC[..], IHAVEOPT, &FIXED_NEWSTYLE_AND_NO_ZEROES.to_be_bytes()].concat())?;
    let _client_flags = take::<4>(stream)?;
    let export = [&bytes.to_be_bytes()[..], &HAS_FLAGS_AND_FLUSH.to_be_bytes()].concat();
    loop {
        let _magic = take::<8>(stream)?;
        let option = u32::from_be_bytes(take(stream)?);
        let length = u32::from_be_bytes(take(stream)?).min(LONGEST);
        let mut input = stream;
        input.read_exact(&mut vec![0; length as usize])?;
        let mut reply = |kind: u32, data: &[u8]| {
            let head = [
                &OPTION_REPLY.to_be_bytes()[..],
                &option.to_be_bytes(),
                &kind.to_be_bytes(),
                &(data.len() as u32).to_be_bytes(),
                data,
            ];
            out.write_all(&head.concat())
        };
        match option {
            EXPORT_NAME => return out.write_all(&export).map(|()| true),
            INFO | GO => {
                // Information of type 0: the export.
                reply(REP_INFO, &[&[0, 0], &export[..]].concat())?;
                reply(REP_ACK, &[])?;
                if option == GO {
                    return Ok(true);
                }
            }
            ABORT => return reply(REP_ACK, &[]).map(|()| false),
            _ => reply(REP_ERR_UNSUP, &[])?,
        }
    }
}
