//! anvil, Foundry's node, in its own process. `cargo xtask test` installs it into the tree; without it the test fails.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

pub struct Anvil {
    process: Child,
    pub url: String,
}

impl Anvil {
    /// With its usual test accounts, a block for each transaction, and this chain id.
    pub fn start(chain_id: &str) -> Self {
        let mut process = Command::new(program())
            .args(["--host", "127.0.0.1", "--port", "0", "--chain-id", chain_id])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = lines.by_ref().find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned));
        let address = address.expect("anvil says where it listens");
        // Its later output must be drained, or it would block.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url: format!("http://{address}") }
    }
}

fn program() -> PathBuf {
    let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("run the tests with cargo"));
    let folder = crate_folder.join("../../.tools/anvil/node_modules/@foundry-rs");
    // A package for each platform, and one that selects among them.
    let packages = folder.read_dir().into_iter().flatten().flatten();
    let platforms = packages.filter(|package| package.file_name().to_string_lossy().starts_with("anvil-"));
    let mut binaries = platforms.map(|package| package.path().join("bin/anvil")).filter(|binary| binary.is_file());
    binaries.next().unwrap_or_else(|| panic!("anvil is not installed in {}: run `cargo xtask test`", folder.display()))
}

impl Drop for Anvil {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
