//! A WebSocket in memory: bytes in, messages out, and back. tungstenite does the protocol and reads and writes at once
//! what is there; who has the connection moves the bytes.

use std::{
    collections::VecDeque,
    io::{self, Read, Write},
};

use tungstenite::{
    Message, WebSocket,
    protocol::{Role, WebSocketConfig},
};

#[derive(Debug, Default)]
struct SocketBytes {
    received: VecDeque<u8>,
    to_send: Vec<u8>,
}

impl Read for SocketBytes {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // No bytes are not the end of the connection.
        if self.received.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { self.received.read(into) }
    }
}

impl Write for SocketBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to_send.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
pub struct SocketPipe(WebSocket<SocketBytes>);

/// The connection has ended, or must end: it broke the protocol or a limit.
#[derive(Debug)]
pub struct SocketEnded;

impl SocketPipe {
    /// The server's side, with this limit on what it receives in one message.
    pub fn new(message_bytes: usize) -> Self {
        let limit = Some(message_bytes);
        let config = WebSocketConfig::default().max_message_size(limit).max_frame_size(limit);
        Self(WebSocket::from_raw_socket(SocketBytes::default(), Role::Server, Some(config)))
    }

    pub fn receive(&mut self, bytes: &[u8]) {
        self.0.get_mut().received.extend(bytes);
    }

    /// The next complete message of text or bytes, if there is one.
    pub fn message(&mut self) -> Result<Option<Vec<u8>>, SocketEnded> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(Some(text.as_bytes().to_vec())),
                Ok(Message::Binary(bytes)) => return Ok(Some(bytes.to_vec())),
                // Pings are answered with the next bytes that are sent.
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(_) => return Err(SocketEnded),
            }
        }
    }

    pub fn send(&mut self, text: String) -> Result<(), SocketEnded> {
        self.0.write(Message::text(text)).map_err(|_| SocketEnded)
    }

    /// What the connection has to send now.
    pub fn take_to_send(&mut self) -> Vec<u8> {
        // After the last message there is nothing to flush, but still its bytes.
        let _ = self.0.flush();
        std::mem::take(&mut self.0.get_mut().to_send)
    }
}
