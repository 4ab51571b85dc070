//! The replay server's WebSocket: single calls, and one subscription to new heads.

use std::{net::TcpStream, time::Duration};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use super::{
    replay_file::{AnswerPart, ReplayReader},
    replay_rpc::ReplayNode,
};

/// How often a subscription without news looks whether it is still open.
const LOOK: Duration = Duration::from_millis(200);

/// Serves a client until it subscribes, and then announces heads until it is gone.
pub(super) fn serve(node: &ReplayNode, stream: TcpStream) -> anyhow::Result<()> {
    let mut reader = node.file.reader()?;
    let mut socket = tungstenite::accept(stream).map_err(|error| anyhow::anyhow!("no WebSocket: {error}"))?;
    loop {
        let Message::Text(text) = socket.read()? else { continue };
        let request: Value = serde_json::from_str(text.as_str())?;
        if request["method"] == "eth_subscribe" {
            // What is mined from here on is announced.
            let known = node.head();
            let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": "0x1" });
            socket.send(Message::text(answer.to_string()))?;
            return announce(node, &mut reader, &mut socket, known);
        }
        let mut answer = Vec::new();
        node.answer(&mut reader, text.as_bytes(), &mut answer)?;
        socket.send(Message::text(String::from_utf8(answer)?))?;
    }
}

fn announce(
    node: &ReplayNode,
    reader: &mut ReplayReader<'_>,
    socket: &mut WebSocket<TcpStream>,
    mut known: u64,
) -> anyhow::Result<()> {
    loop {
        let head = node.next_head(known, LOOK);
        if head == known {
            // Fails once the connection has ended.
            socket.send(Message::Ping(Vec::new().into()))?;
            continue;
        }
        known = head;
        let mut header = Vec::new();
        reader.append(head, AnswerPart::Header, &mut header)?;
        let (before, header) =
            (r#"{"jsonrpc":"2.0","method":"eth_subscription","params":"#, String::from_utf8(header)?);
        socket.send(Message::text(format!(r#"{before}{{"subscription":"0x1","result":{header}}}}}"#)))?;
    }
}
