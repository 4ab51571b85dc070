//! `bankroll init`: a folder with a configuration and empty books, in it or in the database that is named.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_roles::{
    config::{self, CONFIG_FILE, Loaded},
    flows,
};
use bankroll_store::{BOOKS_FILE, DatabaseUrl, Ledger, Location, Options, Reader, StoreError};
use bankroll_terminal::{self as terminal, Exit, Paint, invocation};
use clap::Args;
use serde_json::json;

use crate::place::Place;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll init --dir casino    casino/bankroll.toml with all defaults, and casino/books.db
  bankroll init                 the same in this folder

With books.database set, in the folder's bankroll.toml or in the environment as
BANKROLL__BOOKS__DATABASE, the empty books are made in that database.

Nothing is ever overwritten: a folder that has either file is refused, and so is
a database that has books.")]
pub struct InitArgs {
    /// The folder; made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

/// What was made, as it is shown.
struct Made {
    config: PathBuf,
    /// Not if there was one that names the database.
    is_config_new: bool,
    /// The file, or the database without its password.
    books: String,
}

pub fn run(args: &InitArgs, json: bool) -> anyhow::Result<Exit> {
    let place = Place { dir: Some(args.dir.clone()), ..Place::default() };
    let loaded = place.load()?;
    let made = match loaded.books() {
        Location::Folder(_) => in_folder(args)?,
        Location::Postgres(url) => in_database(args, &loaded, url)?,
    };
    if json {
        terminal::answer_json(&json!({ "dir": args.dir, "config": made.config, "books": made.books }))?;
    } else {
        terminal::answer(&told(args, &made))?;
    }
    Ok(Exit::Ok)
}

fn in_folder(args: &InitArgs) -> anyhow::Result<Made> {
    let (config, books) = (args.dir.join(CONFIG_FILE), args.dir.join(BOOKS_FILE));
    for file in [&config, &books] {
        let taken = file.try_exists().with_context(|| format!("cannot look at {}", file.display()))?;
        anyhow::ensure!(!taken, "{} is there already; nothing was changed", file.display());
    }
    make_folder(args)?;
    make_books(Options { migrations: flows::migrations(), ..Options::new(&args.dir) })?;
    // Written last and never over another: a folder with a configuration has its books.
    write_defaults(&config)?;
    Ok(Made { config, is_config_new: true, books: books.display().to_string() })
}

/// The configuration that names the database may be there, or the environment does.
fn in_database(args: &InitArgs, loaded: &Loaded, url: DatabaseUrl) -> anyhow::Result<Made> {
    match Reader::open(url.clone()) {
        Err(StoreError::NoBooks) => {}
        Ok(_) => return Err(StoreError::NotEmpty.into()),
        Err(error) => return Err(error).context("cannot look at the database"),
    }
    make_folder(args)?;
    make_books(loaded.config.books.options(url))?;
    let config = args.dir.join(CONFIG_FILE);
    if loaded.file.is_none() {
        write_defaults(&config)?;
    }
    Ok(Made { config, is_config_new: loaded.file.is_none(), books: loaded.config.books.database.shown() })
}

fn make_folder(args: &InitArgs) -> anyhow::Result<()> {
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot make the folder {}", args.dir.display()))
}

fn make_books(options: Options) -> anyhow::Result<()> {
    Ledger::open(options).context("cannot make the books")?.close();
    Ok(())
}

fn write_defaults(config: &Path) -> anyhow::Result<()> {
    let mut file = fs::File::create_new(config).with_context(|| format!("cannot make {}", config.display()))?;
    file.write_all(config::commented_defaults().as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", config.display()))
}

fn told(args: &InitArgs, made: &Made) -> String {
    let (paint, me, dir) = (Paint::stdout(), invocation(), args.dir.display());
    let config = if made.is_config_new {
        format!("{} {} (all defaults, commented)\n", paint.good("made"), made.config.display())
    } else {
        String::new()
    };
    format!(
        "{config}{} {} (empty books)\n\nNext:\n  {me} doctor --dir {dir}\n  {me} config show --origin --dir {dir}\n",
        paint.good("made"),
        made.books,
    )
}
