//! `bankroll completions`.

use anyhow::Context;
use bankroll_terminal::{self as terminal, Exit};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

use crate::cli::Cli;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll completions bash > ~/.local/share/bash-completion/completions/bankroll
  bankroll completions zsh > ~/.zfunc/_bankroll
  bankroll completions fish > ~/.config/fish/completions/bankroll.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

pub fn run(args: &CompletionsArgs, json: bool) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bankroll", &mut script);
    let script = String::from_utf8(script).context("the completions are not text")?;
    if json {
        terminal::answer_json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        terminal::answer(&script)?;
    }
    Ok(Exit::Ok)
}
