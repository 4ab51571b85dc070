//! Files with secrets.

use std::{fs, io::Write, path::Path};

use anyhow::Context;

/// Creates a file that only this user can ever read, and syncs it.
pub fn write_secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.write(true).create_new(true).open(path);
    let mut file = file.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))
}
