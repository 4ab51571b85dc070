//! A reader of an event stream on a plain socket, so that a test decides about every byte.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A stream that says nothing for this long has failed its test.
const PATIENCE: Duration = Duration::from_secs(60);

/// The request that opens a stream.
#[derive(Clone, Debug)]
pub struct StreamRequest {
    pub address: SocketAddr,
    /// With its query.
    pub path: String,
    /// Whole lines: `authorization: Bearer ...`.
    pub headers: Vec<String>,
}

/// One block of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFrame {
    pub id: Option<u64>,
    pub event: Option<String>,
    pub data: Option<String>,
    pub retry: Option<u64>,
    pub comment: Option<String>,
}

/// The answer to a request for a stream.
#[derive(Debug)]
pub enum StreamAnswer {
    Open(StreamReader),
    Refused { status: u16, body: String },
}

#[derive(Debug)]
pub struct StreamReader {
    from: BufReader<TcpStream>,
    pub head: String,
    /// Bytes that are left of the current chunk.
    chunk: usize,
    /// Bytes of the body that were read.
    pub taken: usize,
}

impl StreamRequest {
    /// A stream of this session.
    #[must_use]
    pub fn new(address: SocketAddr, token: &str) -> Self {
        let path = "/v1/events".to_owned();
        Self { address, path, headers: vec![format!("authorization: Bearer {token}")] }
    }

    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    #[must_use]
    pub fn header(mut self, line: &str) -> Self {
        self.headers.push(line.to_owned());
        self
    }

    /// Resumes after an event.
    #[must_use]
    pub fn after(self, id: u64) -> Self {
        self.header(&format!("last-event-id: {id}"))
    }

    /// Sends the request and reads the head of its answer.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn send(&self) -> io::Result<StreamAnswer> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let lines: String = self.headers.iter().map(|line| format!("{line}\r\n")).collect();
        let path = &self.path;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\naccept: text/event-stream\r\n{lines}\r\n")?;
        let (mut from, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            if from.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let head = head.to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        match length {
            Some(length) => {
                let mut body = vec![0; length];
                from.read_exact(&mut body)?;
                Ok(StreamAnswer::Refused { status, body: String::from_utf8_lossy(&body).into_owned() })
            }
            None => Ok(StreamAnswer::Open(StreamReader { from, head, chunk: 0, taken: 0 })),
        }
    }

    /// The open stream.
    ///
    /// # Panics
    /// If it is refused.
    #[must_use]
    pub fn open(&self) -> StreamReader {
        match self.send() {
            Ok(StreamAnswer::Open(reader)) => reader,
            other => panic!("{}: {other:?}", self.path),
        }
    }
}

impl StreamReader {
    /// One byte of the body; `None` at its end.
    ///
    /// # Errors
    /// If the connection fails or is cut.
    pub fn byte(&mut self) -> io::Result<Option<u8>> {
        if self.chunk == 0 {
            let mut line = String::new();
            while line.trim().is_empty() {
                line.clear();
                if self.from.read_line(&mut line)? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            self.chunk = usize::from_str_radix(line.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            if self.chunk == 0 {
                return Ok(None);
            }
        }
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        self.chunk -= 1;
        self.taken += 1;
        Ok(Some(byte[0]))
    }

    /// The next whole block; `None` at the end of the stream.
    ///
    /// # Errors
    /// If the connection fails or is cut in the middle.
    pub fn frame(&mut self) -> io::Result<Option<StreamFrame>> {
        let mut text = Vec::new();
        while !text.ends_with(b"\n\n") {
            match self.byte()? {
                Some(byte) => text.push(byte),
                None => return Ok(None),
            }
        }
        Ok(Some(StreamFrame::read(&String::from_utf8_lossy(&text))))
    }

    /// The next event: blocks without data are skipped. `None` at the end of the stream.
    ///
    /// # Errors
    /// If the connection fails or is cut.
    pub fn event(&mut self) -> io::Result<Option<StreamFrame>> {
        loop {
            match self.frame()? {
                Some(frame) if frame.data.is_none() => {}
                other => return Ok(other),
            }
        }
    }
}

impl StreamFrame {
    /// A block as a browser reads it.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => frame.comment = Some(value.to_owned()),
                "id" => frame.id = value.parse().ok(),
                "event" => frame.event = Some(value.to_owned()),
                "data" => frame.data = Some(value.to_owned()),
                "retry" => frame.retry = value.parse().ok(),
                _ => {}
            }
        }
        frame
    }
}
