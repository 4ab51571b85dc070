//! Errors of the signer's commands, each with the next command.

use std::path::Path;

use super::{SignerPrograms, SignerUsageError};
use crate::{
    config::{SignerConfig, SignerConfigError},
    keystore::KeystoreError,
    memory::OpenError,
};

/// The configuration in a signer's folder.
///
/// # Errors
/// It is missing or cannot be used; the message names the next command.
pub fn read_config(dir: &Path, programs: &SignerPrograms) -> anyhow::Result<SignerConfig> {
    if dir.is_file() {
        let usage = format!("{} is a file; --dir names the signer's folder", dir.display());
        return Err(SignerUsageError(usage).into());
    }
    SignerConfig::read(dir).map_err(|error| {
        let (dir, SignerPrograms { me, show }) = (shown(dir), programs);
        let hint = match &error {
            SignerConfigError::Missing { .. } => {
                format!("no signer in {dir}; create one with `{me} init --dir {dir} --password-file FILE`")
            }
            SignerConfigError::Wrong { .. } => {
                format!("the rules of the signer cannot be used; correct them, then run `{show} --dir {dir}`")
            }
            SignerConfigError::Io { .. } => return anyhow::Error::from(error),
        };
        anyhow::Error::from(error).context(hint)
    })
}

/// A memory that was not opened.
#[must_use]
pub fn memory_error(error: OpenError, dir: &Path, programs: &SignerPrograms) -> anyhow::Error {
    let (dir, SignerPrograms { me, show }) = (shown(dir), programs);
    let hint = match &error {
        OpenError::InUse { .. } => {
            format!("another signer runs in {dir}; stop it first, or look at it with `{show} --dir {dir}`")
        }
        OpenError::Damaged { .. } => "the signer cannot use its memory: put the newest copy of it back. A new memory \
                                      would let keys that have signed sign again"
            .to_owned(),
        OpenError::Exists { .. } => format!("leave out --new-memory: `{me} run --dir {dir} --password-file FILE`"),
        _ => return error.into(),
    };
    anyhow::Error::from(error).context(hint)
}

/// A key file that was not opened.
pub(super) fn keystore_error(error: KeystoreError, file: &Path) -> anyhow::Error {
    let file = file.display();
    let hint = match error {
        KeystoreError::WrongPassword => {
            format!("cannot open {file}: give the password that it was created with, in --password-file")
        }
        _ => format!("cannot open {file}: put a copy of the key file back"),
    };
    anyhow::Error::from(error).context(hint)
}

/// A path as an argument of a command in a message.
#[must_use]
pub fn shown(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@%".contains(letter);
    let is_word = !path.is_empty() && path.chars().all(is_plain);
    if is_word { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_command_is_one_word() {
        let check = |path: &str, expected: &str| assert_eq!(shown(Path::new(path)), expected);
        check("casino/signer", "casino/signer");
        check("my signer", "'my signer'");
        check("it's", "'it'\\''s'");
    }
}
