//! Errors of JSON-RPC, with geth's codes and texts, because clients parse them.

use serde::Serialize;

use crate::pool::PoolRefusal;

#[derive(Clone, Debug, Serialize)]
pub struct RpcErrorBody {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'static str>,
}

impl RpcErrorBody {
    const fn new(code: i32, message: String) -> Self {
        Self { code, message, data: None }
    }

    pub fn parse() -> Self {
        Self::new(-32700, "parse error".into())
    }

    pub fn invalid_request(why: &str) -> Self {
        Self::new(-32600, why.into())
    }

    pub fn no_method(method: &str) -> Self {
        // The method name is external input, so it is truncated.
        let shown: String = method.chars().take(64).collect();
        Self::new(-32601, format!("the method {shown} does not exist/is not available"))
    }

    pub fn missing(place: usize) -> Self {
        Self::new(-32602, format!("missing value for required argument {place}"))
    }

    pub fn invalid(place: usize, why: &str) -> Self {
        Self::new(-32602, format!("invalid argument {place}: {why}"))
    }

    pub fn params(why: &str) -> Self {
        Self::new(-32602, why.into())
    }

    pub fn internal() -> Self {
        Self::new(-32603, "internal error".into())
    }

    pub fn server(why: impl Into<String>) -> Self {
        Self::new(-32000, why.into())
    }

    pub fn reverted() -> Self {
        Self { code: 3, message: "execution reverted".into(), data: Some("0x") }
    }
}

impl From<PoolRefusal> for RpcErrorBody {
    fn from(refusal: PoolRefusal) -> Self {
        Self::server(refusal.to_string())
    }
}
