//! The layers of the configuration, and where each value comes from.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    str::FromStr,
};

use bankroll_orders::ChainId;
use bankroll_store::{HEAD_FILE, LedgerOptions, Location};
use bankroll_terminal::{NotFound, UsageError, plain};
use figment::{
    Figment, Metadata, Profile, Provider,
    providers::{Env, Format, Serialized, Toml},
    util::nest,
    value::{Dict, Map, Value},
};

use super::{
    CONFIG_FILE, ChainConfig, Config, chain,
    database::without_password,
    environment::{ENV_PREFIX, StrayVariables, variable_of},
    keys,
    problems::{self, ConfigError},
};
use crate::{
    HEAD_KEY_FILE, SCRUB_FILE,
    flows::{FlowSetup, HeadSettings, NotifySetup, without_keys},
};

const FOLDER_KEY: &str = "books.folder";
const FLAG: &str = "flag --set";

#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// Variables that look like keys of the configuration and set none.
    pub warnings: Vec<String>,
    base: PathBuf,
    figment: Figment,
}

impl LoadedConfig {
    /// Loads the file (optional, unless it was named), the environment and the flags.
    pub fn load(base: PathBuf, named: Option<PathBuf>, flags: &[SetFlag]) -> anyhow::Result<Self> {
        if base.is_file() {
            return Err(UsageError(format!("{} is a file; --dir names a folder", base.display())).into());
        }
        let file = file_at(named.as_deref().unwrap_or(&base.join(CONFIG_FILE)))?;
        if let (Some(named), None) = (&named, &file) {
            return Err(NotFound(format!("there is no configuration file {}", named.display())).into());
        }
        let names = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        let stray = StrayVariables::among(names);
        if !stray.mistakes.is_empty() {
            return Err(ConfigError { problems: stray.mistakes }.into());
        }
        let of_file = file.as_ref().map_or_else(Figment::new, |file| Figment::from(Toml::file_exact(file)));
        let of_env = of_file.merge(Env::prefixed(ENV_PREFIX).split("__"));
        let given = flags.iter().fold(of_env, |given, flag| given.merge(flag));
        let figment = Figment::from(Serialized::defaults(defaults(&given))).merge(&given);
        let config = problems::extract(&given, &figment)?;
        Ok(Self { config, file, warnings: stray.warnings, base, figment })
    }

    /// The configured folder of the books must exist.
    pub fn check_books_folder(&self) -> Result<(), ConfigError> {
        let folder = self.books_folder();
        if self.config.books.database.url().is_some() || folder.is_dir() {
            return Ok(());
        }
        let what = if folder.exists() { "this is not a folder" } else { "there is no such folder" };
        let origin = self.value_of(FOLDER_KEY).map_or_else(String::new, |(_, origin)| origin);
        let what = format!("{}: {what}", folder.display());
        Err(ConfigError { problems: vec![problems::at_place(&origin, FOLDER_KEY, &what)] })
    }

    fn books_folder(&self) -> PathBuf {
        let folder = &self.config.books.folder;
        if folder == Path::new(".") { self.base.clone() } else { self.base.join(folder) }
    }

    /// The configured database, or the folder.
    pub fn books(&self) -> Location {
        self.config.books.database.url().map_or_else(|| self.books_folder().into(), Location::Postgres)
    }

    /// Where this node notes the newest head.
    pub fn head_file(&self) -> PathBuf {
        self.own_file(HEAD_FILE)
    }

    /// Where a node records when it last re-read all books.
    pub fn scrub_file(&self) -> PathBuf {
        self.own_file(SCRUB_FILE)
    }

    /// How this node publishes heads of the journal.
    pub fn head_settings(&self) -> HeadSettings {
        let (key_file, audience) = (self.own_file(HEAD_KEY_FILE), self.config.api.audience.clone());
        HeadSettings { key_file, audience, chain: ChainId(self.config.chain.id) }
    }

    /// A file of this node: with the books in their folder, or in its own folder if they are in a database.
    fn own_file(&self, name: &str) -> PathBuf {
        match self.books() {
            Location::Folder(folder) => folder.join(name),
            Location::Postgres(_) => self.base.join(name),
        }
    }

    /// The store's options for the configured books.
    pub fn ledger_options(&self) -> LedgerOptions {
        LedgerOptions { head_file: Some(self.head_file()), ..self.config.books.options(self.books()) }
    }

    /// The folder that relative paths of the configuration begin in.
    pub fn base(&self) -> &Path {
        &self.base
    }

    pub fn certificates(&self) -> PathBuf {
        self.base.join(&self.config.node.certificates)
    }

    /// The settings of the flows of each chain that this process follows, the one of `[chain]` first.
    pub fn chains(&self) -> Vec<FlowSetup> {
        // Problems were reported when it was loaded.
        chain::setups(&self.config, &self.base).unwrap_or_default()
    }

    /// Every key, those of further chains included, in the order in which they are shown.
    pub fn keys(&self) -> Vec<String> {
        keys::all(self.config.chains.keys().map(String::as_str))
    }

    /// The settings of deliveries to webhooks.
    pub fn notify(&self) -> NotifySetup {
        self.config.notify.setup(&self.config.node)
    }

    /// The value of a key as it is written in TOML, and where it comes from.
    pub fn value_of(&self, key: &str) -> Option<(Value, String)> {
        let mut value = self.figment.find_value(key).ok()?;
        let hide = match keys::form_key(key).as_ref() {
            super::DATABASE_KEY => Some(without_password as fn(&str) -> String),
            super::RPC_KEY | super::WS_KEY => Some(without_keys as fn(&str) -> String),
            _ => None,
        };
        if let (Some(hide), Value::String(tag, text)) = (hide, &value) {
            value = Value::String(*tag, hide(text));
        }
        let origin = self.figment.get_metadata(value.tag()).map_or_else(|| "default".into(), |from| origin(from, key));
        Some((value, origin))
    }
}

/// The defaults of all keys: a further chain that is given has every key.
fn defaults(given: &Figment) -> Config {
    let chains = problems::chain_names(given).into_iter().map(|name| (name, ChainConfig::further()));
    Config { chains: chains.collect(), ..Config::default() }
}

/// The configuration file at this path, if there is one; an error if it cannot be used.
fn file_at(path: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let problem = |what: &str| ConfigError { problems: vec![format!("{}: {what}", path.display())] };
    let cannot_read = |error: std::io::Error| problem(&format!("cannot be read: {}", plain(&error.to_string())));
    match fs::metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(found) if found.is_dir() => return Err(problem("this is a folder, and must be a configuration file")),
        Ok(_) => return Err(problem("this is not a configuration file")),
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            return Err(problem("this is a link to a file that does not exist"));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_read(error)),
    }
    let bytes = fs::read(path).map_err(cannot_read)?;
    if let Err(error) = std::str::from_utf8(&bytes) {
        let before = bytes.iter().take(error.valid_up_to());
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        return Err(problem(&format!("line {line} is not text in UTF-8")));
    }
    Ok(Some(path.to_owned()))
}

/// Where a value comes from: the file, the variable or the flag.
pub fn origin(metadata: &Metadata, key: &str) -> String {
    if let Some(file) = metadata.source.as_ref().and_then(|source| source.file_path()) {
        return file.display().to_string();
    }
    if metadata.name.contains("environment variable") {
        return variable_of(key);
    }
    if metadata.name == FLAG { format!("--set {key}") } else { "default".into() }
}

/// `--set KEY=VALUE`.
#[derive(Clone, Debug)]
pub struct SetFlag {
    pub(super) key: String,
    /// As it was given.
    pub(super) text: String,
    value: Value,
}

impl FromStr for SetFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = |(key, _): &(&str, &str)| key.trim().split('.').all(|part| !part.trim().is_empty());
        let given = text.split_once('=').filter(whole);
        let (key, text) = given.ok_or("write it KEY=VALUE, as in books.queue_max=8192")?;
        let value = text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {});
        Ok(Self { key: key.trim().to_lowercase(), text: text.to_owned(), value })
    }
}

impl Provider for SetFlag {
    fn metadata(&self) -> Metadata {
        Metadata::named(FLAG)
    }

    fn data(&self) -> figment::Result<Map<Profile, Dict>> {
        let dict = nest(&self.key, self.value.clone()).into_dict().unwrap_or_default();
        Ok(Map::from([(Profile::Default, dict)]))
    }
}

impl From<figment::Error> for ConfigError {
    fn from(error: figment::Error) -> Self {
        problems::of(error)
    }
}
