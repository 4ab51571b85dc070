//! A Postgres server for the tests: in a folder of its own, on a free loopback port, stopped when it is dropped.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::{needed_tools, program};

/// The first names the server for tests that need one, the second makes suites that run on either engine use Postgres,
/// the last is the folder of the server's programs.
pub const SERVER_VARIABLE: &str = "BANKROLL_TEST_POSTGRES_SERVER";
pub const ENGINE_VARIABLE: &str = "BANKROLL_TEST_POSTGRES";
pub const PROGRAMS_VARIABLE: &str = "BANKROLL_TEST_POSTGRES_BIN";

/// Debian installs each version into a folder of its own, outside the path.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The oldest supported version.
const OLDEST: u32 = 15;
const USER: &str = "bankroll";
/// Postgres refuses to run as the superuser of the machine.
const SYSTEM_USER: &str = "postgres";

pub struct Server {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
}

impl Server {
    /// Installs Postgres where it is missing, makes a cluster and starts it.
    pub fn start() -> Result<Self> {
        let programs = ensure()?;
        let folder = tempfile::tempdir().context("cannot create a folder for Postgres")?;
        if is_superuser() {
            program::succeed(Command::new("chown").arg(SYSTEM_USER).arg(folder.path()))?;
        }
        let server = Self { programs, folder, port: free_port()? };
        let data = server.data();
        let make = ["-A", "trust", "-U", USER, "--no-sync", "--encoding=UTF8", "--locale=C", "-D"];
        program::stdout(server.command("initdb").args(make).arg(&data))?;
        server.control("start")?;
        Ok(server)
    }

    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}", self.port)
    }

    pub fn programs(&self) -> &Path {
        &self.programs
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self, verb: &str) -> Result<()> {
        let folder = self.folder.path();
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c max_connections=300",
            self.port,
            folder.display()
        );
        let mut command = self.command("pg_ctl");
        command.args(["-s", "-w", "-m", "fast", "-D"]).arg(self.data()).arg("-l").arg(folder.join("log"));
        program::succeed(command.args(["-o", &options, verb]))
    }

    fn command(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = if is_superuser() {
            let mut command = Command::new("runuser");
            command.args(["-u", SYSTEM_USER, "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir(self.folder.path());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test may have stopped it already; its folder is removed either way.
        let _ = self.control("stop");
    }
}

/// Postgres' programs, installed where they are missing.
fn ensure() -> Result<PathBuf> {
    if let Some(programs) = programs() {
        return Ok(programs);
    }
    needed_tools::install_package("postgresql")?;
    programs().context("postgresql was installed, but its programs are not in /usr/lib/postgresql")
}

/// The programs of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir(VERSIONS).ok()?;
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let known = versions.filter_map(|version| Some(version.ok()?.path()));
    let newest = known.filter(|path| number(path) >= Some(OLDEST)).max_by_key(|path| number(path))?;
    let programs = newest.join("bin");
    program::is_executable(&programs.join("initdb")).then_some(programs)
}

fn is_superuser() -> bool {
    program::stdout(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Below the ephemeral ports, of which one may be taken again before the server listens. The search starts at a port
/// derived from the process id, so that two runs on one machine do not choose the same one.
fn free_port() -> Result<u16> {
    let first = 20_000 + u16::try_from(process::id() % 10_000)?;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..32_000).find(is_free).context("no free port")
}
