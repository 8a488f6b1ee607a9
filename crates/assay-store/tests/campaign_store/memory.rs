//! The directory of a spool in memory. Its calls are logged in the world of the thread.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_store::Files;

use super::world::{Event, Refusal, here};

#[derive(Debug, Clone)]
pub struct Memory {
    path: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    /// The files that `all` has below `path`.
    pub fn of(path: &Path, all: &BTreeMap<PathBuf, Vec<u8>>) -> Self {
        let name = |file: &Path| Some(file.strip_prefix(path).ok()?.to_str()?.to_owned());
        let files = all.iter().filter_map(|(file, content)| Some((name(file)?, content.clone()))).collect();
        Self { path: path.to_owned(), files }
    }

    pub fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }

    fn call(&self) -> io::Result<()> {
        let answer = here().map_or(Ok(()), |world| world.borrow_mut().call());
        answer.map_err(|refusal| {
            io::Error::from_raw_os_error(match refusal {
                Refusal::Io => 5,
                Refusal::NoSpace => 28,
            })
        })
    }

    fn log(&self, event: Event) {
        if let Some(world) = here() {
            world.borrow_mut().log.push(event);
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Files for Memory {
    type File = String;

    fn make_directory(&mut self) -> io::Result<()> {
        self.call()
    }

    fn create(&mut self, name: &str) -> io::Result<String> {
        self.call()?;
        if self.files.contains_key(name) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.files.insert(name.to_owned(), Vec::new());
        self.log(Event::Create(self.at(name)));
        Ok(name.to_owned())
    }

    fn write(&mut self, file: &mut String, bytes: &[u8]) -> io::Result<()> {
        let answer = self.call();
        let bytes = if answer.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        let content = self.files.entry(file.clone()).or_default();
        let at = content.len() as u64;
        content.extend_from_slice(bytes);
        self.log(Event::Write(self.at(file), at, bytes.to_vec()));
        answer
    }

    fn sync(&mut self, file: &mut String) -> io::Result<()> {
        self.call()?;
        self.log(Event::Sync(self.at(file)));
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.call()?;
        let content = self.files.remove(from).ok_or(ErrorKind::NotFound)?;
        self.files.insert(to.to_owned(), content);
        self.log(Event::Rename(self.at(from), self.at(to)));
        Ok(())
    }

    fn sync_directory(&mut self) -> io::Result<()> {
        self.call()?;
        self.log(Event::SyncNames(self.path.clone()));
        Ok(())
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.call()?;
        if self.files.remove(name).is_some() {
            self.log(Event::Remove(self.at(name)));
        }
        Ok(())
    }

    fn list(&mut self, most: usize) -> io::Result<Vec<String>> {
        self.call()?;
        Ok(self.files.keys().take(most).cloned().collect())
    }

    fn read(&mut self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        self.call()?;
        let content = self.files.get(name).ok_or(ErrorKind::NotFound)?;
        if content.len() as u64 > most { Err(ErrorKind::InvalidData.into()) } else { Ok(content.clone()) }
    }

    fn age(&mut self, _name: &str) -> io::Result<Duration> {
        Ok(Duration::ZERO)
    }
}
