//! A socket with configurable faults in its HTTP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

/// What comes back.
pub enum Canned {
    /// A whole answer with this status.
    Status(u16, Vec<u8>),
    /// These bytes, and the connection closed.
    Bytes(Vec<u8>),
    /// Nothing, until the client times out.
    Silence,
}

pub struct Socket {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Socket {
    /// Answers each request with what the function makes of its body, one connection after the other.
    pub fn serve(mut answer: impl FnMut(&[u8]) -> Canned + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, stopped) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&stopped);
        let thread = std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                // A client that disconnects does not fail the test.
                let _ = converse(stream, &mut answer);
            }
        });
        Self { address, stopped, thread: Some(thread) }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v3/secret-key", self.address)
    }
}

fn converse(mut stream: TcpStream, answer: &mut impl FnMut(&[u8]) -> Canned) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut line) = (0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    match answer(&body) {
        Canned::Status(status, body) => {
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), &body].concat())
        }
        Canned::Bytes(bytes) => stream.write_all(&bytes),
        Canned::Silence => {
            // The client closes after its timeout.
            let mut nothing = [0; 1];
            reader.read(&mut nothing).map(drop)
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread, so that it sees the stop flag.
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
