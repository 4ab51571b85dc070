//! `docs/tutorial.md` and `docs/events.md`, run as a reader would: every command, in its order, and what the page says it prints.
//!
//! Blocks marked `sh` are run to their end; those marked `sh leave running: NAME` run until the page is over. The `text`
//! block after a block is what it prints: its lines in this order, with others between them. Hashes, addresses, times and
//! whole numbers may be others than on the page. The ports are free ones.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Instant,
};

use tempfile::TempDir;

use crate::{
    program::{API_ANYWHERE, folder},
    running::PATIENCE,
};

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");
const EVENTS: &str = include_str!("../../../../docs/events.md");
/// The address of the chain on the page.
const CHAIN: &str = "127.0.0.1:8545";
/// The address of the Funds API on the page.
const API: &str = "127.0.0.1:8640";

/// The address of the listener on the page about events.
const LISTENER: &str = "127.0.0.1:4242";

/// One block of commands of the page.
struct Step {
    mark: String,
    script: String,
    shows: Vec<String>,
}

fn steps(page: &str) -> Vec<Step> {
    let (mut steps, mut block): (Vec<Step>, Option<(String, String)>) = (Vec::new(), None);
    for line in page.lines() {
        match (line.strip_prefix("```"), block.take()) {
            (Some(mark), None) => block = Some((mark.to_owned(), String::new())),
            (Some(_), Some((mark, text))) if mark == "text" => {
                steps.last_mut().expect("commands before what they print").shows =
                    text.lines().map(Into::into).collect();
            }
            (Some(_), Some((mark, _))) if mark == "json" => {}
            (Some(_), Some((mark, script))) => steps.push(Step { mark, script, shows: Vec::new() }),
            (None, Some((mark, text))) => block = Some((mark, format!("{text}{line}\n"))),
            (None, None) => {}
        }
    }
    steps
}

/// The machine of the reader: a folder, the program on the path, and what was left running.
struct Reader {
    folder: TempDir,
    /// Where the chain really listens.
    chain: String,
    /// Where the Funds API really listens.
    api: String,
    /// Where the listener really listens.
    listener: String,
    running: Vec<Background>,
}

struct Background {
    name: String,
    process: Child,
    lines: Receiver<String>,
}

impl Reader {
    fn shell(&self, script: &str) -> Command {
        let programs = Path::new(env!("CARGO_BIN_EXE_bankroll")).parent().unwrap().display();
        let script = script
            .replace("bankroll chain pay ", &format!("bankroll chain pay --rpc http://{CHAIN} "))
            .replace("bankroll chain --", "bankroll chain --port 0 --")
            .replace("--port 4242", "--port 0")
            .replace(LISTENER, &self.listener)
            .replace(CHAIN, &self.chain)
            .replace(API, &self.api);
        let mut shell = Command::new("sh");
        shell.args(["-euc", &script]).current_dir(self.folder.path()).env_clear();
        shell.envs(API_ANYWHERE).env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()));
        shell
    }

    fn run(&self, step: &Step) {
        let done = self.shell(&step.script).output().unwrap();
        let printed = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(done.status.success(), "{}\n{printed}", step.script);
        let mut wanted = wanted(&step.shows);
        printed.lines().for_each(|line| wanted.see(&self.as_on_page(line)));
        assert_eq!(wanted.missing(), None, "of\n{}\nwhich printed\n{printed}", step.script);
    }

    fn leave_running(&mut self, name: &str, step: &Step) {
        let mut shell = self.shell(&format!("exec {}", step.script));
        let mut process = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let (out, lines) = channel();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        std::thread::spawn(move || output.map_while(Result::ok).try_for_each(|line| out.send(line)));
        let left = Background { name: name.to_owned(), process, lines };
        let (mut wanted, deadline) = (wanted(&step.shows), Instant::now() + PATIENCE);
        while let Some(missing) = wanted.missing() {
            let line = left.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|_| panic!("{name} never printed: {missing}"));
            if let Some(address) = line.strip_prefix("Simulated chain at http://") {
                address.clone_into(&mut self.chain);
            }
            if let Some((_, rest)) = line.split_once("answers the Funds API at http://") {
                rest.split(';').next().unwrap().clone_into(&mut self.api);
            }
            if let Some(rest) = line.strip_prefix("listening at http://") {
                rest.trim_end_matches('/').clone_into(&mut self.listener);
            }
            wanted.see(&self.as_on_page(&line));
        }
        self.running.push(left);
    }

    fn as_on_page(&self, line: &str) -> String {
        line.replace(&self.chain, CHAIN).replace(&self.api, API).replace(&self.listener, LISTENER)
    }

    /// Ctrl-C in every terminal, the last one first.
    fn stop(self) {
        for mut left in self.running.into_iter().rev() {
            let sent = Command::new("kill").args(["-INT", &left.process.id().to_string()]).status().unwrap();
            assert!(sent.success());
            // The output ends with the process.
            let deadline = Instant::now() + PATIENCE;
            while left.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
            let ended = left.process.wait().unwrap();
            assert!(ended.success(), "{} ended with {ended}", left.name);
        }
    }
}

impl Drop for Background {
    /// A page that fails leaves nothing running.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lines that must come in this order.
struct Wanted<'a> {
    lines: std::iter::Peekable<Box<dyn Iterator<Item = &'a str> + 'a>>,
}

fn wanted(shows: &[String]) -> Wanted<'_> {
    let lines: Box<dyn Iterator<Item = &str>> =
        Box::new(shows.iter().map(|line| line.trim()).filter(|line| *line != "..."));
    Wanted { lines: lines.peekable() }
}

impl Wanted<'_> {
    fn see(&mut self, printed: &str) {
        self.lines.next_if(|line| is_like(line, printed));
    }

    fn missing(&mut self) -> Option<&str> {
        self.lines.peek().copied()
    }
}

/// Whether the words of the page are in this line, one after the other.
fn is_like(page: &str, printed: &str) -> bool {
    let (page, printed): (Vec<&str>, Vec<&str>) =
        (page.split_whitespace().collect(), printed.split_whitespace().collect());
    let alike = |(a, b): (&&str, &&str)| a == b || matches!((kind(a), kind(b)), (Some(a), Some(b)) if a == b);
    printed.windows(page.len()).any(|words| page.iter().zip(words).all(alike))
}

/// What a word is, if another one of the kind may stand in its place; with its length where that is fixed.
fn kind(word: &str) -> Option<(&'static str, usize)> {
    let word = word.trim_matches(|c: char| "(),;:".contains(c));
    let is = |test: fn(char) -> bool| !word.is_empty() && word.chars().all(test);
    if word.starts_with("0x") {
        Some(("hash or address", word.chars().count()))
    } else if is(|c| c.is_ascii_digit() || c == ',') {
        Some(("number", 0))
    } else if is(|c| c.is_ascii_digit() || "-:.TZ".contains(c)) && word.contains(['-', ':']) {
        Some(("time", 0))
    } else {
        None
    }
}

/// Runs a page; `left` processes are left running by it, and so many blocks say what they print.
fn check(page: &str, left: usize, shown: usize) {
    let steps = steps(page);
    let [chain, api, listener] = [CHAIN, API, LISTENER].map(str::to_owned);
    let mut reader = Reader { folder: folder(), chain, api, listener, running: Vec::new() };
    for step in &steps {
        match step.mark.as_str() {
            "sh build" => assert!(step.script.starts_with("cargo build --release\n"), "{}", step.script),
            "sh" => reader.run(step),
            mark => {
                let name = mark.strip_prefix("sh leave running: ").unwrap_or_else(|| panic!("no such mark: {mark}"));
                reader.leave_running(name, step);
            }
        }
    }
    assert_eq!(reader.running.len(), left);
    assert!(steps.iter().filter(|step| !step.shows.is_empty()).count() >= shown, "the page shows what it prints");
    reader.stop();
}

#[test]
fn every_command_of_the_tutorial_does_what_the_page_says() {
    check(TUTORIAL, 3, 8);
}

#[test]
fn every_command_of_the_page_about_events_does_what_the_page_says() {
    check(EVENTS, 2, 7);
}

#[test]
fn a_page_that_says_something_else_is_noticed() {
    assert!(is_like("wallet 0xab12", "created signer: wallet 0xcd34 now"));
    assert!(is_like("2 blocks at 2026-11-16", "17 blocks at 2027-01-01T00:00:00Z"));
    assert!(!is_like("0.01 ETH", "0.02 ETH"));
    assert!(!is_like("wallet 0xab12", "wallet 0xab1234"));
    assert!(!is_like("created casino/books.db", "created casino/books"));
    assert_eq!(wanted(&["a".into(), "...".into(), "b".into()]).missing(), Some("a"));
}
