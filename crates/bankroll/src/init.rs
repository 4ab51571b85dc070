//! `bankroll init`: creates a folder with a configuration and the owner's key, and empty books there or in the
//! configured database; in a database also the users of roles.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use bankroll_orders::Address;
use bankroll_roles::{
    AuthKey, AuthKeyError, OWNER_KEY_FILE,
    config::{self, CONFIG_FILE, LoadedConfig, SetFlag},
    flows,
    registry::record_owner,
};
use bankroll_store::{BOOKS_FILE, DatabaseUrl, Ledger, LedgerOptions, Location, Reader, StoreError};
use bankroll_terminal::{self as terminal, Exit, Paint, UsageError, invocation};
use clap::Args;
use serde_json::json;

use crate::{
    database_users::{self, WrittenUser},
    location::LocationArgs,
    secret_file::write_secret,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bankroll init --dir casino    casino/bankroll.toml with all defaults, and casino/books.db
  bankroll init                 the same in this folder
  bankroll init --dir casino --set chain.id=31337 --set chain.confirmations=3

  bankroll init --dir casino --users logins    a database user for each role of a node

The key of the first owner is made in owner.key. It signs what this person
changes: servers, keys, wallets, other people. Keep it, and a copy, where no node
runs. What moves money by hand, or lifts a freeze, needs two people: the owner
adds the second with `bankroll operators add`. A studio of one says so with
`bankroll operators quorum 1`, a signed act that `bankroll doctor` shows.

With books.database set, in the folder's bankroll.toml or in the environment as
BANKROLL__BOOKS__DATABASE, the empty books are created in that database. With
--users and the login of the tables' owner, a database user is made for each
role, which can write the tables of its role and nothing else; its login is in
logins/ROLE.url, for the node's BANKROLL__BOOKS__DATABASE. Repeat this after
each update of the program: new tables need new rights.

Nothing is overwritten: an existing bankroll.toml, owner.key or login is kept,
and a folder or a database that has books is refused, except for --users.")]
pub struct InitArgs {
    /// The folder; created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Write a value into the new bankroll.toml: --set chain.rpc=http://127.0.0.1:8545
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<SetFlag>,
    /// Make a database user for each role; their logins are in this folder, created if missing
    #[arg(long, value_name = "FOLDER")]
    users: Option<PathBuf>,
}

struct InitOutcome {
    config: PathBuf,
    /// False if a configuration existed already; it was kept.
    is_config_new: bool,
    /// The file, or the database without its password.
    books: String,
    /// False if they existed already; only users were written.
    are_books_new: bool,
    /// The owner of new books, and whether their key is new. A key that existed already was kept.
    owner: Option<(Address, bool)>,
    users: Vec<WrittenUser>,
}

pub fn run(args: &InitArgs, json: bool) -> anyhow::Result<Exit> {
    let location = LocationArgs { dir: Some(args.dir.clone()), set: args.set.clone(), ..LocationArgs::default() };
    let loaded = location.load()?;
    let made = match loaded.books() {
        Location::Folder(_) if args.users.is_some() => {
            let what = "--users: books in a folder have no database users; set books.database";
            return Err(UsageError(what.into()).into());
        }
        Location::Folder(folder) => in_folder(args, &folder)?,
        Location::Postgres(url) => in_database(args, &loaded, url)?,
    };
    if json {
        let users: Vec<_> = made
            .users
            .iter()
            .map(|user| json!({ "role": user.role.as_str(), "user": user.name, "login": user.file }))
            .collect();
        terminal::answer_json(&json!({
            "dir": args.dir, "config": made.config, "books": made.books, "owner": made.owner.map(|(address, _)| address), "users": users,
        }))?;
    } else {
        terminal::answer(&text(args, &made, &loaded))?;
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
    let owner = owner_key(&args.dir.join(OWNER_KEY_FILE))?;
    make_books(LedgerOptions { migrations: flows::migrations(), ..LedgerOptions::new(folder) }, owner.0)?;
    if is_config_new {
        write_config(&config, &args.set)?;
    }
    let books = books.display().to_string();
    Ok(InitOutcome { config, is_config_new, books, are_books_new: true, owner: Some(owner), users: Vec::new() })
}

/// Either an existing configuration or the environment names the database.
fn in_database(args: &InitArgs, loaded: &LoadedConfig, url: DatabaseUrl) -> anyhow::Result<InitOutcome> {
    let are_books_new = match Reader::open(url.clone()) {
        Err(StoreError::NoBooks) => true,
        Ok(_) if args.users.is_some() => false,
        Ok(_) => return Err(StoreError::NotEmpty.into()),
        Err(error) => return Err(error).context("cannot read the database"),
    };
    make_folder(args)?;
    // Books that exist have their owner.
    let owner = are_books_new.then(|| owner_key(&args.dir.join(OWNER_KEY_FILE))).transpose()?;
    if let Some((owner, _)) = owner {
        make_books(loaded.ledger_options(), owner)?;
    }
    let users = args.users.as_ref().map(|folder| database_users::write(&url, folder)).transpose()?.unwrap_or_default();
    let config = args.dir.join(CONFIG_FILE);
    let is_config_new = loaded.file.is_none();
    if is_config_new {
        write_config(&config, &args.set)?;
    }
    let books = loaded.config.books.database.shown();
    Ok(InitOutcome { config, is_config_new, books, are_books_new, owner, users })
}

/// The address of the owner's key, and whether the key is new. A key that is there is kept.
fn owner_key(path: &Path) -> Result<(Address, bool), AuthKeyError> {
    match AuthKey::create(path) {
        Ok(key) => Ok((key.address(), true)),
        Err(AuthKeyError::Exists { .. }) => Ok((AuthKey::read(path)?.address(), false)),
        Err(error) => Err(error),
    }
}

fn make_folder(args: &InitArgs) -> anyhow::Result<()> {
    fs::create_dir_all(&args.dir).with_context(|| format!("cannot create the folder {}", args.dir.display()))
}

fn make_books(options: LedgerOptions, owner: Address) -> anyhow::Result<()> {
    let ledger = Ledger::create(options).context("cannot create the books")?;
    let recorded = record_owner(&ledger, owner).context("cannot record the owner in the books");
    ledger.close();
    recorded
}

/// A value may be a secret.
fn write_config(path: &Path, given: &[SetFlag]) -> anyhow::Result<()> {
    write_secret(path, &config::commented(given))
}

fn text(args: &InitArgs, made: &InitOutcome, loaded: &LoadedConfig) -> String {
    let (has_chain, is_database) = (!loaded.chains().is_empty(), loaded.config.books.database.url().is_some());
    let (paint, me, dir) = (Paint::stdout(), invocation(), args.dir.display());
    let config = if made.is_config_new {
        format!("{} {} (every key, with comments)\n", paint.good("created"), made.config.display())
    } else {
        String::new()
    };
    let created = paint.good("created");
    let books = if made.are_books_new { format!("{created} {} (empty books)\n", made.books) } else { String::new() };
    let owner = match made.owner {
        Some((address, true)) => {
            let (file, what) = (args.dir.join(OWNER_KEY_FILE), "keep a copy of it off this machine");
            format!("{created} {} (the owner's key: {address}; {what})\n", file.display())
        }
        Some((_, false)) | None => String::new(),
    };
    let user =
        |user: &WrittenUser| format!("{} {} (login of {})\n", paint.good("wrote"), user.file.display(), user.name);
    let users: String = made.users.iter().map(user).collect();
    let next = if has_chain { String::new() } else { chain_steps(args, made) };
    let lead = if has_chain { "Next:" } else { "Next, for deposits and payouts on a simulated chain:" };
    let needs_users = is_database && made.users.is_empty();
    let logins = if needs_users {
        format!("  {me} init --dir {dir} --users logins  # one for each role\n")
    } else {
        String::new()
    };
    let people = if made.owner.is_some() { people_steps(args) } else { String::new() };
    format!(
        "{config}{books}{owner}{users}{people}\n{lead}\n{logins}{next}  {me} doctor --dir {dir}\n  {me} serve --dir {dir}\n"
    )
}

/// What the owner's key is for, and how the first owner stops being the only one.
fn people_steps(args: &InitArgs) -> String {
    let (me, dir) = (invocation(), args.dir.display());
    format!(
        "\nThe owner's key signs what people change. Moving money by hand, or lifting a freeze,\n\
         needs two people; while the service runs, add the second:\n  \
         {me} operators add NAME --role approver --address ADDRESS --dir {dir}\n  \
         {me} operators quorum 1 --dir {dir}  # or: a studio of one\n"
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
