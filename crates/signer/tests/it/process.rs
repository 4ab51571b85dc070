//! The real process in a folder.

use std::{
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use bankroll_orders::MemoryId;
use bankroll_signer::{
    Memory,
    keystore::{self, KeystoreCost},
};
use bankroll_signer_client::SignerClient;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use zeroize::Zeroizing;

use crate::world::{NOON, SECRET, TOKEN, wallet};

pub const PASSWORD: &str = "correct horse";
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A folder as `init` makes it, with the test key, a light key file, and wide limits.
pub fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let key = keystore::encrypt(&Zeroizing::new(SECRET), PASSWORD.as_bytes(), KeystoreCost::Light).unwrap();
    fs::write(folder.path().join("wallet.json"), key).unwrap();
    fs::write(folder.path().join("signer.toml"), config("")).unwrap();
    Memory::create(&memory_of(folder.path()), MemoryId([1; 16]), &[wallet()], NOON).unwrap().close().unwrap();
    folder
}

pub fn memory_of(folder: &Path) -> PathBuf {
    folder.join("memory.db")
}

pub fn config(first_lines: &str) -> String {
    format!(
        "{first_lines}\nwindow_seconds = 86400\n[[wallets]]\naddress = \"{}\"\nkeystore = \"wallet.json\"\n[[chains]]\n\
         id = 31337\ntransactions = \"eip1559\"\nmax_fee_per_gas = \"1000000\"\nmax_priority_fee_per_gas = \"100000\"\n\
         max_gas = 100000\nfees_per_window = \"1000000000000\"\n[[chains.assets]]\nper_payout = \"1000000\"\n\
         per_window = \"1000000000\"\n[[chains.assets]]\ntoken = \"{TOKEN}\"\nper_payout = \"1000\"\nper_window = \"9000\"\n",
        wallet(),
    )
}

/// The program, with a bare environment and the password.
pub fn command(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bankroll-signer"));
    command.env_clear().env("BANKROLL_SIGNER_PASSWORD", PASSWORD).args(args).arg("--dir").arg(folder);
    command
}

/// Exit code and output of a run that ends by itself.
pub fn run(args: &[&str], folder: &Path) -> (i32, String, String) {
    let output = command(args, folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A signer that runs; killed when it is dropped.
pub struct Running {
    child: Child,
    pid: Option<Pid>,
    socket: PathBuf,
}

impl Running {
    pub fn start(folder: &Path) -> Self {
        let running = Self::start_under(None, folder, &[]);
        running.unwrap_or_else(|said| panic!("it did not start: {said}"))
    }

    /// Starts it, perhaps under a tracer. The error is its output if it did not start listening.
    pub fn start_under(tracer: Option<Command>, folder: &Path, args: &[&str]) -> Result<Self, String> {
        let mut own = command(&["run", "--json"], folder);
        own.args(args);
        let mut command = match tracer {
            None => own,
            Some(mut tracer) => {
                let args: Vec<OsString> = own.get_args().map(OsString::from).collect();
                tracer.env("BANKROLL_SIGNER_PASSWORD", PASSWORD).arg(own.get_program()).args(args);
                tracer
            }
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            let _ = child.wait();
            return Err(said);
        }
        let field = |name: &str| line.split(&format!("\"{name}\":")).nth(1).unwrap().to_owned();
        let pid: String = field("process").chars().take_while(char::is_ascii_digit).collect();
        Ok(Self { child, pid: Pid::from_raw(pid.parse().unwrap()), socket: folder.join("signer.sock") })
    }

    pub fn client(&self) -> SignerClient {
        SignerClient::new(&self.socket, PATIENCE)
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Stops it by a signal.
    pub fn end(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.child.wait().unwrap()
    }

    /// Killed, or waits until it has ended by itself.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }

    /// Waits until it has ended by itself; returns its output.
    pub fn wait(mut self) -> String {
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        self.pid = None;
        self.child.wait().unwrap();
        said
    }

    fn signal(&mut self, signal: Signal) {
        // Under a tracer the process may have ended; then its id is not ours any more.
        if let Some(pid) = self.pid.take().filter(|_| self.child.try_wait().unwrap().is_none()) {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
