//! `bankroll-signer run`: the signing process.

use std::{fs, io, path::PathBuf, process, thread};

use anyhow::{Context, bail};
use bankroll_orders::Address;
use clap::Args;
use serde_json::json;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use super::{SignerNotFound, SignerPrograms, begin_memory, hints, password::PasswordArgs, print};
use crate::{
    clock,
    config::SignerConfig,
    key::LocalKey,
    keystore,
    memory::{Memory, OpenError},
    server::{SignerServer, SignerServerHandle},
    signer::Signer,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer run --dir signer --password-file secret
  bankroll signer run --dir signer --password-file secret --new-memory    only for keys that have never signed anything

It does not start without a memory, or with one that is damaged or belongs to other keys. A memory that is older than
an earlier answer stops the signer permanently: restore the newest copy.")]
pub struct SignerRunArgs {
    /// The signer's folder
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// Create a new memory. Only safe if none of the keys has ever signed anything
    #[arg(long)]
    new_memory: bool,
    /// Add one more key to the memory. Only safe if the key has never signed anything
    #[arg(long, value_name = "ADDRESS")]
    new_wallet: Vec<Address>,
    /// Stop when standard input closes, so that the signer ends with its parent process
    #[arg(long)]
    until_input_ends: bool,
    #[command(flatten)]
    password: PasswordArgs,
}

pub fn run(args: &SignerRunArgs, json: bool, programs: &SignerPrograms) -> anyhow::Result<()> {
    let config = hints::read_config(&args.dir, programs)?;
    let keys = keys(args, &config)?;
    let hint = |error| hints::memory_error(error, &args.dir, programs);
    let memory = memory(args, &config, hint)?;
    let signer = Signer::new(config.policy.clone(), keys, memory).map_err(hint)?;
    let head = signer.memory().head();
    let stopped = signer.memory().stopped().map(|why| why.to_string());
    let server = SignerServer::bind(&config.socket, config.client_uid, signer)
        .with_context(|| format!("cannot listen at {}", config.socket.display()))?;
    end_on_signals(server.handle())?;
    if args.until_input_ends {
        end_with_input(server.handle())?;
    }
    let wallets: Vec<Address> = config.policy.wallets.iter().copied().collect();
    let value = json!({
        "process": process::id(),
        "socket": config.socket,
        "wallets": wallets,
        "entries": head.count,
        "stopped": stopped,
    });
    let named: Vec<String> = wallets.iter().map(ToString::to_string).collect();
    let why = stopped.map(|why| format!("\nstopped permanently: {why}")).unwrap_or_default();
    let (named, socket) = (named.join(", "), config.socket.display());
    let entries = if head.count == 1 { "1 entry".to_owned() } else { format!("{} entries", head.count) };
    print(json, &value, &format!("signing for {named} at {socket} ({entries} in its memory){why}"))?;
    server.serve(|fault| {
        eprintln!("error: {fault}; restart the signer");
        process::exit(1);
    })?;
    Ok(())
}

fn keys(args: &SignerRunArgs, config: &SignerConfig) -> anyhow::Result<Vec<LocalKey>> {
    let password = args.password.read()?;
    let mut keys = Vec::new();
    for (wallet, file) in &config.wallets {
        let text = match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let missing = format!("there is no key file {}; put a copy of it back", file.display());
                return Err(SignerNotFound(missing).into());
            }
            read => read.with_context(|| format!("cannot read {}", file.display()))?,
        };
        let key = keystore::decrypt(&text, &password).map_err(|error| hints::keystore_error(error, file))?;
        if key.address() != *wallet {
            bail!("{} has the key of {}, not that of {wallet}", file.display(), key.address());
        }
        keys.push(key);
    }
    Ok(keys)
}

fn memory(
    args: &SignerRunArgs,
    config: &SignerConfig,
    hint: impl Fn(OpenError) -> anyhow::Error,
) -> anyhow::Result<Memory> {
    let mut memory = if args.new_memory {
        let wallets: Vec<Address> = config.policy.wallets.iter().copied().collect();
        begin_memory(&config.memory, &wallets).map_err(hint)?
    } else {
        Memory::open(&config.memory).map_err(hint)?
    };
    for wallet in &args.new_wallet {
        memory.adopt(*wallet, clock::now())?;
    }
    Ok(memory)
}

fn end_on_signals(server: SignerServerHandle) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot watch for signals")?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        if signals.forever().next().is_some() {
            end(&server);
        }
    })?;
    Ok(())
}

/// The parent process has ended then, even if it crashed, and no other process would stop this one.
fn end_with_input(server: SignerServerHandle) -> anyhow::Result<()> {
    thread::Builder::new().name("input".into()).spawn(move || {
        // The content does not matter; an input that cannot be read counts as closed.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end(&server);
    })?;
    Ok(())
}

/// Finishes the request in flight, closes the memory and exits.
fn end(server: &SignerServerHandle) {
    let closed = server.stop().map_or(Ok(()), Signer::close);
    if let Err(error) = &closed {
        // Every answer is in SQLite's log, which the next start reads.
        eprintln!("error: {error}");
    }
    process::exit(i32::from(closed.is_err()));
}
