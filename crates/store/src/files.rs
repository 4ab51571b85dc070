//! Files and folders of the books: only their owner may read or write them, regardless of the umask.
//!
//! SQLite gives its log and its shared memory the mode of the database they belong to, so this module
//! creates the database first.
//!
//! A database that exists is never opened here: closing any descriptor of a file releases all POSIX locks of the process
//! on it, SQLite's among them. Another program could then take itself for the last user of the books and delete their log.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// Opens a lock file, or creates an empty one; never truncates. The caller keeps it open.
pub(crate) fn open_or_create_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// Creates an empty database, unless the file exists: then it is left alone, unopened.
pub(crate) fn create_database(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes what an interrupted creation has left of a new database.
pub(crate) fn remove_unfinished(path: &Path) -> io::Result<()> {
    for ending in ["", "-journal"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Gives a finished file its name, durably.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    to.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Gives a file a second name, durably, and makes it readable by its owner alone. Where the file system has no such
/// names, the second one is a copy. No connection to the file may be open.
pub(crate) fn keep_as(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {
            std::fs::copy(from, to)?;
            File::open(to)?.sync_all()?;
        }
        Ok(()) => {}
    }
    std::fs::set_permissions(to, Permissions::from_mode(FILE_MODE))?;
    to.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
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
