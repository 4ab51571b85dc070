//! Where books are.

use std::path::{Path, PathBuf};

/// Where books are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// SQLite in a folder.
    Folder(PathBuf),
}

impl From<PathBuf> for Location {
    fn from(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }
}

impl From<&PathBuf> for Location {
    fn from(folder: &PathBuf) -> Self {
        Self::Folder(folder.clone())
    }
}

impl From<&Path> for Location {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.into())
    }
}

impl From<&Location> for Location {
    fn from(location: &Self) -> Self {
        location.clone()
    }
}
