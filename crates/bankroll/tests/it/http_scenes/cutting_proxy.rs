//! A proxy between callers and the node that loses what its seed says: the request, the answer, or a part of it.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use fastrand::Rng;

use crate::running::PATIENCE;

/// What happens to one connection.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The request arrives as a part; the rest is lost.
    HalfRequest,
    /// The request arrives, and both connections end before an answer.
    BeforeAnswer,
    /// The request arrives and is answered; of the answer this many percent arrive.
    WithinAnswer(usize),
    /// All arrives.
    Whole,
}

impl Fate {
    fn choose(rng: &mut Rng) -> Self {
        match rng.u8(0..8) {
            0 => Self::HalfRequest,
            1 | 2 => Self::BeforeAnswer,
            3 | 4 => Self::WithinAnswer(rng.usize(0..100)),
            _ => Self::Whole,
        }
    }
}

pub struct CuttingProxy {
    pub address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    /// Connections that were cut.
    pub cuts: Arc<AtomicUsize>,
}

impl CuttingProxy {
    pub fn start(target: SocketAddr, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (target, cuts) = (Arc::new(Mutex::new(target)), Arc::new(AtomicUsize::new(0)));
        let mut rng = Rng::with_seed(seed);
        let (of_thread, counted) = (Arc::clone(&target), Arc::clone(&cuts));
        // Ends with the process.
        std::thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let (fate, target, cuts) = (Fate::choose(&mut rng), *of_thread.lock().unwrap(), Arc::clone(&counted));
                std::thread::spawn(move || {
                    // What fails here is one more lost answer.
                    if !matches!(pass(caller, target, fate), Ok(())) || !matches!(fate, Fate::Whole) {
                        cuts.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { address, target, cuts }
    }

    /// The node is another process now.
    pub fn set_target(&self, target: SocketAddr) {
        *self.target.lock().unwrap() = target;
    }
}

fn pass(mut caller: TcpStream, target: SocketAddr, fate: Fate) -> std::io::Result<()> {
    caller.set_read_timeout(Some(PATIENCE))?;
    let request = read_request(&mut caller)?;
    let mut node = TcpStream::connect_timeout(&target, Duration::from_secs(5))?;
    node.set_read_timeout(Some(PATIENCE))?;
    if matches!(fate, Fate::HalfRequest) {
        return node.write_all(&request[..request.len() / 2]);
    }
    node.write_all(&request)?;
    if matches!(fate, Fate::BeforeAnswer) {
        return Ok(());
    }
    let mut answer = Vec::new();
    node.read_to_end(&mut answer)?;
    let length = match fate {
        Fate::WithinAnswer(percent) => answer.len() * percent / 100,
        _ => answer.len(),
    };
    caller.write_all(&answer[..length])?;
    caller.shutdown(Shutdown::Both)
}

/// A request as `Caller` writes it: a head with the length of the body.
fn read_request(from: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").map(|end| end + 4);
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if bytes.len() >= head + length.unwrap_or(0) {
                return Ok(bytes);
            }
        }
        match from.read(&mut chunk)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&chunk[..read]),
        }
    }
}
