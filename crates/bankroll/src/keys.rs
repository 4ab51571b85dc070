//! `bankroll keys`: the seed of a deployment's wallets, the public keys of its accounts, and keys that open sessions.
//!
//! A seed and its words appear in no message: `generate` prints the words once, on standard output, and nothing else
//! does. The keys of wallets are made by `bankroll signer init`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use bankroll_roles::AuthKey;
use bankroll_signer::{
    cli::{PasswordArgs, SignerUsageError, make_folder, open_seed, read_secret_file, shown, write_new},
    keystore::KeystoreCost,
    seed::{SEED_FILE, Seed, SeedError},
};
use bankroll_terminal::{self as terminal, Exit, Paint, invocation};
use clap::{Args, Subcommand};
use serde_json::json;
use zeroize::Zeroizing;

pub const EXAMPLES: &str = "\
Examples:
  bankroll keys generate --dir signer --password-file secret   a new seed
  bankroll keys xpub --dir signer --password-file secret --account 0
  bankroll keys auth arena.key            a key for the game server `arena`

The password can also be in BANKROLL_SIGNER_PASSWORD.";

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a seed, which wallets are derived from, and show its words once
    Generate(KeysGenerateArgs),
    /// Print the extended public key of an account, and its first addresses
    Xpub(KeysXpubArgs),
    /// Create a key file that a game server or an owner signs with
    Auth(KeysAuthArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll keys generate --dir signer --password-file secret
  bankroll keys generate --dir signer --password-file secret --no-mnemonic
  bankroll keys generate --password-file secret --mnemonic-file words

The seed is written to DIR/seed.json, encrypted with the password. Nothing is
overwritten. Only `signer init --seed` and `keys xpub` read the file: a signer
that runs does not need it, so keep it, and the words, on another machine.")]
pub struct KeysGenerateArgs {
    /// The signer's folder; created if missing, accessible only to this user
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// Do not show the words: the encrypted file is the only copy of the seed
    #[arg(long)]
    no_mnemonic: bool,
    /// Restore the seed from a file with its words, instead of making a new one
    #[arg(long, value_name = "FILE")]
    mnemonic_file: Option<PathBuf>,
    /// A seed file that opens fast but whose password is easier to guess: for play money only
    #[arg(long)]
    light: bool,
    #[command(flatten)]
    password: PasswordArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll keys xpub --dir signer --password-file secret
  bankroll keys xpub --dir signer --password-file secret --account 1 --json

The key derives the addresses of the account and can sign nothing. It shows all
payments of the account to its reader: give it to your own nodes only.")]
pub struct KeysXpubArgs {
    /// The folder with seed.json
    #[arg(long, value_name = "DIR", default_value = "signer")]
    dir: PathBuf,
    /// ACCOUNT in the path m/44'/60'/ACCOUNT'
    #[arg(
        long, value_name = "ACCOUNT", default_value_t = 0,
        value_parser = terminal::whole::<u32>(0..=2_147_483_647, "the number of an account")
    )]
    account: u32,
    /// How many addresses to print
    #[arg(
        long, value_name = "N", default_value_t = 3,
        value_parser = terminal::whole::<u32>(0..=1_000, "the number of addresses")
    )]
    addresses: u32,
    #[command(flatten)]
    password: PasswordArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll keys auth arena.key
  bankroll keys auth arena.key --json

The file is not encrypted, and only this user can read it. The key registers a
game server and opens its sessions; it holds no coins. Nothing is overwritten.")]
pub struct KeysAuthArgs {
    /// The new file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub fn run(command: &KeysCommand, json: bool) -> anyhow::Result<Exit> {
    match command {
        KeysCommand::Generate(args) => generate(args, json),
        KeysCommand::Xpub(args) => xpub(args, json),
        KeysCommand::Auth(args) => auth(args, json),
    }
    .map(|()| Exit::Ok)
}

fn generate(args: &KeysGenerateArgs, json: bool) -> anyhow::Result<()> {
    let path = seed_file(&args.dir)?;
    let exists = path.try_exists().with_context(|| format!("cannot access {}", path.display()))?;
    anyhow::ensure!(!exists, "{} exists already; nothing was changed", path.display());
    let password = args.password.read()?;
    let seed = match &args.mnemonic_file {
        Some(file) => restored(file)?,
        None => Seed::generate(),
    };
    let cost = if args.light { KeystoreCost::Light } else { KeystoreCost::Standard };
    let text = seed.encrypt(&password, cost)?;
    make_folder(&args.dir)?;
    write_new(&path, &text)?;
    std::fs::File::open(&args.dir).and_then(|folder| folder.sync_all()).context("cannot sync the folder")?;

    let given = args.password.file().map(|file| format!(" --password-file {}", shown(file))).unwrap_or_default();
    let (me, dir, file) = (invocation(), shown(&args.dir), shown(&path));
    let next = format!("{me} signer init --dir {dir}{given} --seed {file}");
    // Restored words are known already.
    let is_shown = !args.no_mnemonic && args.mnemonic_file.is_none();
    let words = is_shown.then(|| seed.mnemonic());
    if json {
        return terminal::answer_json(&json!({ "seed": path, "mnemonic": words, "next": next }));
    }
    let created = format!("{} {} (encrypted)\n", Paint::stdout().good("created"), path.display());
    let words = Zeroizing::new(words.map(words_text).unwrap_or_default());
    terminal::answer(&Zeroizing::new(format!("{created}{}\nNext:\n  {next}\n", *words)))
}

/// Six words in a line, under the warning.
fn words_text(words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let lines: Vec<String> = words.chunks(6).map(|line| format!("  {}\n", line.join(" "))).collect();
    format!(
        "\nWrite these words down, in this order, and keep them offline. They are shown\n\
         only now. With them, anyone can spend the coins of every wallet of this seed.\n\n{}",
        lines.concat()
    )
}

fn restored(file: &Path) -> anyhow::Result<Seed> {
    let bytes = read_secret_file(file, "mnemonic file")?;
    let words = std::str::from_utf8(&bytes).map_err(|_| SeedError::NotMnemonic);
    words.and_then(Seed::from_mnemonic).with_context(|| format!("cannot use the words in {}", file.display()))
}

fn xpub(args: &KeysXpubArgs, json: bool) -> anyhow::Result<()> {
    let path = seed_file(&args.dir)?;
    let seed = open_seed(&path, &args.password.read()?)?;
    let key = seed.account(args.account)?;
    let addresses = (0..args.addresses).map(|index| key.address(index)).collect::<Result<Vec<_>, _>>()?;
    let path = format!("m/44'/60'/{}'", args.account);
    if json {
        return terminal::answer_json(&json!({ "path": path, "xpub": key.to_string(), "addresses": addresses }));
    }
    let lines = addresses.iter().enumerate().map(|(index, address)| format!("  {path}/0/{index}  {address}\n"));
    terminal::answer(&format!("{key}\n{}", lines.collect::<String>()))
}

fn auth(args: &KeysAuthArgs, json: bool) -> anyhow::Result<()> {
    let address = AuthKey::create(&args.file)?.address();
    if json {
        return terminal::answer_json(&json!({ "file": args.file, "address": address }));
    }
    let (created, file) = (Paint::stdout().good("created"), args.file.display());
    terminal::answer(&format!("{created} {file} (secret: only its owner can read it)\naddress {address}\n"))
}

fn seed_file(dir: &Path) -> anyhow::Result<PathBuf> {
    if dir.is_file() {
        return Err(SignerUsageError(format!("{} is a file; --dir names the signer's folder", shown(dir))).into());
    }
    Ok(dir.join(SEED_FILE))
}
