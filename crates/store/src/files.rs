//! Files and folders of the books: only their owner may read or write them, regardless of the umask.
//!
//! SQLite gives its log and its shared memory the mode of the database they belong to, so this module
//! creates the database first.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Opens the file, or creates an empty one; never truncates.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// Creates the folder and syncs its parent: if a crash forgets the folder, the books in it are lost too.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)?;
    let above = folder.canonicalize()?.parent().map(File::open).transpose()?;
    above.map_or(Ok(()), |above| above.sync_all())
}
