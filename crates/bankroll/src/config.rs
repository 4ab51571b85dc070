//! `bankroll config show` and `bankroll config check`.

use std::fmt::Write;

use bankroll_roles::config::LoadedConfig;
use bankroll_terminal::{self as terminal, Exit, NotFound, Paint, invocation, table};
use clap::{Args, Subcommand};
use serde_json::{Map, json};

use crate::location::LocationArgs;

pub const EXAMPLES: &str = "\
Examples:
  bankroll config show --origin --dir casino
  bankroll config check --config /etc/bankroll/bankroll.toml
  BANKROLL__BOOKS__QUEUE_MAX=8192 bankroll config show --origin";

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration
    #[command(after_help = EXAMPLES)]
    Show(ConfigShowArgs),
    /// Check the configuration
    #[command(after_help = EXAMPLES)]
    Check(ConfigCheckArgs),
}

#[derive(Debug, Args)]
pub struct ConfigShowArgs {
    #[command(flatten)]
    location: LocationArgs,
    /// Also print the source of each value
    #[arg(long)]
    origin: bool,
}

#[derive(Debug, Args)]
pub struct ConfigCheckArgs {
    #[command(flatten)]
    location: LocationArgs,
}

pub fn run(command: &ConfigCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        ConfigCommand::Show(args) => show(args, json)?,
        ConfigCommand::Check(args) => check(&load(&args.location)?, json)?,
    }
    Ok(Exit::Ok)
}

/// The configuration of a folder that exists: with a mistyped name, all values would be defaults.
fn load(location: &LocationArgs) -> anyhow::Result<LoadedConfig> {
    if let Some(dir) = location.dir.as_ref().filter(|dir| !dir.exists()) {
        let (me, dir) = (invocation(), dir.display());
        return Err(NotFound(format!("there is no folder {dir}; `{me} init --dir {dir}` creates it")).into());
    }
    location.load()
}

fn show(args: &ConfigShowArgs, json: bool) -> anyhow::Result<()> {
    let loaded = load(&args.location)?;
    let values = loaded.keys().into_iter().filter_map(|key| loaded.value_of(&key).map(|value| (key, value)));
    match (args.origin, json) {
        (true, true) => {
            let all = values.map(|(key, (value, origin))| (key, json!({ "value": value, "origin": origin })));
            terminal::answer_json(&all.collect::<Map<_, _>>().into())
        }
        (false, true) => terminal::answer_json(&serde_json::to_value(&loaded.config)?),
        (true, false) => {
            let mut table = table(&["KEY", "VALUE", "FROM"], &[]);
            for (key, (value, origin)) in values {
                table.add_row([key, serde_json::to_string(&value)?, origin]);
            }
            terminal::answer(&table.trim_fmt())
        }
        (false, false) => {
            let (mut text, mut section) = (String::new(), String::new());
            for (key, (value, _)) in values {
                let (of, name) = key.rsplit_once('.').unwrap_or(("", &key));
                if of != section {
                    writeln!(text, "[{of}]")?;
                    of.clone_into(&mut section);
                }
                writeln!(text, "{name} = {}", serde_json::to_string(&value)?)?;
            }
            terminal::answer(&text)
        }
    }
}

fn check(loaded: &LoadedConfig, json: bool) -> anyhow::Result<()> {
    loaded.check_books_folder()?;
    loaded.config.books.warn_if_lossy();
    let keys = loaded.keys();
    let is_set = |key: &&String| loaded.value_of(key).is_some_and(|(_, from)| from != "default");
    let changed: Vec<&String> = keys.iter().filter(is_set).collect();
    if json {
        let warnings = &loaded.warnings;
        return terminal::answer_json(
            &json!({ "ok": true, "file": loaded.file, "set": changed, "warnings": warnings }),
        );
    }
    for warning in &loaded.warnings {
        eprintln!("{} {warning}", Paint::stderr().bad("warning:"));
    }
    let file = loaded.file.as_ref().map_or_else(|| "no file".into(), |file| file.display().to_string());
    let good = Paint::stdout().good("ok");
    let set = match changed.len() {
        all if all == keys.len() => format!("all {all} keys set"),
        set => format!("{set} of {} keys set, the others have their defaults", keys.len()),
    };
    terminal::answer(&format!("{good}  {file}; {set}"))
}
