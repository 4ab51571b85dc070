//! `bankroll-signer init`: a folder with a new key, rules and an empty memory.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_orders::ChainId;
use clap::Args;
use serde_json::json;

use super::{begin_memory, password::PasswordArgs, print};
use crate::{
    config::{self, CONFIG_FILE},
    key::LocalKey,
    keystore::{self, KeystoreCost},
};

const KEYSTORE_FILE: &str = "wallet.json";
const MEMORY_FILE: &str = "memory.db";

/// How to make a signer.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer init --dir signer --password-file secret               for the simulated chain
  bankroll signer init --dir signer --password-file secret --chain 1     for Ethereum; then look at the limits
  bankroll signer init --dir play --light                                play money; the password is in
                                                                         BANKROLL_SIGNER_PASSWORD

Nothing is ever overwritten: a folder that has a signer is refused.")]
pub struct SignerInitArgs {
    /// The folder; made if it is not there, for this user alone
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// The number of the chain that the rules begin with
    #[arg(long, value_name = "ID", default_value_t = 31337)]
    chain: u64,
    /// A key file that opens at once, and whose password is guessed faster: for play money
    #[arg(long)]
    light: bool,
    #[command(flatten)]
    password: PasswordArgs,
}

pub fn run(args: &SignerInitArgs, json: bool) -> anyhow::Result<()> {
    let [config, keystore, memory] = [CONFIG_FILE, KEYSTORE_FILE, MEMORY_FILE].map(|file| args.dir.join(file));
    for file in [&config, &keystore, &memory] {
        let taken = file.try_exists().with_context(|| format!("cannot look at {}", file.display()))?;
        anyhow::ensure!(!taken, "{} is there already; nothing was changed", file.display());
    }
    let password = args.password.read()?;
    let mut folder = DirBuilder::new();
    let made = folder.recursive(true).mode(0o700).create(&args.dir);
    made.with_context(|| format!("cannot make the folder {}", args.dir.display()))?;
    let secret = keystore::generate();
    let wallet = LocalKey::from_bytes(&secret)?.address();
    let cost = if args.light { KeystoreCost::Light } else { KeystoreCost::Standard };
    write_new(&keystore, &keystore::encrypt(&secret, &password, cost)?)?;
    begin_memory(&memory, &[wallet])?.close()?;
    // Last: a folder with a configuration has its key and its memory.
    write_new(&config, &config::template(wallet, KEYSTORE_FILE, ChainId(args.chain)))?;
    File::open(&args.dir).and_then(|folder| folder.sync_all()).context("cannot sync the folder")?;
    let value = json!({ "dir": args.dir, "wallet": wallet, "config": config, "memory": memory });
    let dir = args.dir.display();
    let text = format!(
        "made {dir}: wallet {wallet}\nNext: look at the limits in {}, then\n  bankroll signer run --dir {dir}",
        config.display()
    );
    print(json, &value, &text)
}

/// For this user alone, and on disk when it returns.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
