//! Files and folders of books, which nobody but their owner may read or write, whatever the umask says.
//!
//! SQLite gives its log and its shared memory the mode of the database they belong to, so the database is made here first.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Opens the file, or makes an empty one; what is in it stays.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// Makes the folder, and its name in the folder above durable: books in a folder that a crash forgets are lost too.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let above = folder.canonicalize()?.parent().map(File::open).transpose()?;
    above.map_or(Ok(()), |above| above.sync_all())
}
