//! What the spool asks of its directory.

use std::io;
use std::time::Duration;

/// File operations in the directory of the spool, each of which may fail or be the last.
pub trait Files {
    /// A file that is being written.
    type File;

    /// Makes the directory, for this user only, unless it is there, and lets it survive a power cut. On Windows it has the
    /// rights of the directory above, and there is no call that waits for its name.
    ///
    /// # Errors
    /// The system's, as of all that follow.
    fn make_directory(&mut self) -> io::Result<()>;

    /// A new file, for this user only; on Windows for those who may use the directory.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] where something has that name.
    fn create(&mut self, name: &str) -> io::Result<Self::File>;

    /// Writes all of it.
    ///
    /// # Errors
    /// Part of it may have been written.
    fn write(&mut self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;

    /// Returns when the content survives a power cut.
    ///
    /// # Errors
    /// Whether it does is then unknown.
    fn sync(&mut self, file: &mut Self::File) -> io::Result<()>;

    /// Gives a file another name; on Windows it survives a power cut then.
    ///
    /// # Errors
    /// It then has its old one.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// Returns when the names survive a power cut; on Windows there is nothing to wait for.
    ///
    /// # Errors
    /// Whether they do is then unknown.
    fn sync_directory(&mut self) -> io::Result<()>;

    /// Removes a file; one that is not there is no error.
    ///
    /// # Errors
    /// It is then still there.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// At most so many names; none where there is no directory.
    ///
    /// # Errors
    /// Nothing is then known of what is there.
    fn list(&mut self, most: usize) -> io::Result<Vec<String>>;

    /// Content of a file of at most so many bytes.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidData`] where it is none that this user's assay can have written: a link, a
    /// device, a pipe, another's (not asked on Windows), with a second name, or longer.
    fn read(&mut self, name: &str, most: u64) -> io::Result<Vec<u8>>;

    /// Time since a file was last written to.
    ///
    /// # Errors
    /// Where it is not there.
    fn age(&mut self, name: &str) -> io::Result<Duration>;
}
