//! The arguments that name the configuration and the books.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_demo as demo;
use bankroll_roles::config::{LoadedConfig, SetFlag};
use bankroll_store::{Location, MovedBooks, Reader, StoreError};
use clap::Args;

#[derive(Clone, Debug, Default, Args)]
pub struct LocationArgs {
    /// The folder with `bankroll.toml` and the books [default: the folder of --config, or .]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// The configuration file [default: bankroll.toml in the folder, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Override one value of the file and the environment: --set books.queue_max=8192
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<SetFlag>,
}

impl LocationArgs {
    /// The base of relative paths in the configuration.
    pub fn base(&self) -> PathBuf {
        let of_config = || self.config.as_deref().and_then(Path::parent).filter(|parent| *parent != Path::new(""));
        self.dir.clone().or_else(|| of_config().map(Path::to_owned)).unwrap_or_else(|| PathBuf::from("."))
    }

    /// Loads the configuration: file, then environment, then flags.
    pub fn load(&self) -> anyhow::Result<LoadedConfig> {
        LoadedConfig::load(self.base(), self.config.clone(), &self.set)
    }

    /// Opens the books for reading.
    pub fn reader(&self) -> anyhow::Result<Reader> {
        let books = self.load()?.books();
        match Reader::open(&books) {
            Err(error @ StoreError::NoLedger { .. })
                if self.dir.is_none() && demo::is_demo(Path::new(demo::FOLDER)) =>
            {
                Err(error).context(format!("no ledger here; the demo's is in {0}: add `--dir {0}`", demo::FOLDER))
            }
            opened => {
                let reader = opened.with_context(|| match &books {
                    Location::Folder(folder) => format!("cannot read the books in {}", folder.display()),
                    Location::Postgres(_) => "cannot read the books in the database".into(),
                })?;
                if let Location::Folder(_) = books {
                    // Old pages with sound checksums contradict the newest records; servers check their pages.
                    reader.verify_tail()?;
                }
                if let Some(MovedBooks { to, at }) = reader.moved()? {
                    eprintln!("note: these books were moved to {to} at {at}; the ledger is there");
                }
                Ok(reader)
            }
        }
    }
}
