//! The front door of spawns.
//!
//! | caller | uses |
//! | --- | --- |
//! | a program that may block | [`Spawns::reserve`], [`Spawns::end`] |
//! | the API, which must not | [`Spawns::known`], [`Spawns::reserve_requests`], the ledger's own `submit`, then [`Spawns::reserved`]; [`Spawns::end_request`] |

use bankroll_ledger::{HoldId, Name, Record, Rejection, Request, Time, Verdict};
use bankroll_store::{
    Answer, Ledger, Reader, SubmitError,
    columns::{any, int, text},
};

use crate::{
    SpawnAccounts, SpawnError, SpawnId, SpawnOrder, SpawnStatus, SpawnTerms, SpawnView,
    order::server_key,
    requests::{self, DepositClaim},
    rows,
};

/// How long a reservation lasts unless configured: a minute, in microseconds.
pub const RESERVATION_MICROS: u64 = 60_000_000;

/// Spawns whose reservations last so long.
#[derive(Clone, Copy, Debug)]
pub struct Spawns {
    reservation_micros: u64,
}

/// A reservation, as it was when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedSpawn {
    pub spawn: SpawnView,
    /// Whether an earlier request with the same key made it.
    pub is_repeated: bool,
}

/// What a game server does with a spawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnEnd {
    Commit,
    Release,
    Refund,
}

impl Default for Spawns {
    fn default() -> Self {
        Self::new(RESERVATION_MICROS)
    }
}

impl Spawns {
    #[must_use]
    pub const fn new(reservation_micros: u64) -> Self {
        Self { reservation_micros }
    }

    /// Reserves a place, and waits until it is durable. The same order again returns the same reservation, also if the
    /// price has changed since or the server is paused by now.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn reserve(
        &self,
        order: &SpawnOrder,
        terms: &SpawnTerms,
        ledger: &Ledger,
        reader: &Reader,
        now: Time,
    ) -> Result<ReservedSpawn, SpawnError> {
        if let Some(known) = Self::known(reader, order)? {
            return Ok(known);
        }
        let requests = self.reserve_requests(order, terms, reader, now)?;
        let last = requests.last().cloned().ok_or(SpawnError::NotFound)?;
        let answers = ledger.submit(requests).map_err(SubmitError::from)?.wait().map_err(SubmitError::from)?;
        let answer = answers.last().ok_or(SpawnError::NotFound)?;
        let reserved = Self::reserved(reader, order, &last, answer)?;
        Self::note_hold(ledger, &reserved.spawn);
        Ok(reserved)
    }

    /// The reservation that an earlier request with this key made, as it was then. Look for it before
    /// [`Self::reserve_requests`]: those differ each time.
    ///
    /// # Errors
    /// [`SpawnError::OtherSpawn`] if the key was used for another one; otherwise if the books cannot be read.
    pub fn known(reader: &Reader, order: &SpawnOrder) -> Result<Option<ReservedSpawn>, SpawnError> {
        match rows::find(reader, &order.id())? {
            None => Ok(None),
            Some(spawn) if order.is_for(&spawn) => {
                let spawn = SpawnView { status: SpawnStatus::Reserved, ..spawn };
                Ok(Some(ReservedSpawn { spawn, is_repeated: true }))
            }
            Some(_) => Err(SpawnError::OtherSpawn),
        }
    }

    /// The requests to submit together, in this order: the last one reserves the place, one before it may make a buy-in
    /// of the player's money that is not allocated yet.
    ///
    /// # Errors
    /// See [`SpawnError`]; nothing has happened.
    pub fn reserve_requests(
        &self,
        order: &SpawnOrder,
        terms: &SpawnTerms,
        reader: &Reader,
        now: Time,
    ) -> Result<Vec<Request>, SpawnError> {
        if !terms.accepts {
            return Err(SpawnError::Paused);
        }
        let accounts = SpawnAccounts::find(reader, &order.server, order.asset, &order.wallet)?;
        let accounts = accounts.ok_or(SpawnError::Rejected(Rejection::AccountNotFound))?;
        let deposit = order.deposit.as_ref();
        let claim = deposit.map(|deposit| claim(reader, &order.server, &deposit.id, now)).transpose()?;
        let expires = Time(now.0.saturating_add(self.reservation_micros));
        let reserve = requests::reserve(order, terms, accounts.funds.id, claim.as_ref(), now, expires)?;
        let allocate = requests::allocate(order, terms, &accounts);
        // A decided key gets no place any more: without this its reservation would be refused after the fees are taken.
        let is_decided = allocate.is_some() && reader.find_key(&reserve.key)?.is_some();
        Ok(allocate.filter(|_| !is_decided).into_iter().chain([reserve]).collect())
    }

    /// What the ledger's answer to the last of [`Self::reserve_requests`] means.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn reserved(
        reader: &Reader,
        order: &SpawnOrder,
        request: &Request,
        answer: &Answer,
    ) -> Result<ReservedSpawn, SpawnError> {
        match answer.effects() {
            Ok(effects) => {
                let spawn = SpawnView::of_request(request, effects).ok_or(SpawnError::NotFound)?;
                Ok(ReservedSpawn { spawn, is_repeated: answer.replayed })
            }
            // The same order was built at another time, or at another price: the first answer counts.
            Err(Rejection::KeyReused) => recall(reader, order),
            Err(rejection) => Err(rejection.into()),
        }
    }

    /// Notes the hold in the spawn's row, so that its end need not search the journal. It may be lost.
    pub fn note_hold(ledger: &Ledger, spawn: &SpawnView) {
        if let Some(hold) = spawn.hold {
            let sql = "UPDATE spawns SET hold = $1 WHERE id = $2 AND hold IS NULL";
            let _ = ledger.write_rows(vec![any(sql, vec![int(hold.0), text(spawn.id.as_str())])]);
        }
    }

    /// Commits, releases or refunds a spawn, and waits until it is durable. The same request again has the same answer.
    ///
    /// # Errors
    /// See [`SpawnError`].
    pub fn end(
        end: SpawnEnd,
        server: &Name,
        id: &SpawnId,
        request_key: &str,
        ledger: &Ledger,
        reader: &Reader,
    ) -> Result<SpawnView, SpawnError> {
        let (request, spawn) = Self::end_request(end, server, id, request_key, reader)?;
        ledger.apply(request)?.effects()?;
        Ok(spawn)
    }

    /// The request that commits, releases or refunds a spawn, and the spawn as it is if the request is applied.
    ///
    /// # Errors
    /// See [`SpawnError`]; nothing has happened. A spawn of another server is not found.
    pub fn end_request(
        end: SpawnEnd,
        server: &Name,
        id: &SpawnId,
        request_key: &str,
        reader: &Reader,
    ) -> Result<(Request, SpawnView), SpawnError> {
        let noted = rows::find(reader, id)?.filter(|spawn| spawn.server == *server).ok_or(SpawnError::NotFound)?;
        // Money moves by what the journal says, which a row cannot change.
        let (spawn, hold) = reservation(reader, &noted)?.ok_or(SpawnError::NotFound)?;
        let accounts = SpawnAccounts::find(reader, server, spawn.asset, &spawn.wallet)?;
        let accounts = accounts.ok_or(SpawnError::Rejected(Rejection::AccountNotFound))?;
        let (request, status) = match end {
            SpawnEnd::Commit => (requests::commit(&spawn, hold, accounts.world, request_key), SpawnStatus::Committed),
            SpawnEnd::Release => (requests::release(&spawn, hold, request_key), SpawnStatus::Released),
            SpawnEnd::Refund => {
                (requests::refund(&spawn, accounts.funds.id, accounts.world, request_key), SpawnStatus::Refunded)
            }
        };
        Ok((request, SpawnView { status, ..spawn }))
    }
}

/// How a deposit can be had now.
fn claim(reader: &Reader, server: &Name, deposit: &str, now: Time) -> Result<DepositClaim, SpawnError> {
    let Some(before) = rows::consumption(reader, server, deposit)? else { return Ok(DepositClaim::New) };
    match before.status.as_str() {
        "released" => Ok(DepositClaim::Released(before)),
        "reserved" => {
            let spawn = rows::find(reader, &before.spawn)?.ok_or(SpawnError::NotFound)?;
            let is_expired = spawn.status == SpawnStatus::Reserved && spawn.status_at(now) == SpawnStatus::Expired;
            if is_expired { Ok(DepositClaim::Expired(before)) } else { Err(SpawnError::DepositTaken) }
        }
        _ => Err(SpawnError::DepositTaken),
    }
}

/// The answer that the key of an order has already.
fn recall(reader: &Reader, order: &SpawnOrder) -> Result<ReservedSpawn, SpawnError> {
    if let Some(known) = Spawns::known(reader, order)? {
        return Ok(known);
    }
    let Some(entry) = reader.find_key(&server_key(&order.server, &order.request_key))? else {
        return Err(SpawnError::InFlight);
    };
    let Record::Decided { request, verdict } = entry.record else { return Err(SpawnError::OtherSpawn) };
    // A request with the same key that is no reservation, or one for another player.
    let asked = request.facts.iter().find(|fact| fact.row == requests::spawn_row(&order.id()));
    let asked = asked.and_then(|fact| {
        let mut row = fact.apply(None);
        row.insert("hold".into(), bankroll_ledger::ColumnValue::Null);
        rows::view_of(&row).ok()
    });
    let Some(spawn) = asked.filter(|spawn| order.is_for(spawn)) else { return Err(SpawnError::OtherSpawn) };
    match verdict {
        Verdict::Rejected(rejection) => Err(rejection.into()),
        Verdict::Applied(effects) => {
            let hold = effects.holds.first().map(|change| change.hold.id);
            Ok(ReservedSpawn { spawn: SpawnView { hold, ..spawn }, is_repeated: true })
        }
    }
}

/// The reservation as the journal has it, and its hold. The noted hold gives its place; without a note, or with a wrong
/// one, it is found by its key.
fn reservation(reader: &Reader, noted: &SpawnView) -> Result<Option<(SpawnView, HoldId)>, SpawnError> {
    let of_record = |record: Record| {
        let Record::Decided { request, verdict: Verdict::Applied(effects) } = record else { return None };
        let spawn = SpawnView::of_request(&request, &effects).filter(|_| rows::has_reserved(&request, &noted.id))?;
        let hold = spawn.hold?;
        Some((spawn, hold))
    };
    if let Some(hold) = noted.hold
        && let Some(bytes) = reader.record(hold.made_by())?
        && let Some(found) = Record::decode(&bytes).ok().and_then(of_record)
    {
        return Ok(Some(found));
    }
    let entry = reader.find_key(&server_key(&noted.server, &noted.request_key))?;
    Ok(entry.and_then(|entry| of_record(entry.record)))
}
