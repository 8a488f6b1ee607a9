//! File operations that the spool needs in its directory.

use std::io;
use std::time::Duration;

/// File operations in the spool's directory. Each of them may fail, or be the last before a crash.
pub trait Files {
    /// A file that is being written.
    type File;

    /// Creates the directory for this user only, unless it exists, and makes it survive a power cut. On Windows it has
    /// the rights of the directory above, and no call waits for its name.
    ///
    /// # Errors
    /// The system's, like those of all following methods.
    fn make_directory(&mut self) -> io::Result<()>;

    /// Creates a new file for this user only; on Windows for the users of the directory.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something has that name.
    fn create(&mut self, name: &str) -> io::Result<Self::File>;

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// Part of it may have been written.
    fn write(&mut self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;

    /// Returns when the content survives a power cut.
    ///
    /// # Errors
    /// It is then unknown whether it does.
    fn sync(&mut self, file: &mut Self::File) -> io::Result<()>;

    /// Renames a file; on Windows the new name then survives a power cut.
    ///
    /// # Errors
    /// It then keeps its old name.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Returns when the names survive a power cut; on Windows there is nothing to wait for.
    ///
    /// # Errors
    /// It is then unknown whether they do.
    fn sync_directory(&mut self) -> io::Result<()>;

    /// Removes a file. A missing file is not an error.
    ///
    /// # Errors
    /// It then still exists.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// At most `most` names; none if the directory does not exist.
    ///
    /// # Errors
    /// The names are then unknown.
    fn list(&mut self, most: usize) -> io::Result<Vec<String>>;

    /// Content of a file of at most `most` bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] if this user's assay cannot have written it: a link, a device, a pipe, a file of
    /// another user (not tested on Windows), with a second name, or longer.
    fn read(&mut self, name: &str, most: u64) -> io::Result<Vec<u8>>;

    /// Time since a file was last written to.
    ///
    /// # Errors
    /// If it does not exist.
    fn age(&mut self, name: &str) -> io::Result<Duration>;
}
