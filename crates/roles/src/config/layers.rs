//! The layers of the configuration, and where each value comes from.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use bankroll_store::Location;
use bankroll_terminal::NotFound;
use figment::{
    Figment, Metadata, Profile, Provider,
    providers::{Env, Format, Serialized, Toml},
    util::nest,
    value::{Dict, Map, Value},
};

use super::{
    CONFIG_FILE, Config,
    database::without_password,
    problems::{self, ConfigError},
};
use crate::flows::{FlowSetup, without_keys};

const ENV_PREFIX: &str = "BANKROLL__";
const FLAG: &str = "flag --set";

#[derive(Debug)]
pub struct LoadedConfig {
    pub config: Config,
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    base: PathBuf,
    figment: Figment,
}

impl LoadedConfig {
    /// Loads the file (optional, unless it was named), the environment and the flags.
    pub fn load(base: PathBuf, named: Option<PathBuf>, flags: &[SetFlag]) -> anyhow::Result<Self> {
        if let Some(file) = named.as_ref().filter(|file| !file.is_file()) {
            return Err(NotFound(format!("there is no configuration file {}", file.display())).into());
        }
        let file = Some(named.unwrap_or_else(|| base.join(CONFIG_FILE))).filter(|file| file.is_file());
        let of_file = file.as_ref().map_or_else(Figment::new, |file| Figment::from(Toml::file_exact(file)));
        let of_env = of_file.merge(Env::prefixed(ENV_PREFIX).split("__"));
        let given = flags.iter().fold(of_env, |given, flag| given.merge(flag));
        let figment = Figment::from(Serialized::defaults(Config::default())).merge(&given);
        let config = problems::extract(&given, &figment)?;
        Ok(Self { config, file, base, figment })
    }

    fn books_folder(&self) -> PathBuf {
        let folder = &self.config.books.folder;
        if folder == Path::new(".") { self.base.clone() } else { self.base.join(folder) }
    }

    /// The configured database, or the folder.
    pub fn books(&self) -> Location {
        self.config.books.database.url().map_or_else(|| self.books_folder().into(), Location::Postgres)
    }

    pub fn certificates(&self) -> PathBuf {
        self.base.join(&self.config.node.certificates)
    }

    /// The settings of the flows, if there is a chain.
    pub fn chain(&self) -> Option<FlowSetup> {
        let Config { chain, server, node, .. } = &self.config;
        // Problems were reported when it was loaded.
        chain.setup(server, &self.base, &node.name.to_string()).ok().flatten()
    }

    /// The value of a key as it is written in TOML, and where it comes from.
    pub fn value_of(&self, key: &str) -> Option<(Value, String)> {
        let mut value = self.figment.find_value(key).ok()?;
        let hide = match key {
            super::DATABASE_KEY => Some(without_password as fn(&str) -> String),
            super::RPC_KEY => Some(without_keys as fn(&str) -> String),
            _ => None,
        };
        if let (Some(hide), Value::String(tag, text)) = (hide, &value) {
            value = Value::String(*tag, hide(text));
        }
        let origin = self.figment.get_metadata(value.tag()).map_or_else(|| "default".into(), |from| origin(from, key));
        Some((value, origin))
    }
}

/// Where a value comes from: the file, the variable or the flag.
pub fn origin(metadata: &Metadata, key: &str) -> String {
    if let Some(file) = metadata.source.as_ref().and_then(|source| source.file_path()) {
        return file.display().to_string();
    }
    if metadata.name.contains("environment variable") {
        return format!("{ENV_PREFIX}{}", key.replace('.', "__").to_uppercase());
    }
    if metadata.name == FLAG { format!("--set {key}") } else { "default".into() }
}

/// `--set KEY=VALUE`.
#[derive(Clone, Debug)]
pub struct SetFlag {
    key: String,
    value: Value,
}

impl FromStr for SetFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text.split_once('=').ok_or("write it KEY=VALUE, as in books.queue_max=8192")?;
        let value = value.parse().unwrap_or_else(|never: std::convert::Infallible| match never {});
        Ok(Self { key: key.trim().to_lowercase(), value })
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
