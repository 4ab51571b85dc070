//! `bankroll-signer init`: creates a folder with a new key, rules and an empty memory.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::Write,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_input::whole;
use bankroll_orders::ChainId;
use clap::Args;
use serde_json::json;

use super::{
    SignerPrograms, SignerUsageError, begin_memory, hints::shown, password::PasswordArgs, print, seed::DerivationArgs,
};
use crate::{
    config::{self, CONFIG_FILE},
    key::LocalKey,
    keystore::{self, KeystoreCost},
};

const KEYSTORE_FILE: &str = "wallet.json";
const MEMORY_FILE: &str = "memory.db";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll signer init --dir signer --password-file secret               for the simulated chain
  bankroll signer init --dir signer --password-file secret --chain 1     for Ethereum; then check the limits
  bankroll signer init --dir play --light                                play money; the password is in
                                                                         BANKROLL_SIGNER_PASSWORD
  bankroll signer init --password-file secret --seed signer/seed.json

Nothing is ever overwritten: the command refuses a folder that has a signer.
Derive a wallet into one folder only: two signers with the same key have two
memories, and neither knows what the other has signed.")]
pub struct SignerInitArgs {
    /// The folder; created if missing, accessible only to this user
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// The id of the first chain in the rules
    #[arg(long, value_name = "ID", default_value_t = 31337, value_parser = whole::<u64>(1..=4_294_967_295, "a chain id"))]
    chain: u64,
    /// A key file that opens fast but whose password is easier to guess: for play money only
    #[arg(long)]
    light: bool,
    #[command(flatten)]
    derivation: DerivationArgs,
    #[command(flatten)]
    password: PasswordArgs,
}

pub fn run(args: &SignerInitArgs, json: bool, programs: &SignerPrograms) -> anyhow::Result<()> {
    let (dir, SignerPrograms { me, show }) = (shown(&args.dir), programs);
    if args.dir.is_file() {
        return Err(SignerUsageError(format!("{dir} is a file; --dir names a folder")).into());
    }
    let [config, keystore, memory] = [CONFIG_FILE, KEYSTORE_FILE, MEMORY_FILE].map(|file| args.dir.join(file));
    for file in [&config, &keystore, &memory] {
        let taken = file.try_exists().with_context(|| format!("cannot access {}", file.display()))?;
        let file = file.display();
        anyhow::ensure!(!taken, "{file} exists already; nothing was changed. See it with `{show} --dir {dir}`");
    }
    let password = args.password.read()?;
    let secret = args.derivation.secret(&password)?;
    make_folder(&args.dir)?;
    let wallet = LocalKey::from_bytes(&secret)?.address();
    let cost = if args.light { KeystoreCost::Light } else { KeystoreCost::Standard };
    write_new(&keystore, &keystore::encrypt(&secret, &password, cost)?)?;
    begin_memory(&memory, &[wallet])?.close()?;
    // Last: a folder with a configuration always has a key and a memory.
    write_new(&config, &config::template(wallet, KEYSTORE_FILE, ChainId(args.chain)))?;
    File::open(&args.dir).and_then(|folder| folder.sync_all()).context("cannot sync the folder")?;
    // Works as it is printed: with the password from where it came from.
    let password = args.password.file().map(|file| format!(" --password-file {}", shown(file))).unwrap_or_default();
    let next = format!("{me} run --dir {dir}{password}");
    let value = json!({ "dir": args.dir, "wallet": wallet, "config": config, "memory": memory, "next": next });
    let set = if args.password.file().is_some() { "" } else { "    with BANKROLL_SIGNER_PASSWORD set" };
    let config = config.display();
    let text = format!("created {dir}: wallet {wallet}\nNext: check the limits in {config}, then\n  {next}{set}");
    print(json, &value, &text)
}

/// Creates a folder that only this user can enter; an existing one stays as it is.
///
/// # Errors
/// It cannot be created.
pub fn make_folder(dir: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot create the folder {}", dir.display()))
}

/// Creates a file that only this user can read; it is synced when this returns.
///
/// # Errors
/// It exists, or cannot be written.
pub fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
