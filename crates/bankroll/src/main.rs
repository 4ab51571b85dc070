//! `bankroll`: the program. This file wires; each command lies in the module of its name.

mod accounts;
mod audit;
mod bench;
mod cli;
mod completions;
mod config;
mod decimal;
mod demo;
mod doctor;
mod exit;
mod hand;
mod init;
mod place;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use cli::{BenchCommand, Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let Cli { command, json } = Cli::parse();
    let exit = run(command, json).unwrap_or_else(|error| exit::report(&error, json));
    ExitCode::from(exit as u8)
}

fn run(command: Command, json: bool) -> anyhow::Result<Exit> {
    match command {
        Command::Demo(args) => demo::run(&args, json),
        Command::Init(args) => init::run(&args, json),
        Command::Accounts(command) => accounts::run(&command, json),
        Command::Doctor(args) => doctor::run(&args, json),
        Command::Config(command) => config::run(&command, json),
        Command::Bench(BenchCommand::Ledger(args)) => {
            let options = bench::Options { quick: args.quick, json, dir: args.dir };
            bench::run(&options).map(|()| Exit::Ok)
        }
        Command::Bench(BenchCommand::Poker(args)) => bench::poker::run(args.quick, json).map(|()| Exit::Ok),
        Command::Hand(command) => hand::run(&command, json),
        Command::Completions(args) => completions::run(&args, json),
    }
}
