//! Published heads that a reader has kept: as files of `bankroll head --json`, and as hashes on the command line.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::Context;
use bankroll_heads::{HeadForm, SignedHead, hash_from_text};
use bankroll_ledger::merkle::Hash;
use bankroll_orders::Address;
use bankroll_terminal::NotFound;

/// What `audit --head` takes.
#[derive(Clone, Debug)]
pub enum KeptHead {
    /// As an audit printed it.
    Hash {
        batch: u64,
        head: Hash,
    },
    File(PathBuf),
}

impl KeptHead {
    /// The batch and the head after it. A file counts if its signature does.
    pub fn read(&self) -> anyhow::Result<(u64, Hash)> {
        match self {
            Self::Hash { batch, head } => Ok((*batch, *head)),
            Self::File(path) => read_signed(path, None).map(|head| (head.batch, head.head)),
        }
    }
}

impl FromStr for KeptHead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once(':').and_then(|(batch, hash)| {
            let batch = batch.parse().ok().filter(|batch| *batch > 0)?;
            Some(Self::Hash { batch, head: hash_from_text(hash)? })
        });
        let file = || Path::new(text).is_file().then(|| Self::File(text.into()));
        parsed.or_else(file).ok_or_else(|| {
            "a head is BATCH:HASH, a number and 64 hexadecimal digits, or a file of `bankroll head --json`".into()
        })
    }
}

/// An address on the command line.
pub fn address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|error: bankroll_orders::AddressError| error.to_string())
}

/// The head in a file, if its signature is that of the address it names, and of the expected one.
pub fn read_signed(path: &Path, expected: Option<Address>) -> anyhow::Result<SignedHead> {
    let shown = path.display();
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(NotFound(format!("there is no file {shown}")).into());
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            anyhow::bail!("{shown} is not a published head: it is not text")
        }
        read => read.with_context(|| format!("cannot read {shown}"))?,
    };
    let not_head = || format!("{shown} is not a published head");
    let form: HeadForm = serde_json::from_str(&text).map_err(|_| {
        anyhow::anyhow!("{}: `bankroll head --json` prints one, and nothing may be added to it", not_head())
    })?;
    let head = SignedHead::try_from(&form).with_context(not_head)?;
    head.verify(expected).with_context(|| format!("the head in {shown} counts for nothing"))?;
    Ok(head)
}
