//! A proxy to the server that can cut the connection between any two messages of the protocol, and in the middle of
//! one.
//!
//! It understands only what that needs: where a message begins and ends, its kind, and the text of some messages. It
//! cuts once each time it is armed; later connections are not cut.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Writer,
    Server,
}

/// What happens to the message at which the connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Manner {
    Lost,
    Half,
    Delivered,
    /// The writer's end is cut at once, and the message arrives while the writer checks its outcome.
    Late,
}

/// Where to cut: at the message with this number among those that one side sends from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub side: Side,
    pub number: usize,
    pub manner: Manner,
}

#[derive(Default)]
struct Plan {
    cut: Option<Cut>,
    counted: usize,
    /// The message at which it was cut.
    fired: Option<String>,
    /// Whether a connection has locked the fencing row, or waits for it, since the cut.
    looked: bool,
}

#[derive(Default)]
struct Shared {
    plan: Mutex<Plan>,
    changed: Condvar,
    closing: AtomicBool,
}

pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

/// A message whose outcome is never checked would hold its connection for ever.
const LATEST: Duration = Duration::from_secs(10);

impl Proxy {
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for writer in listener.incoming() {
                if accepting.closing.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                carry(writer.unwrap(), server, &accepting);
            }
        });
        Self { port, shared }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn arm(&self, cut: Cut) {
        *self.shared.plan.lock().unwrap() = Plan { cut: Some(cut), ..Plan::default() };
    }

    /// The message at which it was cut since it was armed, if that came.
    pub fn disarm(&self) -> Option<String> {
        std::mem::take(&mut *self.shared.plan.lock().unwrap()).fired
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn carry(writer: TcpStream, server: TcpStream, shared: &Arc<Shared>) {
    writer.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let back = (server.try_clone().unwrap(), writer.try_clone().unwrap(), Arc::clone(shared));
    let there = (writer, server, Arc::clone(shared));
    thread::spawn(move || pump(Side::Writer, there.0, there.1, &there.2));
    thread::spawn(move || pump(Side::Server, back.0, back.1, &back.2));
}

/// Carries messages one way until the connection ends or is cut.
fn pump(side: Side, mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    // The first message of a writer has no kind.
    let mut has_kind = side == Side::Server;
    let mut is_looking = false;
    while let Some(message) = read_message(&mut from, has_kind) {
        let cut = if has_kind { shared.judge(side, &message) } else { None };
        has_kind = true;
        match cut {
            None => {
                if to.write_all(&message).is_err() {
                    break;
                }
                is_looking |= message[0] == b'P' && contains(&message, b"FOR UPDATE");
                if is_looking && side == Side::Writer && message[0] == b'E' {
                    shared.note_look();
                }
            }
            Some(manner) => {
                if side == Side::Writer {
                    // The writer learns nothing more of what the server does with the message.
                    let _ = from.shutdown(Shutdown::Both);
                }
                if manner == Manner::Late {
                    shared.wait_for_look();
                }
                let upto = match manner {
                    Manner::Lost => 0,
                    Manner::Half => message.len() / 2,
                    Manner::Delivered | Manner::Late => message.len(),
                };
                let _ = to.write_all(&message[..upto]);
                break;
            }
        }
    }
    match side {
        // The server reads everything that was sent before it finds the end.
        Side::Writer => drop(to.shutdown(Shutdown::Write)),
        Side::Server => {
            let _ = to.shutdown(Shutdown::Both);
            // The server may finish its work.
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        }
    }
}

fn read_message(from: &mut TcpStream, has_kind: bool) -> Option<Vec<u8>> {
    let head = if has_kind { 5 } else { 4 };
    let mut message = vec![0; head];
    from.read_exact(&mut message).ok()?;
    let length = u32::from_be_bytes(message[head - 4..].try_into().unwrap()) as usize;
    message.resize(head - 4 + length, 0);
    from.read_exact(&mut message[head..]).ok()?;
    Some(message)
}

fn contains(message: &[u8], text: &[u8]) -> bool {
    message.windows(text.len()).any(|window| window == text)
}

impl Shared {
    fn judge(&self, side: Side, message: &[u8]) -> Option<Manner> {
        let mut plan = self.plan.lock().unwrap();
        let cut = plan.cut.filter(|cut| cut.side == side && plan.fired.is_none())?;
        plan.counted += 1;
        if plan.counted <= cut.number {
            return None;
        }
        plan.fired = Some(label(side, message));
        Some(cut.manner)
    }

    fn note_look(&self) {
        self.plan.lock().unwrap().looked = true;
        self.changed.notify_all();
    }

    fn wait_for_look(&self) {
        let plan = self.plan.lock().unwrap();
        drop(self.changed.wait_timeout_while(plan, LATEST, |plan| !plan.looked && plan.fired.is_some()).unwrap());
    }
}

/// The kind of a message, and its text where it has one that is short.
fn label(side: Side, message: &[u8]) -> String {
    let text = || String::from_utf8_lossy(&message[5..message.len().saturating_sub(1)]).into_owned();
    let kind = match (side, message[0]) {
        (Side::Writer, b'Q') => return text(),
        (Side::Server, b'C') => return text(),
        (Side::Writer, b'P') => "Parse",
        (Side::Writer, b'B') => "Bind",
        (Side::Writer, b'D') => "Describe",
        (Side::Writer, b'E') => "Execute",
        (Side::Writer, b'S') => "Sync",
        (Side::Writer, b'C') => "Close",
        (Side::Server, b'1') => "ParseComplete",
        (Side::Server, b'2') => "BindComplete",
        (Side::Server, b'3') => "CloseComplete",
        (Side::Server, b'Z') => "ReadyForQuery",
        (Side::Server, b'T') => "RowDescription",
        (Side::Server, b't') => "ParameterDescription",
        (Side::Server, b'D') => "DataRow",
        (Side::Server, b'n') => "NoData",
        (_, other) => return format!("{}", other as char),
    };
    kind.to_owned()
}
