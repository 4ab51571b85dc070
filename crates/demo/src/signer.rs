//! The signer as a separate process, with its own folder, limits and memory: this program, run as `bankroll signer
//! run`.
//!
//! The game's process reaches its key only through the socket. Whenever the signer ends, it is started again: its
//! promises are in its memory. It ends with the game's process, however that ends: its standard input is a pipe from
//! it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::Sender,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail, ensure};
use bankroll_orders::Address;
use bankroll_roles::flows::StopFlag;
use bankroll_signer::{cli::PASSWORD_VARIABLE, config};
use serde_json::Value;

use super::{chain::CHAIN_ID, disk};

/// In the demo's folder.
pub const FOLDER: &str = "signer";
const SOCKET: &str = "signer.sock";
/// Play money: the folder is enough to get the key.
const PASSWORD: &str = "play money";
const STEP: Duration = Duration::from_millis(20);
/// Far longer than a signer takes to start or to end.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct SignerProcess {
    pub wallet: Address,
    pub socket: PathBuf,
    stop: StopFlag,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl SignerProcess {
    /// Creates its folder if there is none, starts it, and waits until it listens.
    pub fn start(demo: &Path, notes: Sender<String>) -> anyhow::Result<Self> {
        let folder = demo.join(FOLDER);
        let wallet = prepare(&folder)?;
        let mut child = run(&folder, &notes)?;
        let (stop, socket) = (StopFlag::default(), folder.join(SOCKET));
        let over = stop.clone();
        let thread = thread::spawn(move || {
            while !over.is_requested() {
                if let Ok(Some(status)) = child.try_wait() {
                    let _ = notes.send(format!("signer: ended with {status}; starting it again"));
                    child = run(&folder, &notes)?;
                }
                over.rest(STEP);
            }
            end(child)
        });
        Ok(Self { wallet, socket, stop, thread })
    }

    pub fn stop(self) -> anyhow::Result<()> {
        self.stop.request();
        self.thread.join().map_err(|_| anyhow!("the signer's supervisor panicked; its message is above"))?
    }
}

/// Prepares the folder of a signer with the demo's limits, and returns its wallet.
fn prepare(folder: &Path) -> anyhow::Result<Address> {
    let file = folder.join(config::CONFIG_FILE);
    if !file.exists() {
        if folder.exists() {
            // A demo was killed while it created this folder: without a configuration the signer never signed anything.
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        let chain = CHAIN_ID.to_string();
        let mut init = program(folder, "init")?;
        let made = init.args(["--light", "--chain", &chain]).output().context("cannot create a signer")?;
        ensure!(made.status.success(), "cannot create a signer: {}", String::from_utf8_lossy(&made.stderr).trim());
    }
    let [(wallet, _)] = config::SignerConfig::read(folder)?.wallets[..] else {
        bail!("the signer must have exactly one wallet")
    };
    // The default limits are strict; a demo makes thousands of payouts.
    let new = file.with_extension("new");
    fs::write(&new, rules(wallet))
        .and_then(|()| fs::rename(&new, &file))
        .context("cannot write the signer's configuration")?;
    Ok(wallet)
}

fn rules(wallet: Address) -> String {
    format!(
        r#"# The signer of `bankroll demo`: play money. The demo writes this file each time it starts.
window_seconds = 3600

[[wallets]]
address = "{wallet}"
keystore = "wallet.json"

[[chains]]
id = {CHAIN_ID}
transactions = "eip1559"
max_fee_per_gas = "200000000000"
max_priority_fee_per_gas = "20000000000"
max_gas = 100000
fees_per_window = "1000000000000000000000"

[[chains.assets]]
per_payout = "1000000000000000000000"
per_window = "1000000000000000000000000"
"#
    )
}

fn program(folder: &Path, command: &str) -> anyhow::Result<Command> {
    let mut program = Command::new(std::env::current_exe().context("cannot find this program")?);
    program.args(["signer", command, "--json", "--dir"]).arg(folder).env(PASSWORD_VARIABLE, PASSWORD);
    // Ctrl-C must reach the game only: the game stops its processes in order.
    std::os::unix::process::CommandExt::process_group(&mut program, 0);
    Ok(program)
}

/// Starts the signer. The signer of a killed demo may need a moment to end.
fn run(folder: &Path, notes: &Sender<String>) -> anyhow::Result<Child> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut signer = program(folder, "run")?;
        signer.arg("--until-input-ends").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = signer.spawn().context("cannot start the signer")?;
        let mut line = String::new();
        let out = child.stdout.take().context("the signer has no output")?;
        BufReader::new(out).read_line(&mut line).context("cannot read the signer's output")?;
        if let Ok(started) = serde_json::from_str::<Value>(&line) {
            let (process, entries) = (&started["process"], &started["entries"]);
            let _ = notes.send(format!("signer: process {process}; entries in its memory: {entries}"));
            return Ok(child);
        }
        let failed = child.wait_with_output().context("cannot read the signer's output")?;
        let message = String::from_utf8_lossy(&failed.stderr).trim().to_owned();
        disk::check(folder)?;
        ensure!(Instant::now() < until, "the signer does not start: {message}");
        thread::sleep(STEP);
    }
}

fn end(mut child: Child) -> anyhow::Result<()> {
    drop(child.stdin.take());
    let until = Instant::now() + PATIENCE;
    while child.try_wait()?.is_none() {
        if Instant::now() >= until {
            child.kill()?;
        }
        thread::sleep(STEP);
    }
    Ok(())
}
