//! The files that are in the repository or would be with the next commit.

use std::fs;

use anyhow::{Context, Result};

use crate::program;
use crate::workspace::Workspace;

/// A text file, by its path from the root of the repository.
#[derive(Debug)]
pub struct TextFile {
    pub path: String,
    pub text: String,
}

impl TextFile {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Numbered from one, as editors do.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

pub fn files(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let text = |(path, bytes)| String::from_utf8(bytes).ok().map(|text| TextFile { path, text });
    Ok(contents(workspace)?.into_iter().filter_map(text).collect())
}

/// Files that are not text: a program left them behind, and no reviewer can read them.
pub fn binaries(workspace: &Workspace) -> Result<Vec<String>> {
    let binary = contents(workspace)?.into_iter().filter(|(_, bytes)| std::str::from_utf8(bytes).is_err());
    Ok(binary.map(|(path, _)| format!("{path} is a binary file")).collect())
}

fn contents(workspace: &Workspace) -> Result<Vec<(String, Vec<u8>)>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = program::stdout(workspace.command("git").args(list))?;
    let mut files = Vec::new();
    for path in listed.split_terminator('\0') {
        let full = workspace.root().join(path);
        // Git still lists files deleted since the last commit; a link's target is listed itself if it is ours.
        if !fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let bytes = fs::read(&full).with_context(|| format!("cannot read {path}"))?;
        files.push((path.to_owned(), bytes));
    }
    Ok(files)
}
