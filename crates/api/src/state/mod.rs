//! What handlers work with: the ledger while this process holds it, the registry in memory, readers, settings.
//!
//! A money call holds a read guard of the registry from its proof until its request is in the writer's queue; a change
//! of the registry holds the write guard until it is committed. So a pause or a revocation is effective for every call
//! that is enqueued after its answer. Sign-ins and sessions only add rows, which the ledger guards: they are enqueued like
//! money calls, and take the write guard for memory alone.
//!
//! | file | what it does |
//! | --- | --- |
//! | `gate` | from a proof to a caller with rights |
//! | `signature` | requests that are signed one by one |
//! | `acts` | acts of people: their entry in the audit log, and what changes with it |
//! | `program_key` | keys of programs |
//! | `proposals` | confirmed proposals about money, carried out once |
//! | `changes` | changes of the registry: decide, commit, then memory |
//! | `event_chunks` | events that were read lately |
//! | `readers`, `account_numbers` | reading without the writer; names of accounts |

mod account_numbers;
mod acts;
mod changes;
mod event_chunks;
mod gate;
mod program_key;
mod proposals;
mod readers;
mod signature;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, RwLock, atomic::AtomicU64},
};

use bankroll_ledger::{AccountId, AccountName, Amount, IdempotencyKey, Name, Time};
use bankroll_orders::ChainId;
use bankroll_registry::{ContractCheck, Registry, RegistryError, SessionKeys, SignInConfig, SpendLimits, random_bytes};
use bankroll_spawns::Spawns;
use bankroll_store::{Clock, Ledger, Reader};
use bankroll_withdrawals::ApprovalPolicy;

pub(crate) use account_numbers::{AccountNumbers, LockedNumbers};
pub(crate) use acts::{EnteredAct, act_key};
pub(crate) use changes::{Added, ChangeGate};
pub(crate) use event_chunks::{EventChunk, EventChunks, ReadEvent};
pub(crate) use gate::Gate;
pub(crate) use program_key::MadeProgramKey;
pub(crate) use proposals::{ProposalOutcome, confirmed_money, deposit_of, outcome, settle};
pub(crate) use readers::Readers;

use crate::{ApiError, ErrorCode};

/// The settings of a deployment that calls depend on.
#[derive(Clone)]
pub struct FundsSettings {
    /// The public name of the deployment, in every message that is signed for it.
    pub audience: String,
    /// The chain of signed requests of owners and players. A game server signs for the chain of its key.
    pub chain_id: ChainId,
    pub sign_in: SignInConfig,
    /// Above which amount a payout waits for an approval, by chain: coins of two chains are not worth the same.
    pub approvals: BTreeMap<Name, ApprovalPolicy>,
    /// How long a reservation of a spawn lasts.
    pub spawns: Spawns,
    /// The newest block of a chain: payments to a new address count from there on. Blocks: it may read a database.
    pub newest_block: Arc<dyn Fn(&Name) -> u64 + Send + Sync>,
    /// Why a URL cannot be a webhook's, if it cannot.
    pub check_webhook_url: UrlCheck,
    /// Asks a contract wallet whether a signature is its own; blocks. `None` where no node is configured.
    pub contract_answer: Option<ContractAnswer>,
}

/// Says what is wrong with a URL.
pub type UrlCheck = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The answer of a contract to `isValidSignature`; `None` if its node cannot be asked.
pub type ContractAnswer = Arc<dyn Fn(&ContractCheck) -> Option<Vec<u8>> + Send + Sync>;

impl FundsSettings {
    /// Every payout waits for an approval, no contract wallet can sign in, and no URL can be a webhook's, unless the caller sets it otherwise.
    #[must_use]
    pub fn new(audience: &str, chain_id: ChainId, sign_in: SignInConfig) -> Self {
        let newest_block = Arc::new(|_: &Name| 0);
        let (audience, spawns) = (audience.to_owned(), Spawns::default());
        let check_webhook_url = Arc::new(|_: &str| Err("this deployment delivers no webhooks".to_owned()));
        let approvals = BTreeMap::new();
        Self { audience, chain_id, sign_in, approvals, spawns, newest_block, check_webhook_url, contract_answer: None }
    }

    /// On a chain that has no policy every payout waits.
    pub(crate) fn approval_on(&self, chain: &Name) -> ApprovalPolicy {
        self.approvals.get(chain).copied().unwrap_or(ApprovalPolicy { at_once: Amount::ZERO })
    }
}

impl fmt::Debug for FundsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FundsSettings({:?}, {:?})", self.audience, self.chain_id)
    }
}

/// The state of the router. It answers "unavailable" until [`Funds::acquire`], and again after [`Funds::release`].
#[derive(Clone, Debug)]
pub struct Funds {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: FundsSettings,
    clock: Clock,
    held: RwLock<Option<Arc<HeldBooks>>>,
}

/// Why the books cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error("cannot open the books for reading")]
    Read(#[from] bankroll_store::StoreError),
    #[error("cannot write the secret of session tokens")]
    Submit(#[from] bankroll_store::SubmitError),
    #[error(transparent)]
    Entropy(#[from] bankroll_registry::NoEntropy),
}

/// The books while this process holds them.
#[derive(Debug)]
pub(crate) struct HeldBooks {
    pub ledger: Ledger,
    /// For money calls, which hold the registry meanwhile.
    pub readers: Readers,
    /// For lists and statements, which hold nothing.
    pub pages: Readers,
    pub accounts: AccountNumbers,
    pub registry: Arc<tokio::sync::RwLock<Registry>>,
    /// Held for reading by changes that only add rows, until memory has them; for writing by all other changes.
    pub additions: Arc<tokio::sync::RwLock<()>>,
    pub keys: SessionKeys,
    pub spend: Mutex<SpendLimits>,
    pub events: EventChunks,
    /// Changes with each act that may end a caller's rights; event streams check their proof then.
    pub rights: tokio::sync::watch::Sender<u64>,
    /// When expired nonces were last dropped from memory, in microseconds.
    pub forgotten_at: AtomicU64,
}

impl Funds {
    #[must_use]
    pub fn new(settings: FundsSettings, clock: Clock) -> Self {
        Self { inner: Arc::new(Inner { settings, clock, held: RwLock::default() }) }
    }

    /// Serves these books from now on. Blocks: it reads the registry, and makes the secret of sessions at first need.
    ///
    /// # Errors
    /// If the registry cannot be read.
    pub fn acquire(&self, ledger: Ledger) -> Result<(), AcquireError> {
        let (location, now) = (ledger.location().clone(), self.now());
        let reader = Reader::open(location.clone())?;
        let registry = Registry::load(&reader, now)?;
        let audience = &self.inner.settings.audience;
        let mut keys = SessionKeys::load(&reader, audience)?;
        if !keys.can_issue(now) {
            let insert = keys.next_secret(random_bytes()?, now).insert();
            let written = ledger.write_rows_in_turn(vec![insert]).map_err(bankroll_store::SubmitError::from)?;
            // Another holder may have written one at the same time; then that one counts.
            let _ = written.wait().map_err(bankroll_store::SubmitError::from)?;
            keys = SessionKeys::load(&reader, audience)?;
        }
        proposals::settle_all(&ledger, &reader, &registry);
        let held = HeldBooks {
            ledger,
            readers: Readers::new(location.clone()),
            pages: Readers::new(location),
            accounts: AccountNumbers::default(),
            registry: Arc::new(tokio::sync::RwLock::new(registry)),
            additions: Arc::default(),
            keys,
            spend: Mutex::default(),
            events: EventChunks::default(),
            // Not a number that an earlier holder had.
            rights: tokio::sync::watch::Sender::new(now.0),
            forgotten_at: AtomicU64::new(now.0),
        };
        *self.inner.held.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(held));
        Ok(())
    }

    /// Answers "unavailable" from now on. Calls in flight keep the ledger until they are answered.
    pub fn release(&self) {
        *self.inner.held.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether this process holds the books and has read the registry.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.books().is_ok()
    }

    /// The newest block of a chain, read off the runtime: it blocks.
    pub(crate) async fn newest_block(&self, chain: Name) -> Result<u64, ApiError> {
        let newest_block = Arc::clone(&self.settings().newest_block);
        let read = tokio::task::spawn_blocking(move || newest_block(&chain)).await;
        read.map_err(|_| ErrorCode::Unavailable.into())
    }

    #[must_use]
    pub fn settings(&self) -> &FundsSettings {
        &self.inner.settings
    }

    #[must_use]
    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    pub(crate) fn books(&self) -> Result<Arc<HeldBooks>, ApiError> {
        let held = self.inner.held.read().unwrap_or_else(PoisonError::into_inner);
        held.clone().ok_or_else(|| ApiError::new(ErrorCode::Unavailable).after(1))
    }
}

impl HeldBooks {
    /// An act was committed that may end a caller's rights.
    pub fn rights_changed(&self) {
        self.rights.send_modify(|rights| *rights = rights.wrapping_add(1));
    }

    /// Learns the numbers of accounts that are not known yet, with one read for all. Names that are malformed or of no
    /// account stay unknown.
    pub async fn learn<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<(), ApiError> {
        let unknown: Vec<&str> = {
            let mut numbers = self.accounts.locked();
            names.filter(|name| numbers.number(name).is_none()).collect()
        };
        if unknown.is_empty() {
            return Ok(());
        }
        let mut parsed: Vec<AccountName> = unknown.into_iter().filter_map(|name| name.parse().ok()).collect();
        parsed.sort_unstable();
        parsed.dedup();
        let found = self.readers.read(move |reader| {
            let number = |name: AccountName| Ok(reader.account_named(&name)?.map(|account| (name, account.id)));
            parsed.into_iter().map(number).collect::<Result<Vec<_>, bankroll_store::StoreError>>()
        });
        for (name, id) in found.await?.into_iter().flatten() {
            self.accounts.insert(&name.to_string(), id);
        }
        Ok(())
    }

    /// Which of these keys have an answer already.
    pub async fn decided_keys(&self, keys: Vec<IdempotencyKey>) -> Result<Vec<IdempotencyKey>, ApiError> {
        let decided = move |reader: &Reader| {
            let mut found = Vec::new();
            for key in keys {
                if reader.find_key(&key)?.is_some() {
                    found.push(key);
                }
            }
            Ok::<_, bankroll_store::StoreError>(found)
        };
        self.readers.read(decided).await
    }

    /// The name of an account, for an answer.
    pub async fn name_of(&self, id: AccountId) -> Result<Arc<str>, ApiError> {
        let known = self.accounts.locked().name(id);
        if let Some(name) = known {
            return Ok(name);
        }
        let account = self.readers.read(move |reader| reader.account(id)).await?;
        let name = account.ok_or(ErrorCode::Internal)?.name.to_string();
        self.accounts.insert(&name, id);
        Ok(name.into())
    }
}

impl From<RegistryError> for ApiError {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::Store(error) => error.into(),
            RegistryError::Row { .. }
            | RegistryError::Log(_)
            | RegistryError::LogCutShort { .. }
            | RegistryError::LogNotInJournal { .. }
            | RegistryError::OverrideUnsigned { .. }
            | RegistryError::FreezeMismatch { .. } => ErrorCode::BooksDamaged.into(),
        }
    }
}
