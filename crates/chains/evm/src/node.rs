//! An RPC node of a chain: its transport and the identity of its chain.
//!
//! Guarantees: before the first request, and again after each failure, the node must prove that it is on the right
//! chain. A node can be shared between threads.

use std::{
    fmt,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use alloy_primitives::U256;
use serde::de::DeserializeOwned;
use serde_json::{Value, value::RawValue};

use crate::{
    error::RpcError,
    identity::ChainIdentity,
    quirks,
    range::Pace,
    traces::Tracer,
    transport::{InProcessRpc, InvalidRpcUrl, RpcLimits, Transport},
    wire,
};

pub struct RpcNode {
    transport: Transport,
    identity: ChainIdentity,
    /// Whether the identity was checked since the last failure.
    known: AtomicBool,
    last_id: AtomicU64,
    pub(crate) tracer: Tracer,
    pub(crate) abilities: Abilities,
}

/// What a node was found not to have, so that it is not asked for each block.
#[derive(Debug, Default)]
pub(crate) struct Abilities {
    pub no_trace_block: AtomicBool,
    pub no_block_receipts: AtomicBool,
    /// How large the node's answers are, for reading many blocks.
    pub pace: Mutex<Pace>,
}

impl RpcNode {
    /// JSON-RPC over HTTP. Sends nothing yet.
    pub fn http(url: &str, identity: ChainIdentity, limits: RpcLimits) -> Result<Self, InvalidRpcUrl> {
        Transport::http(url, limits).map(|transport| Self::new(transport, identity))
    }

    /// A node in the same process. Its answers are verified like answers over HTTP.
    pub fn in_process(rpc: InProcessRpc, identity: ChainIdentity) -> Self {
        Self::new(Transport::InProcess(rpc), identity)
    }

    fn new(transport: Transport, identity: ChainIdentity) -> Self {
        let (known, last_id) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { transport, identity, known, last_id, tracer: Tracer::default(), abilities: Abilities::default() }
    }

    /// The same node with another tracer.
    #[must_use]
    pub fn with_tracer(self, tracer: Tracer) -> Self {
        Self { tracer, ..self }
    }

    pub fn identity(&self) -> ChainIdentity {
        self.identity
    }

    /// Sends a request and returns the raw result.
    pub(crate) fn request(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>, RpcError> {
        self.ensure_identity()?;
        self.request_unverified(method, params)
    }

    /// Without a check of the identity: only for that check itself.
    pub(crate) fn request_unverified(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>, RpcError> {
        let id = self.ids(1);
        let body = self.exchange(&wire::request(id, method, params))?;
        wire::result(&body, id, method).inspect_err(|error| self.distrust(error))
    }

    /// Sends one batch with the same method and different parameters.
    pub(crate) fn request_batch(
        &self,
        method: &'static str,
        params: Vec<Value>,
    ) -> Result<Vec<Box<RawValue>>, RpcError> {
        self.ensure_identity()?;
        let count = params.len();
        let first = self.ids(count as u64);
        let body = self.exchange(&wire::batch((first..).zip(params), method))?;
        wire::results(&body, first, count, method).inspect_err(|error| self.distrust(error))
    }

    /// The same as one request if there is only one, because some nodes take no batches.
    pub(crate) fn request_many(
        &self,
        method: &'static str,
        mut params: Vec<Value>,
    ) -> Result<Vec<Box<RawValue>>, RpcError> {
        match (params.len(), params.pop()) {
            (_, None) => Ok(Vec::new()),
            (1, Some(only)) => self.request(method, &only).map(|answer| vec![answer]),
            (_, Some(last)) => {
                params.push(last);
                self.request_batch(method, params)
            }
        }
    }

    /// The same in halves, and halves of these, where the node refuses it as too much.
    pub(crate) fn request_divided(
        &self,
        method: &'static str,
        params: Vec<Value>,
    ) -> Result<Vec<Box<RawValue>>, RpcError> {
        let (mut waiting, mut answers) = (vec![params], Vec::new());
        while let Some(mut some) = waiting.pop() {
            match self.request_many(method, some.clone()) {
                Ok(more) => answers.extend(more),
                Err(error) if some.len() > 1 && quirks::is_too_much(&error) => {
                    let second = some.split_off(some.len() / 2);
                    waiting.extend([second, some]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(answers)
    }

    pub(crate) fn request_as<T: DeserializeOwned>(&self, method: &'static str, params: &Value) -> Result<T, RpcError> {
        wire::read(&self.request(method, params)?, method)
    }

    pub(crate) fn request_quantity(&self, method: &'static str, params: &Value) -> Result<U256, RpcError> {
        wire::quantity(&self.request(method, params)?, method)
    }

    fn exchange(&self, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        let answered = self.transport.exchange(request).map_err(RpcError::from);
        answered.inspect_err(|error| self.distrust(error))
    }

    fn ensure_identity(&self) -> Result<(), RpcError> {
        if self.known.load(Ordering::Acquire) {
            return Ok(());
        }
        self.check_identity()?;
        self.known.store(true, Ordering::Release);
        Ok(())
    }

    /// After a failure another node may answer at the same URL, so the identity is checked again.
    pub(crate) fn distrust(&self, error: &RpcError) {
        if !matches!(error, RpcError::Refused(_)) {
            self.known.store(false, Ordering::Release);
        }
    }

    fn ids(&self, count: u64) -> u64 {
        self.last_id.fetch_add(count, Ordering::Relaxed).wrapping_add(1)
    }
}

impl fmt::Debug for RpcNode {
    /// Without its URL, which may contain a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RpcNode").field("identity", &self.identity).finish_non_exhaustive()
    }
}
