//! A machine whose power, process, disk or card fails at a chosen call.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_engine::Control;
use assay_lab::SplitMix;
use assay_lab::media::{Layout, MediumSpec, ModelMedium};
use assay_verify::probe::{
    Device, Disk, DiskFile, Journal, JournalError, JournalIdentity, JournalLeft, ProbeFault, ProbeSettings, Probed,
    Salt, run,
};

const SECTOR: usize = 512;
/// A power cut keeps or loses a file's data by pages.
const PAGE: usize = 4096;

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The power fails: unsynced data are kept, lost or torn.
    Power,
    /// The process is killed: written data stay.
    Process,
    /// One call of the journal's disk, or of the card, errs.
    Call,
    /// From this call on the journal's disk is full.
    Full,
}

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    DiskWrite,
    DiskSync,
    DiskRead,
    DiskName,
    CardRead,
    CardWrite,
    CardSync,
}

#[derive(Debug, Default)]
struct File {
    /// As the system sees it.
    content: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<(usize, Vec<u8>)>,
}

#[derive(Debug)]
struct State {
    dice: SplitMix,
    calls: Vec<Call>,
    fault: Option<(usize, Failing)>,
    /// Set if nothing runs any more until the next start.
    off: Option<Failing>,
    full: bool,
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
}

/// The machine, without the card.
#[derive(Debug, Clone)]
pub struct World(Arc<Mutex<State>>);

impl World {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            dice: SplitMix::new(seed),
            calls: Vec::new(),
            fault: None,
            off: None,
            full: false,
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts calls from 0 from now on, and makes this one fail.
    pub fn fail_at(&self, call: usize, failing: Failing) {
        let mut state = self.state();
        state.calls.clear();
        state.fault = Some((call, failing));
    }

    /// Calls since the last start.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// Whether the fault has occurred.
    pub fn has_failed(&self) -> bool {
        self.state().fault.is_none()
    }

    pub fn disk(&self) -> Arc<dyn Disk> {
        Arc::new(self.clone())
    }

    pub fn exists(&self, path: &Path) -> bool {
        self.state().names.contains_key(path)
    }

    /// The journal's content on the disk.
    pub fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|file| state.files[*file].content.clone())
    }

    /// Replaces the content of a file.
    pub fn set_bytes(&self, path: &Path, bytes: Vec<u8>) {
        let mut state = self.state();
        let file = state.names[path];
        state.files[file] = File { content: bytes.clone(), durable: bytes, unsynced: Vec::new() };
    }

    /// Starts the machine again, including the card.
    pub fn start<D: Device>(&self, card: &mut Card<D>) {
        let mut state = self.state();
        if state.off == Some(Failing::Power) {
            state.lose();
            card.lose(&mut state.dice);
        }
        card.unsynced.clear();
        state.calls.clear();
        (state.off, state.fault, state.full) = (None, None, false);
    }

    /// Begins a call. The error is `None` if the machine is off, so that no process can make the call.
    fn call(&self, call: Call) -> Result<MutexGuard<'_, State>, (Option<Failing>, MutexGuard<'_, State>)> {
        let mut state = self.state();
        if state.off.is_some() {
            return Err((None, state));
        }
        let number = state.calls.len();
        state.calls.push(call);
        match state.fault {
            Some((at, failing)) if at == number => {
                state.fault = None;
                match failing {
                    Failing::Power | Failing::Process => state.off = Some(failing),
                    Failing::Call => {}
                    Failing::Full => {
                        state.full = true;
                        return if call == Call::DiskWrite { Err((Some(failing), state)) } else { Ok(state) };
                    }
                }
                Err((Some(failing), state))
            }
            _ if state.full && matches!(call, Call::DiskWrite) => Err((Some(Failing::Full), state)),
            _ => Ok(state),
        }
    }

    fn disk_call(&self, call: Call) -> io::Result<MutexGuard<'_, State>> {
        self.call(call).map_err(|(failing, _)| errno(failing))
    }
}

/// ENOSPC or EIO.
fn errno(failing: Option<Failing>) -> io::Error {
    io::Error::from_raw_os_error(if failing == Some(Failing::Full) { 28 } else { 5 })
}

impl State {
    /// Any unsynced pages, in any order, are on the disk, and likewise any unsynced names.
    fn lose(&mut self) {
        for file in &mut self.files {
            let mut now = file.durable.clone();
            for (at, data) in file.unsynced.drain(..) {
                for (page, from) in data.chunks(PAGE).zip((at..).step_by(PAGE)) {
                    if self.dice.one_in(2) {
                        continue;
                    }
                    let torn =
                        if self.dice.one_in(8) { self.dice.below(page.len() as u64) as usize } else { page.len() };
                    if now.len() < from + torn {
                        now.resize(from + torn, 0);
                    }
                    now[from..from + torn].copy_from_slice(&page[..torn]);
                }
            }
            file.content.clone_from(&now);
            file.durable = now;
        }
        let paths: Vec<PathBuf> = self.names.keys().chain(self.durable_names.keys()).cloned().collect();
        for path in paths {
            let from = if self.dice.one_in(2) { &self.names } else { &self.durable_names };
            match from.get(&path).copied() {
                Some(file) => self.durable_names.insert(path, file),
                None => self.durable_names.remove(&path),
            };
        }
        self.names = self.durable_names.clone();
    }
}

impl Disk for World {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.disk_call(Call::DiskName)?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let file = state.files.len();
        state.files.push(File::default());
        state.names.insert(path.to_owned(), file);
        Ok(Box::new(Open { world: self.clone(), file }))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let state = self.disk_call(Call::DiskName)?;
        let file = *state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Open { world: self.clone(), file }))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.disk_call(Call::DiskName)?;
        state.names.remove(path).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }

    fn sync_directory_of(&self, _path: &Path) -> io::Result<()> {
        let mut state = self.disk_call(Call::DiskSync)?;
        state.durable_names = state.names.clone();
        Ok(())
    }

    fn free_bytes(&self, _path: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }
}

#[derive(Debug)]
struct Open {
    world: World,
    file: usize,
}

impl Open {
    fn write(&self, state: &mut State, data: &[u8]) {
        let file = &mut state.files[self.file];
        let at = file.content.len();
        file.content.extend_from_slice(data);
        file.unsynced.push((at, data.to_vec()));
    }
}

impl DiskFile for Open {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        match self.world.call(Call::DiskWrite) {
            Ok(mut state) => {
                self.write(&mut state, data);
                Ok(())
            }
            Err((failing, mut state)) => {
                // A part of it may have been written by then.
                if failing.is_some() && !data.is_empty() {
                    let part = state.dice.below(data.len() as u64) as usize;
                    self.write(&mut state, &data[..part]);
                }
                Err(errno(failing))
            }
        }
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.world.disk_call(Call::DiskRead)?;
        let content = state.files[self.file].content.get(at as usize..).unwrap_or(&[]);
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content[..length]);
        Ok(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        match self.world.call(Call::DiskSync) {
            Ok(mut state) => {
                let file = &mut state.files[self.file];
                file.durable.clone_from(&file.content);
                file.unsynced.clear();
                Ok(())
            }
            Err((failing, mut state)) => {
                // Linux drops what it could not write: a later sync succeeds without it.
                if state.off.is_none() {
                    let file = &mut state.files[self.file];
                    file.unsynced.clear();
                }
                Err(errno(failing))
            }
        }
    }

    fn reserve(&mut self, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_volatile(&self) -> bool {
        false
    }
}

/// A card in the machine. The content of its cache is lost with the power.
#[derive(Debug, Clone)]
pub struct Card<D> {
    inner: D,
    world: World,
    /// Previous content of the sectors that were written since the last sync.
    unsynced: Vec<(u64, Vec<u8>)>,
}

impl<D: Device> Card<D> {
    pub fn new(inner: D, world: &World) -> Self {
        Self { inner, world: world.clone(), unsynced: Vec::new() }
    }

    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// Direct access, bypassing the machine.
    pub fn inner_mut(&mut self) -> &mut D {
        &mut self.inner
    }

    fn lose(&mut self, dice: &mut SplitMix) {
        for (offset, before) in std::mem::take(&mut self.unsynced).into_iter().rev() {
            if dice.one_in(2) {
                let _ = self.inner.write_at(offset, &before);
            }
        }
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let mut before = vec![0; data.len()];
        self.inner.read_at(offset, &mut before)?;
        let sectors = before.chunks(SECTOR).zip((offset..).step_by(SECTOR));
        self.unsynced.extend(sectors.map(|(sector, at)| (at, sector.to_vec())));
        self.inner.write_at(offset, data)
    }

    fn fault(failing: Option<Failing>) -> ProbeFault {
        if failing == Some(Failing::Call) { ProbeFault::Medium } else { ProbeFault::Gone }
    }
}

impl<D: Device> Device for Card<D> {
    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<(), ProbeFault> {
        self.world.call(Call::CardRead).map_err(|(failing, _)| Self::fault(failing)).map(drop)?;
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<(), ProbeFault> {
        let world = self.world.clone();
        let met = match world.call(Call::CardWrite) {
            Ok(_) => None,
            Err((failing, mut state)) => {
                let part =
                    if failing.is_some() { state.dice.below(data.len() as u64) as usize / SECTOR * SECTOR } else { 0 };
                Some((failing, part))
            }
        };
        match met {
            None => self.write(offset, data),
            Some((failing, part)) => {
                if part > 0 {
                    self.write(offset, &data[..part])?;
                }
                Err(Self::fault(failing))
            }
        }
    }

    fn sync(&mut self) -> Result<(), ProbeFault> {
        self.world.call(Call::CardSync).map_err(|(failing, _)| Self::fault(failing)).map(drop)?;
        self.unsynced.clear();
        self.inner.sync()
    }

    fn present(&mut self) -> bool {
        self.world.state().off.is_none()
    }
}

// The cards, and the calls that a complete probe of each makes.

const MIB: u64 = 1 << 20;
const SETTINGS: ProbeSettings = ProbeSettings { cache_limit_bytes: MIB };
/// Path of the journal, on the disk that fails.
pub const JOURNAL: &str = "/journals/card.journal";

/// A card and the calls of its probe.
pub struct Stage {
    pub medium: MediumSpec,
    salt: u64,
    /// Calls of a probe without a fault.
    pub calls: Vec<Call>,
}

impl Stage {
    pub fn all() -> Vec<Self> {
        let media = [
            MediumSpec::genuine(64 * MIB),
            MediumSpec::laid_out(128 * MIB, Layout::wraparound(32 * MIB)),
            MediumSpec::limbo(64 * MIB, 24 * MIB),
            MediumSpec::laid_out(128 * MIB, Layout::chain(32 * MIB, 20 * MIB)),
            MediumSpec::laid_out(96 * MIB, Layout::wraparound(16 * MIB).shuffled()),
        ];
        (0..).zip(media).map(|(salt, medium)| Self::of(medium, salt)).collect()
    }

    fn of(medium: MediumSpec, salt: u64) -> Self {
        let mut stage = Self { medium, salt, calls: Vec::new() };
        let world = World::new(0);
        let mut card = stage.card(&world);
        let probed = stage.probe(&world, &mut card).unwrap();
        assert!(probed.journal != JournalLeft::Needed && changed(card.inner()).is_empty(), "{:?}", stage.medium);
        stage.calls = world.calls();
        stage
    }

    pub fn card(&self, world: &World) -> Card<ModelMedium> {
        Card::new(self.medium.build().unwrap(), world)
    }

    /// Another card of the same size.
    pub fn other(&self, world: &World) -> Card<ModelMedium> {
        let other = MediumSpec { seed: 1_000_003, ..self.medium.clone() };
        Card::new(other.build().unwrap(), world)
    }

    pub fn probe(&self, world: &World, card: &mut Card<ModelMedium>) -> Result<Probed, JournalError> {
        let journal = Journal::create_on(world.disk(), Path::new(JOURNAL), &identity(card), Salt::known(self.salt))?;
        Ok(run(card, journal, &SETTINGS, &Control::default(), &mut |_| {}).unwrap())
    }
}

/// Byte offsets of the blocks of a medium that changed since it was made.
pub fn changed(medium: &ModelMedium) -> Vec<u64> {
    let first = medium.spec().build().unwrap().snapshot();
    blocks(&medium.changed_since(&first))
}

/// The blocks of these ascending sectors.
pub fn blocks(sectors: &[u64]) -> Vec<u64> {
    let mut blocks: Vec<u64> = sectors.iter().map(|at| at / 4096 * 4096).collect();
    blocks.dedup();
    blocks
}

pub fn identity(card: &Card<ModelMedium>) -> JournalIdentity {
    JournalIdentity { bytes: card.bytes(), name: "card".to_owned(), serial: None, attachment: Some("0".to_owned()) }
}
