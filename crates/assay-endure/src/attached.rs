//! A real medium: a device or a file, past the page cache, with a thread that moves data while the next are made.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use assay_core::histogram::Histogram;
use assay_core::outcome::RunFailure;
use assay_engine::{AlignedBuffer, FileExt, answer_within};

use crate::medium::{Fault, Latencies, Medium, Refused};

/// Bytes of a buffer: the largest transfer.
const BUFFER: usize = 1 << 20;
/// One is filled or read while another is moved.
const BUFFERS: usize = 3;

enum Ask {
    Read(u64, usize, AlignedBuffer),
    Write(u64, usize, AlignedBuffer),
    Sync,
}

struct Answer {
    offset: u64,
    bytes: usize,
    buffer: Option<AlignedBuffer>,
    done: io::Result<()>,
    elapsed: Duration,
}

/// A medium that is attached.
pub struct Attached {
    ask: Sender<Ask>,
    answers: Receiver<Answer>,
    free: Vec<AlignedBuffer>,
    /// Asked and not answered.
    pending: usize,
    /// What is read beforehand: the one thing that is then asked and not answered.
    ahead: Option<(u64, usize)>,
    failed: VecDeque<Refused>,
    bytes: u64,
    block_bytes: u32,
    limit: Duration,
    hung: bool,
    present: Box<dyn Fn() -> bool + Send>,
    latencies: Histogram,
    /// Writes since the last sync.
    unsynced: Vec<u64>,
}

impl std::fmt::Debug for Attached {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Attached").field("bytes", &self.bytes).field("hung", &self.hung).finish_non_exhaustive()
    }
}

impl Attached {
    /// A file opened for direct I/O; its first `bytes` bytes are used. An operation that takes longer than `limit` counts as
    /// hung; `present` says after an error whether the medium is still there.
    ///
    /// # Errors
    /// Where the host has no memory or thread for it.
    pub fn new(
        file: File,
        bytes: u64,
        block_bytes: u32,
        limit: Duration,
        present: Box<dyn Fn() -> bool + Send>,
    ) -> io::Result<Self> {
        let (ask, asked) = channel();
        let (tell, answers) = channel();
        let free = (0..BUFFERS).map(|_| AlignedBuffer::new(BUFFER)).collect::<io::Result<_>>()?;
        std::thread::Builder::new().name("wear".to_owned()).spawn(move || serve(&file, &asked, &tell))?;
        Ok(Self {
            ask,
            answers,
            free,
            pending: 0,
            ahead: None,
            failed: VecDeque::new(),
            bytes,
            block_bytes,
            limit,
            hung: false,
            present,
            latencies: Histogram::default(),
            unsynced: Vec::new(),
        })
    }

    fn ask(&mut self, ask: Ask) -> Result<(), Fault> {
        self.pending += 1;
        self.ask.send(ask).map_err(|_| Fault::Hung)
    }

    /// The next answer; a failed write is noted.
    fn answer(&mut self) -> Result<Answer, Fault> {
        if self.hung {
            return Err(Fault::Hung);
        }
        let Some(answer) = answer_within(&self.answers, self.limit) else {
            self.hung = true;
            return Err(Fault::Hung);
        };
        self.pending -= 1;
        Ok(answer)
    }

    fn fault(&self, error: &io::Error) -> Fault {
        if !(self.present)() {
            return Fault::Gone;
        }
        match error.raw_os_error().map(RunFailure::from_errno) {
            Some(RunFailure::Disappeared) => Fault::Gone,
            Some(RunFailure::ReadOnly) => Fault::ReadOnly,
            _ if error.kind() == io::ErrorKind::PermissionDenied => Fault::ReadOnly,
            _ => Fault::Errs,
        }
    }

    /// Takes the answer of a write.
    fn settle(&mut self, answer: Answer) {
        self.unsynced.push(nanoseconds(answer.elapsed));
        if let Err(error) = &answer.done {
            let fault = self.fault(error);
            self.failed.push_back(Refused { offset: answer.offset, bytes: answer.bytes as u64, fault });
        }
        self.free.extend(answer.buffer);
    }

    /// Waits for all that was asked; what was read beforehand is forgotten.
    fn settle_all(&mut self) -> Result<(), Fault> {
        while self.pending > 0 {
            let answer = self.answer()?;
            match self.ahead.take() {
                Some(_) => self.free.extend(answer.buffer),
                None => self.settle(answer),
            }
        }
        Ok(())
    }

    fn note_writes(&mut self, sync: Duration) {
        // A single write and its sync are one operation for who waits for both.
        match self.unsynced.as_slice() {
            [one] => self.latencies.add(one + nanoseconds(sync)),
            all => all.iter().for_each(|one| self.latencies.add(*one)),
        }
        self.unsynced.clear();
    }
}

/// Takes space for a file of this size, so that no other program can.
///
/// # Errors
/// The system's, as where there is no space.
pub fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(not(windows))]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        done => return done.map_err(Into::into),
    }
    file.set_len(bytes)
}

fn serve(file: &File, asked: &Receiver<Ask>, tell: &Sender<Answer>) {
    for ask in asked {
        let began = Instant::now();
        let (offset, bytes, buffer, done) = match ask {
            Ask::Read(offset, bytes, mut buffer) => {
                let done = file.read_exact_at(&mut buffer.as_mut_slice()[..bytes], offset);
                (offset, bytes, Some(buffer), done)
            }
            Ask::Write(offset, bytes, buffer) => {
                let done = file.write_all_at(&buffer.as_slice()[..bytes], offset);
                (offset, bytes, Some(buffer), done)
            }
            Ask::Sync => (0, 0, None, file.sync_data()),
        };
        if tell.send(Answer { offset, bytes, buffer, done, elapsed: began.elapsed() }).is_err() {
            return;
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Medium for Attached {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.ahead != Some((offset, buffer.len())) {
            self.settle_all()?;
            let free = self.free.pop().ok_or(Fault::Hung)?;
            self.ask(Ask::Read(offset, buffer.len(), free))?;
        }
        self.ahead = None;
        let answer = self.answer()?;
        self.latencies.add(nanoseconds(answer.elapsed));
        if let Some(read) = &answer.buffer {
            buffer.copy_from_slice(&read.as_slice()[..buffer.len()]);
        }
        self.free.extend(answer.buffer);
        answer.done.map_err(|error| self.fault(&error))
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        let refused = |fault| Refused { offset, bytes: data.len() as u64, fault };
        if self.ahead.is_some() {
            self.settle_all().map_err(refused)?;
        }
        while self.free.is_empty() {
            let answer = self.answer().map_err(refused)?;
            self.settle(answer);
        }
        if let Some(failed) = self.failed.pop_front() {
            return Err(failed);
        }
        let Some(mut buffer) = self.free.pop() else { return Err(refused(Fault::Hung)) };
        buffer.as_mut_slice()[..data.len()].copy_from_slice(data);
        self.ask(Ask::Write(offset, data.len(), buffer)).map_err(refused)
    }

    fn sync(&mut self) -> Result<(), Refused> {
        let refused = |fault| Refused { offset: 0, bytes: 0, fault };
        self.settle_all().map_err(refused)?;
        if let Some(failed) = self.failed.pop_front() {
            return Err(failed);
        }
        self.ask(Ask::Sync).map_err(refused)?;
        let answer = self.answer().map_err(refused)?;
        self.note_writes(answer.elapsed);
        answer.done.map_err(|error| refused(self.fault(&error)))
    }

    fn ahead(&mut self, offset: u64, bytes: usize) {
        if self.pending == 0
            && let Some(free) = self.free.pop()
            && self.ask(Ask::Read(offset, bytes, free)).is_ok()
        {
            self.ahead = Some((offset, bytes));
        }
    }

    fn latencies(&mut self) -> Latencies {
        let taken = std::mem::take(&mut self.latencies);
        let at = |share| taken.quantile(share).map_or(0, |ns| ns as u64);
        Latencies { p50_ns: at(0.5), p99_ns: at(0.99), max_ns: taken.max().unwrap_or(0) }
    }
}
