//! PokerKit, running in a process of its own.

use std::{
    io::{BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::Value;

const VERSION: &str = "0.7.7";

pub struct PokerKit {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl PokerKit {
    /// `cargo xtask test` installs it into the tree; without it nothing is shown, so the test fails.
    pub fn start() -> Self {
        // Asked of this run: a target folder may be shared by several checkouts, and what was compiled in names one.
        let crate_folder = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("run the tests with cargo"));
        let python = crate_folder.join("../../.tools/pokerkit/bin/python3");
        assert!(python.exists(), "PokerKit is not installed in {}: run `cargo xtask test`", python.display());
        let mut process = Command::new(python)
            .arg("-B")
            .arg(crate_folder.join("tests/it/drive_pokerkit.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, answers) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        let mut pokerkit = Self { process, orders, answers };
        let hello = pokerkit.answer();
        assert_eq!(hello["pokerkit"], VERSION, "another version of PokerKit: run `cargo xtask test`");
        pokerkit
    }

    pub fn ask(&mut self, order: &Value) -> Value {
        let orders = self.orders.as_mut().unwrap();
        orders.write_all(format!("{order}\n").as_bytes()).unwrap();
        orders.flush().unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("PokerKit said {line:?}: {error}"))
    }
}

impl Drop for PokerKit {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.orders = None;
        let _ = self.process.wait();
    }
}
