//! An exit that a game server asks for: what was made of it before, and the requests to the books.

use bankroll_ledger::{
    AccountId, AccountKind, AccountName, Amount, AssetId, Fact, Name, Principal, Request, Scope, Time,
};
use bankroll_spawns::{SpawnId, SpawnStatus, exit_fact, views as spawn_views};
use bankroll_store::Reader;
use bankroll_withdrawals::{
    Asker, EndedSpawn, GasPayer, Intents, KeptBecause, KeptExit, PayoutTerms, UnpaidPayout, WithdrawalRequest,
    WorldExit, key_fact, request_of_key,
    views::{self, ExitView},
};

use super::{
    accounts::open_accounts,
    exits::{ExitBody, ExitPayout, NewExitBody},
    sessions::address_of,
};
use crate::{ApiError, ErrorCode, input::amount, state::HeldBooks};

/// The accounts between which an exit moves money.
#[derive(Clone, Copy)]
pub(super) struct ExitAccounts {
    funds: AccountId,
    world: AccountId,
}

#[derive(Clone)]
pub(super) struct ExitOrder {
    pub server: Name,
    pub exit_id: Name,
    /// The owner of the account that gets the money: the player, or the wallet that the spawn was made for.
    pub player: Name,
    pub asset: AssetId,
    pub chain: Name,
    pub amount: Amount,
    pub payout: Option<PayoutTerms>,
    pub spawn: Option<SpawnId>,
}

/// What the books know about an order.
pub(super) enum Found {
    /// It was made before.
    Made(ExitBody),
    New(ExitOrder),
}

impl ExitOrder {
    pub fn read(body: NewExitBody, server: Name, player: Name, asset: AssetId, chain: Name) -> Result<Self, ApiError> {
        let wrong = |detail: &'static str| ApiError::with(ErrorCode::BodyInvalid, detail);
        let exit_id = body
            .exit_id
            .parse()
            .map_err(|error| ApiError::with(ErrorCode::BodyInvalid, format!("exit_id: {error}")))?;
        let spawn = body.spawn.map(|spawn| SpawnId::parse(&spawn).ok_or(ErrorCode::NotFound)).transpose()?;
        let payout = match body.payout {
            ExitPayout::Keep if body.to.is_some() || body.fee_cap.is_some() => {
                return Err(wrong("to and fee_cap belong to payout auto"));
            }
            ExitPayout::Keep => None,
            ExitPayout::Auto => {
                let to = address_of("to", body.to.as_deref().unwrap_or(&body.player))?;
                Some(PayoutTerms { to, gas: gas_payer(body.fee_cap.as_deref())? })
            }
        };
        Ok(Self { server, exit_id, player, asset, chain, amount: amount(&body.amount)?, payout, spawn })
    }

    /// Looks for the same exit, for another use of its key, and for the player's live spawn. What is refused here leaves
    /// the exit id free.
    pub async fn look_up(
        self,
        books: &HeldBooks,
        owners: Vec<Name>,
        key: String,
        now: Time,
    ) -> Result<Found, ApiError> {
        let read = move |reader: &Reader| {
            let sent_with = request_of_key(reader, &self.asker(), &key)?;
            if sent_with.is_some_and(|request| request != self.request_name()) {
                return Err(ApiError::new(ErrorCode::IdempotencyMismatch));
            }
            if let Some(known) = self.known_by(reader, &owners)? {
                return Ok(Found::Made(known));
            }
            let player = self.owner(reader, &owners, now)?;
            Ok(Found::New(Self { player, ..self }))
        };
        books.readers.read(read).await
    }

    /// The exit that was made under this id, if it is the same one.
    pub async fn known(&self, books: &HeldBooks, owners: &[Name]) -> Result<Option<ExitBody>, ApiError> {
        let (order, owners) = (self.clone(), owners.to_vec());
        books.readers.read(move |reader| order.known_by(reader, &owners)).await
    }

    fn known_by(&self, reader: &Reader, owners: &[Name]) -> Result<Option<ExitBody>, ApiError> {
        let Some(found) = views::exit_of(reader, &self.server, &self.exit_id)? else { return Ok(None) };
        // The wallet that it was made for may have become another player's wallet since.
        let is_same = owners.contains(&found.wallet)
            && found.amount == self.amount
            && found.spawn.as_deref() == self.spawn.as_ref().map(SpawnId::as_str)
            && found.payout == self.payout;
        if is_same { Ok(Some(shown(&found))) } else { Err(ErrorCode::IdempotencyMismatch.into()) }
    }

    /// The owner of the account that gets the money. A spawn belongs to the wallet that it was made for. Without a spawn
    /// its refund could pay a second time, so it must be named while there is one.
    fn owner(&self, reader: &Reader, owners: &[Name], now: Time) -> Result<Name, ApiError> {
        let conflict = |detail: String| ApiError::with(ErrorCode::Conflict, detail);
        let Some(id) = &self.spawn else {
            return match spawn_views::live_spawn_of(reader, &self.server, owners)? {
                Some(live) => Err(conflict(format!("the player has the live spawn {}: name it as spawn", live.id))),
                None => Ok(self.player.clone()),
            };
        };
        let spawn = spawn_views::spawn_of(reader, &self.server, id, now)?;
        let spawn = spawn.filter(|spawn| owners.contains(&spawn.wallet)).ok_or(ErrorCode::NotFound)?;
        match spawn.status {
            SpawnStatus::Committed => Ok(spawn.wallet),
            status => Err(conflict(format!("the spawn is {}, not committed", status.as_str()))),
        }
    }

    /// The player's funds and the world; opened if this is the first time.
    pub async fn ensure_accounts(&self, books: &HeldBooks) -> Result<ExitAccounts, ApiError> {
        let world = AccountName { kind: AccountKind::World, owner: None, ..self.account() };
        let fees = AccountName { scope: Scope::House, kind: AccountKind::NetworkFees, asset: self.asset, owner: None };
        let names = vec![self.account(), world, fees];
        let texts: Vec<String> = names.iter().map(ToString::to_string).collect();
        books.learn(texts.iter().map(String::as_str)).await?;
        let known = texts.iter().map(|text| books.accounts.number(text)).collect::<Option<Vec<_>>>();
        let numbers = match known {
            Some(numbers) => numbers,
            None => open_accounts(books, Principal::System, names).await?,
        };
        let [funds, world, _] = numbers[..] else { return Err(ErrorCode::Internal.into()) };
        Ok(ExitAccounts { funds, world })
    }

    pub fn request(&self, intents: &Intents, accounts: ExitAccounts, key: &str) -> Result<Request, ApiError> {
        let Some(PayoutTerms { to, gas }) = self.payout else { return self.kept_request(None, accounts, key) };
        let withdrawal = WithdrawalRequest {
            principal: Principal::GameServer(self.server.clone()),
            server: self.server.clone(),
            request_id: self.exit_id.clone(),
            wallet: self.player.clone(),
            account: self.account(),
            chain: self.chain.clone(),
            to,
            amount: self.amount,
            gas,
            exit: Some(self.exit()),
            consent: None,
        };
        let mut request = intents.request(&withdrawal, accounts.funds, accounts.world)?;
        request.facts.push(self.key_fact(key));
        Ok(request)
    }

    /// The request that keeps the value in the player's funds, although a payout was asked for.
    pub fn unpaid_request(&self, because: KeptBecause, accounts: ExitAccounts, key: &str) -> Result<Request, ApiError> {
        self.kept_request(self.payout.map(|terms| UnpaidPayout { terms, because }), accounts, key)
    }

    fn kept_request(
        &self,
        unpaid: Option<UnpaidPayout>,
        accounts: ExitAccounts,
        key: &str,
    ) -> Result<Request, ApiError> {
        let kept = KeptExit {
            principal: Principal::GameServer(self.server.clone()),
            server: self.server.clone(),
            exit_id: self.exit_id.clone(),
            wallet: self.player.clone(),
            account: self.account(),
            exit: self.exit(),
            unpaid,
        };
        let mut request = Intents::keep_request(&kept, accounts.funds, accounts.world)?;
        request.facts.push(self.key_fact(key));
        Ok(request)
    }

    fn account(&self) -> AccountName {
        let (scope, owner) = (Scope::Server(self.server.clone()), Some(self.player.clone()));
        AccountName { scope, kind: AccountKind::Funds, asset: self.asset, owner }
    }

    fn exit(&self) -> WorldExit {
        let ended = |id: &SpawnId| EndedSpawn { id: id.to_string(), fact: exit_fact(id, &self.server, &self.player) };
        WorldExit { amount: self.amount, spawn: self.spawn.as_ref().map(ended) }
    }

    fn key_fact(&self, key: &str) -> Fact {
        key_fact(&self.asker(), key, &self.request_name())
    }

    fn asker(&self) -> String {
        format!("server/{}", self.server)
    }

    fn request_name(&self) -> String {
        format!("exit/{}", self.exit_id)
    }

    /// What the row says once the request is applied.
    pub fn body(&self) -> ExitBody {
        let withdrawal = self.payout.map(|_| Asker::Exit.intent_id(&self.server, &self.exit_id).to_string());
        ExitBody { withdrawal, ..self.kept_body(None) }
    }

    /// What the row says once it is kept, although a payout was asked for.
    pub fn kept_body(&self, because: Option<KeptBecause>) -> ExitBody {
        ExitBody {
            exit_id: self.exit_id.to_string(),
            player: self.player.to_string(),
            account: self.account().to_string(),
            amount: self.amount.to_string(),
            withdrawal: None,
            kept_because: because.map(KeptBecause::as_str),
            spawn: self.spawn.as_ref().map(ToString::to_string),
        }
    }
}

/// Who pays for gas: the player up to a cap, or the house.
pub(super) fn gas_payer(fee_cap: Option<&str>) -> Result<GasPayer, ApiError> {
    let cap = fee_cap.map(amount).transpose()?.filter(|cap| !cap.is_zero());
    Ok(cap.map_or(GasPayer::House, GasPayer::Player))
}

pub(super) fn shown(exit: &ExitView) -> ExitBody {
    ExitBody {
        exit_id: exit.exit_id.to_string(),
        player: exit.wallet.to_string(),
        account: exit.account.clone(),
        amount: exit.amount.to_string(),
        withdrawal: exit.intent.as_ref().map(ToString::to_string),
        kept_because: exit.kept_because.map(KeptBecause::as_str),
        spawn: exit.spawn.clone(),
    }
}
