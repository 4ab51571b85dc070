//! Noting the head of books that another process writes.
//!
//! A database that fails over to a copy without the newest commits looks sound, to the node that takes the books over
//! most of all. So each node keeps the newest head that it has seen in its own folder, and notices when it is gone.

use std::path::PathBuf;

use super::newest_head::{HeadFile, NotedHead, NotedIn, read_file};
use crate::{DatabaseUrl, Reader, StoreError};

/// Follows the head of books in a database.
#[derive(Debug)]
pub struct HeadWatch {
    url: DatabaseUrl,
    path: PathBuf,
    open: Option<OpenWatch>,
}

#[derive(Debug)]
struct OpenWatch {
    reader: Reader,
    file: HeadFile,
    newest: NotedHead,
}

impl HeadWatch {
    /// Notes heads in this file, which no other process of the node writes meanwhile.
    #[must_use]
    pub fn new(url: DatabaseUrl, path: PathBuf) -> Self {
        Self { url, path, open: None }
    }

    /// Compares the newest noted head with the journal, and notes the present one.
    ///
    /// # Errors
    /// [`StoreError::TailLost`] if the journal does not have the noted head; otherwise if the books cannot be read.
    pub fn look(&mut self) -> Result<(), StoreError> {
        let Some(watch) = &mut self.open else {
            let reader = Reader::open(self.url.clone())?;
            let noted = read_file(&self.path)?;
            let noted: Vec<_> = noted.map(|noted| (NotedIn::File(self.path.clone()), noted)).into_iter().collect();
            reader.check_noted(&noted)?;
            let newest = NotedHead::from(&reader.head()?);
            let file = HeadFile::start(&self.path, reader.source())?;
            self.open = Some(OpenWatch { reader, file, newest });
            return Ok(());
        };
        if watch.newest.batch > 0 && !watch.reader.has_head(watch.newest.batch, &watch.newest.hash)? {
            // Lost, or accepted as lost: beginning anew decides which.
            self.open = None;
            return self.look();
        }
        let head = NotedHead::from(&watch.reader.head()?);
        if head.batch > watch.newest.batch {
            watch.file.note(&head);
            watch.file.sync_if_due();
            watch.newest = head;
        }
        Ok(())
    }
}
