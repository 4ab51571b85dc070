//! A Postgres server of one test: its own folder and port, durable as in production, and free to be killed.
//!
//! Guarantees that it is gone when it is dropped, and that a killed one leaves no process behind. Does not know what
//! is stored in it.

use std::{
    collections::BTreeSet,
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
};

use bankroll_testkit::postgres;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::run::wait_until;

/// Names the programs of a server; without it, Debian's newest are taken.
const PROGRAMS: &str = "BANKROLL_TEST_POSTGRES_BIN";
const VERSIONS: &str = "/usr/lib/postgresql";
const USER: &str = "bankroll";
/// Postgres refuses to run as the superuser of the machine.
const SYSTEM_USER: &str = "postgres";

pub struct Cluster {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    /// Settings of this server alone, not of copies of it.
    settings: Vec<&'static str>,
}

impl Cluster {
    /// A new server with an empty database `books`.
    pub fn start() -> Self {
        let cluster = Self::initialised();
        cluster.start_first();
        cluster
    }

    /// The same with TLS: its certificate and private key.
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        let mut cluster = Self::initialised();
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = cluster.data().join(name);
            fs::write(&path, text).unwrap();
            // The server refuses a key that others can read.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            cluster.give_to_server(&path);
        }
        cluster.set("ssl=on");
        cluster.start_first();
        cluster
    }

    fn initialised() -> Self {
        let cluster = Self::in_a_new_folder();
        // The folder need not survive the machine; commits must survive the server, so it runs with its own defaults.
        let make = ["-A", "trust", "-U", USER, "--no-sync", "--encoding=UTF8", "--locale=C", "-D"];
        succeed(cluster.command("initdb").args(make).arg(cluster.data()));
        cluster
    }

    fn start_first(&self) {
        self.start_again();
        postgres::run(&self.url("postgres"), "CREATE DATABASE books");
    }

    /// A copy of a running server that follows it.
    pub fn standby_of(primary: &Self) -> Self {
        let standby = Self::in_a_new_folder();
        let mut copy = standby.command("pg_basebackup");
        copy.args(["-h", "127.0.0.1", "-U", USER, "-p", &primary.port.to_string(), "-R", "-X", "stream", "-c", "fast"]);
        succeed(copy.arg("--no-sync").arg("-D").arg(standby.data()));
        standby.start_again();
        standby
    }

    fn in_a_new_folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cluster = Self { programs: programs(), folder, port: free_port(), settings: Vec::new() };
        cluster.give_to_server(cluster.folder.path());
        cluster
    }

    fn give_to_server(&self, path: &Path) {
        if is_superuser() {
            succeed(Command::new("chown").arg(SYSTEM_USER).arg(path));
        }
    }

    /// From its next start on with this setting.
    pub fn set(&mut self, setting: &'static str) {
        self.settings.push(setting);
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://{}/{database}", self.host())
    }

    fn host(&self) -> String {
        format!("{USER}@127.0.0.1:{}", self.port)
    }

    /// An address of both, for the one that accepts writes.
    pub fn url_of_two(&self, other: &Self) -> String {
        format!("postgres://{},127.0.0.1:{}/books", self.host(), other.port)
    }

    pub fn start_again(&self) {
        self.control("start", "fast");
    }

    /// Stops it as an operator does: `fast` lets it finish, `immediate` does not.
    pub fn stop(&self, how: &str) {
        self.control("stop", how);
    }

    pub fn promote(&self) {
        self.control("promote", "fast");
    }

    /// Every process of the server at once, as when its machine dies.
    pub fn kill(&self) {
        let file = self.data().join("postmaster.pid");
        let postmaster: i32 = fs::read_to_string(&file).unwrap().lines().next().unwrap().parse().unwrap();
        // Stopped first, so that no child starts between the listing and the kill: a surviving child would keep the
        // shared memory of the server, and prevent it from starting again.
        signal(postmaster, Signal::STOP);
        wait_until("the server stands still", || state_of(postmaster).is_none_or(|(state, _)| state == 'T'));
        // They would end without it, too, but later.
        let all: Vec<i32> = [postmaster].into_iter().chain(children_of(postmaster)).collect();
        for process in &all {
            signal(*process, Signal::KILL);
        }
        wait_until("the server is gone", || !all.iter().any(|process| is_alive(*process)));
        // Without a parent that waits, the process numbers would look taken.
        fs::remove_file(file).unwrap();
        let _ = fs::remove_file(self.folder.path().join(format!(".s.PGSQL.{}.lock", self.port)));
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn control(&self, verb: &str, how: &str) {
        succeed(&mut self.control_command(verb, how));
    }

    fn control_command(&self, verb: &str, how: &str) -> Command {
        let folder = self.folder.path();
        let own: String = self.settings.iter().map(|setting| format!(" -c {setting}")).collect();
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync=on -c max_connections=200{own}",
            self.port,
            folder.display()
        );
        let mut command = self.command("pg_ctl");
        command.args(["-s", "-w", "-D"]).arg(self.data());
        match verb {
            "start" => command.arg("-l").arg(folder.join("log")).args(["-o", &options, verb]),
            "stop" => command.args(["-m", how, verb]),
            _ => command.arg(verb),
        };
        command
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

impl Drop for Cluster {
    fn drop(&mut self) {
        // Its test may have stopped or killed it; its folder is removed either way.
        let _ = self.control_command("stop", "immediate").stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Below the ephemeral ports: one of those could be taken while the server is down, by a client that tries to reach
/// it. Each port is assigned once: it looks free as long as its server has not started, or is down.
fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = GIVEN.lock().unwrap();
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok() && given.insert(*port);
    std::iter::repeat_with(|| fastrand::u16(20_000..32_000)).find(is_free).unwrap()
}

fn programs() -> PathBuf {
    if let Some(programs) = std::env::var_os(PROGRAMS) {
        return programs.into();
    }
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let newest = versions.filter(|path| path.join("bin/initdb").exists()).max_by_key(|path| number(path));
    let Some(newest) = newest else {
        panic!("these tests need Postgres: install its server, or name the folder of its programs in {PROGRAMS}");
    };
    newest.join("bin")
}

fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

fn succeed(command: &mut Command) {
    // The server inherits open files, so a pipe would stay open for as long as it runs.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}

/// Sends a signal to a process that may be gone.
pub fn signal(process: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(process).unwrap(), signal);
}

/// State and parent of a process.
fn state_of(process: i32) -> Option<(char, i32)> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn is_alive(process: i32) -> bool {
    state_of(process).is_some_and(|(state, _)| state != 'Z')
}

fn children_of(parent: i32) -> Vec<i32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|process| state_of(*process).is_some_and(|(_, its)| its == parent)).collect()
}
