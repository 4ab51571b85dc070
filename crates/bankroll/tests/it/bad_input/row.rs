//! One row: arguments, the exit code, and a part of the message.

use std::{
    io::Read,
    process::{Child, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::world::World;

/// Words of the programming language and its libraries.
const WORDS: &[&str] = &[
    "usize",
    "isize",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "f64",
    "struct",
    "enum",
    "panicked",
    "unwrap",
    "RUST_BACKTRACE",
    "ParseIntError",
    "Utf8Error",
    "PathBuf",
    "serde",
    "rusqlite",
    "figment",
    "clap",
    "anyhow",
];
/// Their forms and sentences; and the password that some files have.
const FORMS: &[&str] = &[
    "hunter2",
    "Some(",
    "None)",
    "Ok(",
    "Err(",
    "Os {",
    "Custom {",
    "kind: ",
    "os error",
    "..=",
    ".rs:",
    "::",
    "thread '",
    "invalid digit",
    "target type",
    "non-zero type",
    "invalid string length",
    "stream did not contain",
    "invalid type",
    "invalid length",
    "missing field",
    "unknown field",
    "unknown variant",
    "EOF while",
];
/// A message is a few sentences, and a terminal wraps it; a line beyond this is a dump.
const WIDTH_MAX: usize = 210;
/// Ends a row that does not end by itself, which is a failure.
const PATIENCE: Duration = Duration::from_secs(60);

/// Variables and arguments as in a shell, the exit code, and a part of the message.
pub struct Row(pub &'static str, pub i32, pub &'static str);

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Row {
    /// The words of the command line: quoted by `'`, as in a shell. Variables come first.
    pub fn words(&self) -> (Vec<(String, String)>, Vec<String>) {
        let mut words = Vec::new();
        let (mut word, mut quoted, mut is_word) = (String::new(), false, false);
        for letter in self.0.chars().chain([' ']) {
            match letter {
                '\'' => (quoted, is_word) = (!quoted, true),
                ' ' if !quoted && is_word => {
                    words.push(std::mem::take(&mut word));
                    is_word = false;
                }
                ' ' if !quoted => {}
                letter => {
                    word.push(letter);
                    is_word = true;
                }
            }
        }
        let arguments = words.iter().position(|word| !word.starts_with("BANKROLL_")).unwrap_or(words.len());
        let variables = words
            .drain(..arguments)
            .filter_map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
        (variables.collect(), words)
    }

    /// What is wrong with the answers to this row.
    pub fn failures(&self, world: &mut World) -> Vec<String> {
        let mut failures = Vec::new();
        for json in [false, true] {
            let outcome = self.run(world, json);
            let mut wrong = self.problems(&outcome, json);
            wrong.extend(world.changes().map(|changes| format!("changed: {changes}")));
            if !wrong.is_empty() {
                let Outcome { code, stdout, stderr } = outcome;
                let code = code.map_or_else(|| "killed".into(), |code| code.to_string());
                let flag = if json { " --json" } else { "" };
                failures.push(format!("`{}{flag}` ended with {code}: {}\n{stdout}{stderr}", self.0, wrong.join("; ")));
            }
        }
        failures
    }

    fn run(&self, world: &World, json: bool) -> Outcome {
        let (variables, mut words) = self.words();
        if json {
            words.push("--json".into());
        }
        let mut program = world.program();
        program.args(words).envs(variables).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        end_of(program.spawn().unwrap())
    }

    fn problems(&self, outcome: &Outcome, json: bool) -> Vec<String> {
        let &Self(_, code, says) = self;
        let Outcome { stdout, stderr, .. } = outcome;
        let mut wrong = Vec::new();
        if outcome.code != Some(code) {
            wrong.push(format!("{code} was expected"));
        }
        // A report is an answer, on standard output, and so is the warning of a command that works.
        let message = if stderr.is_empty() { stdout } else { stderr };
        if message.trim().is_empty() {
            wrong.push("there is no message".into());
        }
        wrong.extend(language_in(stdout).chain(language_in(stderr)).map(|word| format!("it says {word:?}")));
        if json {
            wrong.extend(self.json_problem(stdout, stderr));
        } else {
            if !message.contains(says) {
                wrong.push(format!("{says:?} was expected"));
            }
            let widths = stderr.lines().map(|line| line.chars().count());
            wrong.extend(widths.filter(|width| *width > WIDTH_MAX).map(|width| format!("a line of {width}")));
            if code != 0 && !stderr.is_empty() && !stderr.starts_with("error: ") && !stderr.contains("Usage:") {
                wrong.push("it does not begin with \"error: \"".into());
            }
        }
        wrong
    }

    fn json_problem(&self, stdout: &str, stderr: &str) -> Option<String> {
        let &Self(_, code, says) = self;
        if stderr.is_empty() || code == 0 {
            return serde_json::from_str::<Value>(stdout).err().map(|error| format!("the answer is not JSON: {error}"));
        }
        let body: Value = match serde_json::from_str(stderr) {
            Ok(body) => body,
            Err(error) => return Some(format!("the error is not JSON: {error}")),
        };
        let name = ["ok", "failed", "usage", "not_found", "unsound"][usize::try_from(code).unwrap()];
        if body["error"]["code"] != name {
            return Some(format!("the code {name:?} was expected"));
        }
        let Some(causes) = body["error"]["causes"].as_array() else { return Some("there are no causes".into()) };
        let texts = [&body["error"]["message"]].into_iter().chain(causes).filter_map(Value::as_str);
        let said = texts.collect::<Vec<_>>().join("\n");
        // Without a command, the text is the help.
        let is_help = says.starts_with("Usage:") && said.contains("requires a subcommand");
        (!said.contains(says) && !is_help).then(|| format!("{says:?} was expected in the error"))
    }
}

/// Words and forms of the programming language in a text.
fn language_in(text: &str) -> impl Iterator<Item = &'static str> {
    let words = WORDS.iter().filter(|word| {
        text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|found| found == **word)
    });
    words.chain(FORMS.iter().filter(|form| text.contains(**form))).copied()
}

/// Waits for the end of a process; one that does not end is killed.
fn end_of(mut child: Child) -> Outcome {
    fn reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
    let (stdout, stderr) = (reader(child.stdout.take().unwrap()), reader(child.stderr.take().unwrap()));
    let child = Arc::new(Mutex::new(child));
    let (ended, end) = mpsc::channel::<()>();
    let watched = Arc::clone(&child);
    let watch = thread::spawn(move || {
        if end.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            watched.lock().unwrap().kill().unwrap();
        }
    });
    let (stdout, stderr) = (stdout.join().unwrap(), stderr.join().unwrap());
    drop(ended);
    watch.join().unwrap();
    let code = child.lock().unwrap().wait().unwrap().code();
    Outcome { code, stdout, stderr }
}

#[test]
fn the_words_of_a_row_are_those_of_a_shell() {
    let (variables, words) = Row("BANKROLL__A=1 search --key 'a b' ''", 2, "").words();
    assert_eq!(variables, [("BANKROLL__A".to_owned(), "1".to_owned())]);
    assert_eq!(words, ["search", "--key", "a b", ""]);
}

#[test]
fn words_of_the_language_are_found_as_whole_words() {
    assert_eq!(language_in("expected u64, found Some(1)").collect::<Vec<_>>(), ["u64", "Some("]);
    assert_eq!(language_in("the structure of u640").count(), 0);
}
