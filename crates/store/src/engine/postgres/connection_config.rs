//! A database URL, parsed: where the database is, and how the connection to it is protected.
//!
//! | `sslmode` | TLS | the server's certificate |
//! | --- | --- | --- |
//! | `verify-full` | always | verified, with the host's name |
//! | `require` | always | verified if `sslrootcert` is given |
//! | `prefer` | if the server has it | as for `require` |
//! | `disable` | never | - |
//!
//! Without `sslmode` it is `verify-full`, unless every host is this machine (loopback, or a socket) and no
//! `sslrootcert` is given. The roots are the file that `sslrootcert` names, or the machine's own. An unknown
//! parameter is an error: ignoring it could drop a protection that it asks for.
//!
//! Errors never quote the URL, only the names of its parameters.

use std::{net::IpAddr, path::PathBuf, str::FromStr};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};

use super::{CONNECT_TIMEOUT, SILENCE_TIMEOUT};
use crate::{DatabaseUrlError, Protection};

/// Parameters that are passed on to the driver. Not `target_session_attrs`: connections always go to the primary.
const DRIVER_PARAMETERS: [&str; 15] = [
    "user",
    "password",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "channel_binding",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "load_balance_hosts",
];
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// In place of a file: the root certificates of the machine.
const SYSTEM: &str = "system";

/// Where a database is, and how to connect. It may contain a password, so it has no `Debug`.
#[derive(Clone)]
pub(crate) struct ConnectionConfig {
    pub config: Config,
    pub protection: Protection,
    pub roots: RootSource,
}

/// Where trusted root certificates come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RootSource {
    Machine,
    File(PathBuf),
}

impl FromStr for ConnectionConfig {
    type Err = DatabaseUrlError;

    fn from_str(url: &str) -> Result<Self, DatabaseUrlError> {
        let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or(DatabaseUrlError::Form)?;
        // A password may contain a question mark.
        let parameters_from = rest.find('@').unwrap_or(0);
        let question = rest[parameters_from..].find('?').map(|place| parameters_from + place);
        let (place, parameters) = question.map_or((rest, ""), |place| (&rest[..place], &rest[place + 1..]));
        let (mut mode, mut roots, mut for_driver) = (None, None, Vec::new());
        for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').ok_or(DatabaseUrlError::Form)?;
            match name {
                "sslmode" => mode = Some(TlsMode::from_str(value)?),
                "sslrootcert" => roots = Some(read_roots(value)?),
                name if DRIVER_PARAMETERS.contains(&name) => for_driver.push(pair),
                name => return Err(DatabaseUrlError::Parameter { name: name.to_owned() }),
            }
        }
        let mut config: Config = format!("postgres://{place}?{}", for_driver.join("&")).parse()?;
        let is_set = |name: &str| for_driver.iter().any(|pair| pair.split_once('=').is_some_and(|(is, _)| is == name));
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        if !is_set("connect_timeout") {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if !is_set("tcp_user_timeout") {
            config.tcp_user_timeout(SILENCE_TIMEOUT);
        }
        if !is_set("keepalives_idle") {
            config.keepalives_idle(SILENCE_TIMEOUT);
        }
        let protection = protection(mode, roots.is_some(), is_this_machine(&config));
        config.ssl_mode(match protection {
            Protection::Local | Protection::PlainText => SslMode::Disable,
            Protection::IfOffered { .. } => SslMode::Prefer,
            Protection::Unverified | Protection::Verified => SslMode::Require,
        });
        Ok(Self { config, protection, roots: roots.unwrap_or(RootSource::Machine) })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TlsMode {
    Disable,
    Prefer,
    Require,
    VerifyFull,
}

impl FromStr for TlsMode {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        match text {
            "disable" => Ok(Self::Disable),
            "prefer" => Ok(Self::Prefer),
            "require" => Ok(Self::Require),
            "verify-full" => Ok(Self::VerifyFull),
            _ => Err(DatabaseUrlError::Mode),
        }
    }
}

fn read_roots(value: &str) -> Result<RootSource, DatabaseUrlError> {
    let path = percent_decode_str(value).decode_utf8().map_err(|_| DatabaseUrlError::Form)?;
    Ok(if path == SYSTEM { RootSource::Machine } else { RootSource::File(PathBuf::from(path.as_ref())) })
}

fn protection(mode: Option<TlsMode>, has_roots: bool, is_this_machine: bool) -> Protection {
    match mode {
        None if is_this_machine && !has_roots => Protection::Local,
        Some(TlsMode::Disable) if is_this_machine => Protection::Local,
        Some(TlsMode::Disable) => Protection::PlainText,
        Some(TlsMode::Prefer) => Protection::IfOffered { verified: has_roots },
        Some(TlsMode::Require) if !has_roots => Protection::Unverified,
        None | Some(TlsMode::Require | TlsMode::VerifyFull) => Protection::Verified,
    }
}

/// Whether every host is this machine.
fn is_this_machine(config: &Config) -> bool {
    let is_local_name = |name: &str| name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    let is_local_host = |host: &Host| match host {
        Host::Tcp(name) => is_local_name(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().all(is_local_host),
        addresses => addresses.iter().all(IpAddr::is_loopback),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection_of(url: &str) -> Protection {
        url.parse::<ConnectionConfig>().map(|address| address.protection).unwrap()
    }

    #[test]
    fn connections_that_leave_the_machine_are_verified_unless_sslmode_says_otherwise() {
        let check = |url: &str, expected: Protection| assert_eq!(protection_of(url), expected, "{url}");
        check("postgres://bank@db.example/books", Protection::Verified);
        check("postgres://bank@db,standby:5433/books", Protection::Verified);
        check("postgres://bank@127.0.0.1,standby/books", Protection::Verified);
        check("postgres://bank@10.0.0.7/books", Protection::Verified);
        check("postgres://bank@localhost/books?hostaddr=10.0.0.7", Protection::Verified);
        check("postgres://bank@127.0.0.1:5432/books", Protection::Local);
        check("postgres://bank@localhost/books", Protection::Local);
        check("postgres://bank@[::1]/books", Protection::Local);
        check("postgres://bank@%2Frun%2Fpostgresql/books", Protection::Local);
        check("postgres://bank@db/books?hostaddr=127.0.0.1", Protection::Local);
        check("postgres://bank@localhost/books?sslrootcert=/etc/ca.pem", Protection::Verified);
        check("postgres://bank@localhost/books?sslmode=verify-full", Protection::Verified);
    }

    #[test]
    fn sslmode_means_what_it_means_in_libpq() {
        let check = |parameters: &str, expected: Protection| {
            assert_eq!(protection_of(&format!("postgresql://bank@db/books?{parameters}")), expected, "{parameters}");
        };
        check("sslmode=disable", Protection::PlainText);
        check("sslmode=prefer", Protection::IfOffered { verified: false });
        check("sslmode=prefer&sslrootcert=ca.pem", Protection::IfOffered { verified: true });
        check("sslmode=require", Protection::Unverified);
        check("sslmode=require&sslrootcert=ca.pem", Protection::Verified);
        check("sslmode=require&sslrootcert=system", Protection::Verified);
        check("sslmode=verify-full&connect_timeout=3", Protection::Verified);
    }

    #[test]
    fn roots_are_a_file_or_the_machines_own() {
        let roots = |url: &str| url.parse::<ConnectionConfig>().map(|address| address.roots).unwrap();
        assert_eq!(roots("postgres://db/books"), RootSource::Machine);
        assert_eq!(roots("postgres://db/books?sslrootcert=system"), RootSource::Machine);
        assert_eq!(
            roots("postgres://db/books?sslrootcert=/my%20keys/ca.pem"),
            RootSource::File("/my keys/ca.pem".into())
        );
    }

    #[test]
    fn an_unknown_parameter_is_refused_by_name_and_without_its_value() {
        let message = |url: &str| url.parse::<ConnectionConfig>().map(drop).unwrap_err().to_string();
        let unknown = |name: &str| format!("the address of the database has a parameter `{name}` that is not known");
        assert_eq!(message("postgres://db/books?sslkey=s3cret"), unknown("sslkey"));
        assert_eq!(message("postgres://db/books?target_session_attrs=any"), unknown("target_session_attrs"));
        assert_eq!(message("postgres://u:a?b@db/books?sslmod=disable"), unknown("sslmod"));
        let modes = "sslmode must be disable, prefer, require or verify-full";
        assert_eq!(message("postgres://db/books?sslmode=verify-ca"), modes);
        assert_eq!(message("postgres://db/books?sslmode="), modes);
        let form = "the address of the database is not of the form postgres://user@host/database";
        assert_eq!(message("host=db user=bank password=s3cret"), form);
        assert_eq!(message("postgres://u:s3cret@db/books?connect_timeout"), form);
        assert_eq!(message("postgres://u:s3cret@db:port/books"), "the address of the database cannot be read");
        assert_eq!(
            message("postgres://u:s3cret@db/books?keepalives=yes"),
            "the address of the database cannot be read"
        );
    }

    #[test]
    fn timeouts_in_the_url_override_the_defaults() {
        let config = |url: &str| url.parse::<ConnectionConfig>().unwrap().config;
        let own = config("postgres://db/books?connect_timeout=3");
        assert_eq!(own.get_connect_timeout().map(std::time::Duration::as_secs), Some(3));
        assert_eq!(config("postgres://db/books").get_connect_timeout(), Some(&CONNECT_TIMEOUT));
    }
}
