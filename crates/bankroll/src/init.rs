//! `bankroll init`: a folder with a configuration and empty books.

use std::{fs, io::Write, path::PathBuf};

use anyhow::Context;
use bankroll_store::{BOOKS_FILE, Ledger, Options};
use clap::Args;
use serde_json::json;

use crate::{
    config,
    exit::Exit,
    flows,
    place::CONFIG_FILE,
    terminal::{self, Paint, invocation},
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll init --dir casino    casino/bankroll.toml with all defaults, and casino/books.db
  bankroll init                 the same in this folder

Nothing is ever overwritten: a folder that has either file is refused.")]
pub struct InitArgs {
    /// The folder; made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
}

pub fn run(args: &InitArgs, json: bool) -> anyhow::Result<Exit> {
    let (config, books) = (args.dir.join(CONFIG_FILE), args.dir.join(BOOKS_FILE));
    for file in [&config, &books] {
        let taken = file.try_exists().with_context(|| format!("cannot look at {}", file.display()))?;
        anyhow::ensure!(!taken, "{} is there already; nothing was changed", file.display());
    }
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot make the folder {}", args.dir.display()))?;
    Ledger::open(Options { migrations: flows::migrations(), ..Options::new(&args.dir) })
        .context("cannot make the books")?
        .close();
    // Written last and never over another: a folder with a configuration has its books.
    let mut file = fs::File::create_new(&config).with_context(|| format!("cannot make {}", config.display()))?;
    file.write_all(config::commented_defaults().as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", config.display()))?;
    if json {
        terminal::answer_json(&json!({ "dir": args.dir, "config": config, "books": books }))?;
    } else {
        terminal::answer(&told(args, &config, &books))?;
    }
    Ok(Exit::Ok)
}

fn told(args: &InitArgs, config: &std::path::Path, books: &std::path::Path) -> String {
    let (paint, me, dir) = (Paint::stdout(), invocation(), args.dir.display());
    format!(
        "{} {} (all defaults, commented)\n{} {} (empty books)\n\nNext:\n  {me} doctor --dir {dir}\n  {me} config show --origin --dir {dir}\n",
        paint.good("made"),
        config.display(),
        paint.good("made"),
        books.display(),
    )
}
