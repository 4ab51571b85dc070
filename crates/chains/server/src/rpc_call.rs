//! What a request asked and what the answer was, read from the bytes of both: for logs.

use bankroll_chains_simulated::RpcReply;
use serde_json::Value;

/// Longer answers are not read for the log.
const READ_MAX: usize = 64 << 10;

/// One call, alone or in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcCall {
    /// The node of the chain that was asked: 0 is the first.
    pub node: usize,
    pub method: String,
    pub outcome: CallOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Result(Value),
    /// A result of so many bytes, which was not read.
    Long(usize),
    Error(String),
    /// A planned fault: no answer, or another HTTP status.
    Fault(String),
}

/// The calls of a request. Bytes that are not JSON-RPC are one call without a name.
pub fn calls(node: usize, request: &[u8], reply: &RpcReply) -> Vec<RpcCall> {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    let requests = match &request {
        Value::Array(batch) => batch.as_slice(),
        single => std::slice::from_ref(single),
    };
    let answers = Answers::read(reply);
    let call = |(place, request): (usize, &Value)| {
        let method: String = request["method"].as_str().unwrap_or("?").chars().take(64).collect();
        RpcCall { node, method, outcome: answers.of(place) }
    };
    requests.iter().enumerate().map(call).collect()
}

enum Answers {
    All(CallOutcome),
    Each(Vec<Value>),
}

impl Answers {
    fn read(reply: &RpcReply) -> Self {
        let fault = |what: String| Self::All(CallOutcome::Fault(what));
        match reply {
            RpcReply::Body(body) if body.len() > READ_MAX => Self::All(CallOutcome::Long(body.len())),
            RpcReply::Body(body) => match serde_json::from_slice(body) {
                Ok(Value::Array(answers)) => Self::Each(answers),
                Ok(answer) => Self::All(outcome(&answer)),
                Err(_) => fault("the answer is cut off".into()),
            },
            RpcReply::Status(status, _) => fault(format!("HTTP status {status}")),
            RpcReply::NoAnswer => fault("no answer".into()),
            RpcReply::Unreachable => fault("the node is down".into()),
        }
    }

    fn of(&self, place: usize) -> CallOutcome {
        match self {
            Self::All(outcome) => outcome.clone(),
            Self::Each(answers) => answers.get(place).map_or(CallOutcome::Fault("no answer".into()), outcome),
        }
    }
}

fn outcome(answer: &Value) -> CallOutcome {
    match &answer["error"] {
        Value::Null => CallOutcome::Result(answer["result"].clone()),
        error => CallOutcome::Error(error["message"].as_str().unwrap_or("unknown").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_of_a_batch_has_its_own_outcome() {
        let request = br#"[{"method":"eth_chainId"},{"method":"eth_nonsense"},7]"#;
        let reply = br#"[{"result":"0x1"},{"error":{"code":-32601,"message":"no such method"}},{"result":null}]"#;
        let read = calls(2, request, &RpcReply::Body(reply.to_vec()));
        let expected = [
            ("eth_chainId", CallOutcome::Result("0x1".into())),
            ("eth_nonsense", CallOutcome::Error("no such method".into())),
            ("?", CallOutcome::Result(Value::Null)),
        ];
        let expected = expected.map(|(method, outcome)| RpcCall { node: 2, method: method.into(), outcome });
        assert_eq!(read, expected);
    }

    #[test]
    fn faults_and_long_answers_are_named() {
        let outcome = |reply: RpcReply| calls(0, br#"{"method":"eth_call"}"#, &reply)[0].outcome.clone();
        let fault = |what: &str| CallOutcome::Fault(what.into());
        assert_eq!(outcome(RpcReply::NoAnswer), fault("no answer"));
        assert_eq!(outcome(RpcReply::Unreachable), fault("the node is down"));
        assert_eq!(outcome(RpcReply::Status(429, "")), fault("HTTP status 429"));
        assert_eq!(outcome(RpcReply::Body(b"{\"res".to_vec())), fault("the answer is cut off"));
        assert_eq!(outcome(RpcReply::Body(vec![b' '; 70_000])), CallOutcome::Long(70_000));
        assert_eq!(calls(0, b"\xff", &RpcReply::NoAnswer)[0].method, "?");
    }
}
