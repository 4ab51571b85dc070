//! Callers of the Funds API: plain sockets, so that a test decides about every byte.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use serde_json::Value;

use crate::running::PATIENCE;

/// Who calls, and where.
#[derive(Clone, Debug)]
pub struct Caller {
    pub address: SocketAddr,
    pub token: String,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    /// In lower case.
    pub head: String,
    pub body: String,
}

impl Reply {
    /// Reads one answer; an error if it does not come as a whole.
    pub fn read(from: impl Read) -> io::Result<Self> {
        let (mut from, mut head) = (BufReader::new(from), String::new());
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok(Self { status, head, body: String::from_utf8(body).unwrap() })
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.json()
    }

    /// The code of an error.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_else(|| panic!("no error: {self:?}")).to_owned()
    }

    pub fn is_replay(&self) -> bool {
        self.head.contains("\r\nidempotent-replayed: true\r\n")
    }
}

impl Caller {
    /// The bytes of a request whose connection has no other; the body is not part of it.
    pub fn head(&self, method: &str, path: &str, key: &str, length: usize) -> String {
        let token = &self.token;
        format!(
            "{method} {path} HTTP/1.1\r\nhost: scene\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             idempotency-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
    }

    pub fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// One request on a connection of its own; an error if no whole answer came back.
    pub fn try_post(&self, path: &str, key: &str, body: &str) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        let head = self.head("POST", path, key, body.len());
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
        Reply::read(stream)
    }

    pub fn post(&self, path: &str, key: &str, body: &Value) -> Reply {
        self.try_post(path, key, &body.to_string()).unwrap()
    }

    /// A change of the server `arena`.
    pub fn arena(&self, path: &str, key: &str, body: &Value) -> Reply {
        self.post(&format!("/v1/servers/arena/{path}"), key, body)
    }

    pub fn try_get(&self, path: &str) -> io::Result<Reply> {
        let mut stream = self.connect()?;
        stream.write_all(self.head("GET", path, "none", 0).as_bytes())?;
        Reply::read(stream)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.try_get(path).unwrap()
    }

    /// The balance of an account, and what of it is available.
    pub fn balance(&self, account: &str) -> (u64, u64) {
        let body = self.get(&format!("/v1/servers/arena/accounts/{}", account.replace('/', "%2F"))).expect(200);
        let number = |field: &str| body[field].as_str().unwrap().parse().unwrap();
        (number("balance"), number("available"))
    }

    /// Sends the same request until it is answered for good: no answer, and an answer that says so, mean "again".
    pub fn post_until_answered(&self, path: &str, key: &str, body: &str) -> Reply {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            match self.try_post(path, key, body) {
                Ok(reply) if reply.status != 503 && reply.status != 429 => return reply,
                answered => assert!(std::time::Instant::now() < deadline, "{key}: {answered:?}"),
            }
            // The node may be starting.
            std::thread::yield_now();
        }
    }
}
