//! Where published heads are read: from a Funds API by its URL, as anybody can, or from the books here.

use anyhow::Context;
use bankroll_heads::{HeadForm, HeadsError, SignedHead, hash_from_text, views};
use bankroll_ledger::merkle::{Hash, proofs::is_consistent};
use bankroll_nodes::RelayedRequest;
use bankroll_roles::requests::{FundsCallError, FundsRefusal, FundsUrl};
use bankroll_store::Reader;
use serde_json::Value;

use crate::location::LocationArgs;

pub enum HeadSource {
    Api(FundsUrl),
    Books(Box<Reader>),
}

impl HeadSource {
    /// The service at `api.url`, or the books of the configuration.
    pub fn open(location: &LocationArgs) -> anyhow::Result<Self> {
        let loaded = location.load()?;
        Ok(match loaded.config.api.url.as_str() {
            "" => Self::Books(Box::new(location.reader()?)),
            url => Self::Api(FundsUrl::new(url)),
        })
    }

    pub fn latest(&self) -> anyhow::Result<Option<SignedHead>> {
        match self {
            Self::Api(url) => published(url, "/v1/heads/latest"),
            Self::Books(reader) => Ok(views::latest(reader)?),
        }
    }

    pub fn at(&self, batch: u64) -> anyhow::Result<Option<SignedHead>> {
        match self {
            Self::Api(url) => published(url, &format!("/v1/heads/{batch}")),
            Self::Books(reader) => Ok(views::at(reader, batch)?),
        }
    }

    /// Whether the journal of `to` provably begins with that of `from`. What is compared is the root that the caller
    /// has kept, and not what the source says that it was.
    pub fn proves(&self, from: &SignedHead, to: &SignedHead) -> anyhow::Result<bool> {
        match self {
            Self::Api(url) => {
                let Some(proof) = proof(url, from.batch, to.batch)? else { return Ok(false) };
                Ok(is_consistent(from.batch, &from.root, to.batch, &to.root, &proof))
            }
            Self::Books(reader) => match views::consistency_of(reader, from, to) {
                Ok(proof) => Ok(proof.is_some()),
                Err(HeadsError::TreeDiffers { .. } | HeadsError::NodeMissing { .. }) => Ok(false),
                Err(error) => Err(error.into()),
            },
        }
    }
}

fn published(url: &FundsUrl, path: &str) -> anyhow::Result<Option<SignedHead>> {
    let body = match get(url, path) {
        Err(FundsCallError::Refused(refusal)) if refusal.status == 404 => return Ok(None),
        body => body?,
    };
    let form: HeadForm = serde_json::from_value(body).ok().context("the answer of the Funds API is no head")?;
    Ok(Some(SignedHead::try_from(&form)?))
}

/// The proof of the service; `None` if it has none, because it does not have the heads, or its tree is damaged.
fn proof(url: &FundsUrl, from: u64, to: u64) -> anyhow::Result<Option<Vec<Hash>>> {
    let body = match get(url, &format!("/v1/heads/consistency?from={from}&to={to}")) {
        Err(FundsCallError::Refused(refusal)) if refusal.status == 404 || refusal.code == "books_damaged" => {
            return Ok(None);
        }
        body => body?,
    };
    let hashes = body["proof"].as_array().context("the answer of the Funds API has no proof")?;
    Ok(hashes.iter().map(|hash| hash_from_text(hash.as_str()?)).collect())
}

fn get(url: &FundsUrl, path: &str) -> Result<Value, FundsCallError> {
    let request = RelayedRequest { method: "GET".into(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() };
    let response = url.send(request)?;
    let body: Value = serde_json::from_slice(&response.body).map_err(|_| FundsCallError::NotJson)?;
    if (200..300).contains(&response.status) {
        return Ok(body);
    }
    let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    let (code, detail) = (text("code"), text("detail"));
    let sentence = format!("the Funds API refused the request: {detail} ({code})");
    Err(FundsRefusal { status: response.status, code, sentence }.into())
}
