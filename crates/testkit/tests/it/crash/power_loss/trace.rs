//! Reading a trace: what was written, synced, created and removed in the folder, and what the victim printed
//! meanwhile.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    path::Path,
};

/// An event of the trace, in order. A change counts from the begin of its call, a sync from its end.
#[derive(Debug)]
pub enum Event {
    Create(String),
    Unlink(String),
    Rename {
        from: String,
        to: String,
    },
    Write {
        file: String,
        offset: usize,
        data: Vec<u8>,
    },
    Truncate {
        file: String,
        length: usize,
    },
    /// What happened to the file before the event `began` is durable.
    Sync {
        file: String,
        began: usize,
    },
    /// What files the folder had before the event `began` is durable.
    SyncFolder {
        began: usize,
    },
    /// A line of the victim.
    Line(String),
}

/// Whether a file survives a power loss. The shared memory is created again, the lock has no contents.
pub fn is_stored(file: &str) -> bool {
    file.starts_with("books.db") && file != "books.db-shm"
}

pub fn read_trace(log: &Path, folder: &Path) -> Vec<Event> {
    let mut reader =
        Reader { folder: folder.to_str().unwrap().to_owned(), events: Vec::new(), syncing: HashMap::new() };
    for line in BufReader::new(std::fs::File::open(log).unwrap()).lines() {
        let line = line.unwrap();
        if let Some((thread, call)) = line.split_once(' ') {
            reader.read(thread, call.trim_start());
        }
    }
    reader.events
}

struct Reader {
    folder: String,
    events: Vec<Event>,
    /// Syncs in flight by thread: what is synced, and since which event.
    syncing: HashMap<String, (Option<String>, usize)>,
}

impl Reader {
    fn read(&mut self, thread: &str, call: &str) {
        if call.starts_with("<... fsync resumed>") || call.starts_with("<... fdatasync resumed>") {
            return self.synced(thread, call);
        }
        let Some((name, rest)) = call.split_once('(') else { return };
        let event = match name {
            "write" if self.file(path_of(rest)).is_some() => panic!("books are not written so: {call:.200}"),
            "write" => self.printed(rest),
            "openat" if rest.contains("O_CREAT") => {
                let made = self.file(quoted(rest)).filter(|file| !self.is_there(file));
                made.into_iter().map(Event::Create).collect()
            }
            "unlink" => self.file(quoted(rest)).into_iter().map(Event::Unlink).collect(),
            "rename" => {
                let files = (self.file(quoted(rest)), self.file(quoted_at(rest, 3)));
                let (Some(from), Some(to)) = files else { panic!("this is not how books are written: {call:.200}") };
                vec![Event::Rename { from, to }]
            }
            "pwrite64" => self.written(rest),
            "ftruncate" => {
                let file = self.file(path_of(rest));
                file.map(|file| Event::Truncate { file, length: numbers(rest)[0] }).into_iter().collect()
            }
            "fsync" | "fdatasync" => {
                self.syncing.insert(thread.to_owned(), (path_of(rest), self.events.len()));
                if !call.ends_with("<unfinished ...>") {
                    self.synced(thread, call);
                }
                return;
            }
            "writev" | "pwritev" => panic!("this is not how books are written: {call:.200}"),
            _ => return,
        };
        self.events.extend(event);
    }

    fn synced(&mut self, thread: &str, call: &str) {
        let (path, began) = self.syncing.remove(thread).unwrap();
        if !call.trim_end().ends_with("= 0") {
            return;
        }
        if path.as_ref() == Some(&self.folder) {
            self.events.push(Event::SyncFolder { began });
        } else if let Some(file) = self.file(path) {
            self.events.push(Event::Sync { file, began });
        }
    }

    /// The name of a file of the folder that survives a power loss.
    fn file(&self, path: Option<String>) -> Option<String> {
        let path = path?;
        let file = path.strip_prefix(&self.folder)?.strip_prefix('/')?;
        is_stored(file).then(|| file.to_owned())
    }

    fn is_there(&self, file: &str) -> bool {
        let last = self.events.iter().rev().find_map(|event| match event {
            Event::Create(made) | Event::Rename { to: made, .. } if made == file => Some(true),
            Event::Unlink(gone) | Event::Rename { from: gone, .. } if gone == file => Some(false),
            _ => None,
        });
        // A file from before the trace has no event of creation; the disk knows it.
        last.unwrap_or(false)
    }

    fn written(&self, rest: &str) -> Vec<Event> {
        let Some(file) = self.file(path_of(rest)) else { return Vec::new() };
        let (start, end) = (rest.find('"').unwrap(), rest.rfind('"').unwrap());
        let data = unescape(&rest[start + 1..end]);
        let sizes = numbers(&rest[end..]);
        assert_eq!(data.len(), sizes[0], "the trace has cut a write");
        vec![Event::Write { file, offset: sizes[1], data }]
    }

    fn printed(&self, rest: &str) -> Vec<Event> {
        if rest.starts_with("2<") || path_of(rest).is_some_and(|path| path.starts_with(&self.folder)) {
            return Vec::new();
        }
        let text = String::from_utf8(unescape(rest.split('"').nth(1).unwrap())).unwrap();
        text.lines().map(|line| Event::Line(line.to_owned())).collect()
    }
}

/// The path of the first argument, which is an open file.
fn path_of(rest: &str) -> Option<String> {
    let (start, end) = (rest.find('<')?, rest.find('>')?);
    String::from_utf8(unescape(rest.get(start + 1..end)?)).ok()
}

fn quoted(rest: &str) -> Option<String> {
    quoted_at(rest, 1)
}

/// The text between the quotation marks before and behind this place.
fn quoted_at(rest: &str, place: usize) -> Option<String> {
    String::from_utf8(unescape(rest.split('"').nth(place)?)).ok()
}

/// The whole numbers behind the first comma, up to the end of the arguments.
fn numbers(rest: &str) -> Vec<usize> {
    let arguments = rest.split([')', '=']).next().unwrap_or_default();
    let words = arguments.split([',', ' ', '"']).skip(1);
    words.filter_map(|word| word.parse().ok()).collect()
}

/// `\x41\x42`, as the tracer writes every byte; other characters are literal.
fn unescape(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    let mut bytes = Vec::with_capacity(text.len() / 4);
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'\\', [b'x', high, low, after @ ..]) => {
                bytes.push(digit(*high) << 4 | digit(*low));
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}
