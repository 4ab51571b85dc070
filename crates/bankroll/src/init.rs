//! `bankroll init`: creates a folder with a configuration, and empty books there or in the configured database.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_roles::{
    config::{self, CONFIG_FILE, LoadedConfig, SetFlag},
    flows,
};
use bankroll_store::{BOOKS_FILE, DatabaseUrl, Ledger, LedgerOptions, Location, Reader, StoreError};
use bankroll_terminal::{self as terminal, Exit, Paint, invocation};
use clap::Args;
use serde_json::json;

use crate::location::LocationArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll init --dir casino    casino/bankroll.toml with all defaults, and casino/books.db
  bankroll init                 the same in this folder
  bankroll init --dir casino --set chain.id=31337 --set chain.confirmations=3

With books.database set, in the folder's bankroll.toml or in the environment as
BANKROLL__BOOKS__DATABASE, the empty books are created in that database.

Nothing is overwritten: an existing bankroll.toml is kept, and a folder or a
database that has books is refused.")]
pub struct InitArgs {
    /// The folder; created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Write a value into the new bankroll.toml: --set chain.rpc=http://127.0.0.1:8545
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<SetFlag>,
}

struct InitOutcome {
    config: PathBuf,
    /// False if a configuration existed already; it was kept.
    is_config_new: bool,
    /// The file, or the database without its password.
    books: String,
}

pub fn run(args: &InitArgs, json: bool) -> anyhow::Result<Exit> {
    let location = LocationArgs { dir: Some(args.dir.clone()), set: args.set.clone(), ..LocationArgs::default() };
    let loaded = location.load()?;
    let made = match loaded.books() {
        Location::Folder(folder) => in_folder(args, &folder)?,
        Location::Postgres(url) => in_database(args, &loaded, url)?,
    };
    if json {
        terminal::answer_json(&json!({ "dir": args.dir, "config": made.config, "books": made.books }))?;
    } else {
        terminal::answer(&text(args, &made, loaded.chain().is_some()))?;
    }
    Ok(Exit::Ok)
}

/// `folder` is the one of the books: another than the one of the configuration if the environment says so.
fn in_folder(args: &InitArgs, folder: &Path) -> anyhow::Result<InitOutcome> {
    let (config, books) = (args.dir.join(CONFIG_FILE), folder.join(BOOKS_FILE));
    let exists = |file: &Path| file.try_exists().with_context(|| format!("cannot check {}", file.display()));
    anyhow::ensure!(!exists(&books)?, "{} exists already; nothing was changed", books.display());
    let is_config_new = !exists(&config)?;
    // Values that were given and not written would be missed later.
    anyhow::ensure!(
        is_config_new || args.set.is_empty(),
        "{} exists already: change the values there, or leave --set out; nothing was changed",
        config.display()
    );
    make_folder(args)?;
    make_books(LedgerOptions { migrations: flows::migrations(), ..LedgerOptions::new(folder) })?;
    if is_config_new {
        write_config(&config, &args.set)?;
    }
    Ok(InitOutcome { config, is_config_new, books: books.display().to_string() })
}

/// Either an existing configuration or the environment names the database.
fn in_database(args: &InitArgs, loaded: &LoadedConfig, url: DatabaseUrl) -> anyhow::Result<InitOutcome> {
    match Reader::open(url.clone()) {
        Err(StoreError::NoBooks) => {}
        Ok(_) => return Err(StoreError::NotEmpty.into()),
        Err(error) => return Err(error).context("cannot read the database"),
    }
    make_folder(args)?;
    make_books(loaded.ledger_options())?;
    let config = args.dir.join(CONFIG_FILE);
    if loaded.file.is_none() {
        write_config(&config, &args.set)?;
    }
    Ok(InitOutcome { config, is_config_new: loaded.file.is_none(), books: loaded.config.books.database.shown() })
}

fn make_folder(args: &InitArgs) -> anyhow::Result<()> {
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot create the folder {}", args.dir.display()))
}

fn make_books(options: LedgerOptions) -> anyhow::Result<()> {
    Ledger::create(options).context("cannot create the books")?.close();
    Ok(())
}

/// A value may be a secret: the file is for this user alone.
fn write_config(path: &Path, given: &[SetFlag]) -> anyhow::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.write(true).create_new(true).open(path);
    let mut file = file.with_context(|| format!("cannot create {}", path.display()))?;
    file.write_all(config::commented(given).as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))
}

fn text(args: &InitArgs, made: &InitOutcome, has_chain: bool) -> String {
    let (paint, me, dir) = (Paint::stdout(), invocation(), args.dir.display());
    let config = if made.is_config_new {
        format!("{} {} (every key, with comments)\n", paint.good("created"), made.config.display())
    } else {
        String::new()
    };
    let next = if has_chain { String::new() } else { chain_steps(args, made) };
    let lead = if has_chain { "Next:" } else { "Next, for deposits and payouts on a simulated chain:" };
    format!(
        "{config}{} {} (empty books)\n\n{lead}\n{next}  {me} doctor --dir {dir}\n  {me} serve --dir {dir}\n",
        paint.good("created"),
        made.books,
    )
}

/// The way to a chain and a signer. docs/tutorial.md has the same steps, with their output.
fn chain_steps(args: &InitArgs, made: &InitOutcome) -> String {
    let (me, signer, password) = (invocation(), args.dir.join("signer"), args.dir.join("password"));
    let (signer, password, config) = (signer.display(), password.display(), made.config.display());
    format!(
        "  (umask 077; openssl rand -hex 32 > {password})\n  \
         {me} signer init --dir {signer} --password-file {password}\n  \
         {me} signer run --dir {signer} --password-file {password}  # leave it running\n  \
         {me} chain  # leave it running, too\n  \
         # in {config}: set chain.rpc, id, genesis, wallet; the commands above print them\n"
    )
}
