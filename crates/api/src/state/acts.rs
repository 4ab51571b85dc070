//! Acts of people: decided by their signature over the request, committed with their entry of the audit log.

use std::sync::Arc;

use bankroll_ledger::{Event, Fact, Name, Principal, Scope};
use bankroll_operators::{Act, AuthorName, NewProgramKey, Proof, Right};
use bankroll_registry::{ActDecision, ActRefusal, Caller, LoggedAct, RegistryChange, recorded_act};

use super::{ChangeGate, HeldBooks, changes::ChangeAuthor, changes::request_hash, gate, proposals, signature};
use crate::{
    ApiError, ErrorCode,
    input::{ApiCall, CallProof},
};

/// An act that is in the books.
pub(crate) struct EnteredAct {
    pub act: Act,
    /// Whether an earlier request entered it.
    pub replayed: bool,
    pub books: Arc<HeldBooks>,
}

impl ChangeGate {
    /// A person who has this right and signed this request: a token reads.
    pub fn operator(&self, right: Right) -> Result<Name, ApiError> {
        let person = gate::operator_of(self.session()?, &self.registry, right)?;
        if matches!(self.session()?.caller, Caller::Program(_)) {
            return Err(ErrorCode::Forbidden.into());
        }
        if self.is_signed { Ok(person) } else { Err(ErrorCode::SignatureNeeded.into()) }
    }

    /// Whether this caller may read by this right, with whatever proof.
    pub fn reads(&self, right: Right) -> bool {
        self.session().is_ok_and(|session| gate::operator_of(session, &self.registry, right).is_ok())
    }

    /// A person who signed this request, whatever their rights: the act itself says which it needs.
    pub fn signer(&self) -> Result<Name, ApiError> {
        match &self.session()?.caller {
            Caller::Operator(_) if !self.is_signed => Err(ErrorCode::SignatureNeeded.into()),
            Caller::Operator(person) => Ok(person.clone()),
            _ => Err(ErrorCode::Forbidden.into()),
        }
    }

    /// Decides what the person of this request asks for, by their signature over it. `right` is for an operation with
    /// effects of its own, `new_key` for a new key of a program.
    pub fn decide_act(
        &self,
        call: &ApiCall,
        right: Option<Right>,
        new_key: Option<&NewProgramKey>,
    ) -> Result<ActDecision, ApiError> {
        let person = self.signer()?;
        let request = signature::signed_request(call, self.funds.settings())?;
        let act = request.act(&person, self.now, right, new_key).map_err(ActRefusal::from)?;
        let proof = Proof::Signed(Box::new(request));
        Ok(self.registry.decide_act(AuthorName::Person(person), act, proof, self.now)?)
    }

    /// Enters what the signed request says, once; the same request again finds the earlier entry. What it makes the
    /// ledger do is done before this returns, or is pending: [`proposals::settle`] does it later.
    pub async fn enter_act(self, call: &ApiCall, new_key: Option<&NewProgramKey>) -> Result<EnteredAct, ApiError> {
        self.enter_act_with(call, new_key, (Vec::new(), Vec::new())).await
    }

    /// The same for an act that also changes rows of a flow: in the same commit, or neither happens.
    pub async fn enter_act_with(
        self,
        call: &ApiCall,
        new_key: Option<&NewProgramKey>,
        (facts, more_events): (Vec<Fact>, Vec<Event>),
    ) -> Result<EnteredAct, ApiError> {
        let person = self.signer()?;
        let books = Arc::clone(&self.books);
        if let Some(earlier) = self.earlier_act(call).await? {
            return Ok(EnteredAct { act: earlier.entry.act, replayed: true, books });
        }
        if call.path.contains('?') {
            return Err(ApiError::with(ErrorCode::QueryInvalid, "this request has no parameters"));
        }
        let ActDecision { changes, mut events, money } = self.decide_act(call, None, new_key)?;
        let Some(RegistryChange::Act(entered)) = changes.first() else { return Err(ErrorCode::Internal.into()) };
        let act = entered.entry.act.clone();
        let author = person_author(call, person, changes)?;
        events.extend(more_events);
        let (funds, held) = (self.funds.clone(), Arc::clone(&books));
        let commit = async move {
            self.commit_now(author, Vec::new(), (facts, events)).await?;
            if let Some(confirmed) = money {
                // The act is committed whatever comes of it; the proposal shows the outcome.
                let _ = proposals::settle(&held, confirmed).await;
            }
            Ok(())
        };
        funds.finish(tokio::spawn(commit)).await?;
        Ok(EnteredAct { act, replayed: false, books })
    }

    /// Commits an act of one person that is not about the registry: its rows and events, and its entry in the audit
    /// log. Answers whether the same request was committed before; its rows are written once.
    pub async fn commit_act(
        self,
        call: &ApiCall,
        right: Right,
        facts: Vec<Fact>,
        events: Vec<Event>,
    ) -> Result<bool, ApiError> {
        let author = self.operator_author(call, right)?;
        if self.earlier_act(call).await?.is_some() {
            return Ok(true);
        }
        let funds = self.funds.clone();
        funds.finish(tokio::spawn(self.commit_now(author, Vec::new(), (facts, events)))).await?;
        Ok(false)
    }

    /// Notes in the audit log that a player is shown to this caller, before they are.
    pub async fn log_read(self, call: &ApiCall, player: Name) -> Result<(), ApiError> {
        let session = self.session()?;
        let (author, proof) = match (&session.caller, &call.proof) {
            (Caller::Operator(person), CallProof::Signature { .. }) => {
                let request = signature::signed_request(call, self.funds.settings())?;
                (AuthorName::Person(person.clone()), Proof::Signed(Box::new(request)))
            }
            (Caller::Operator(person), _) => {
                (AuthorName::Person(person.clone()), Proof::Session(session.id.to_string()))
            }
            (Caller::Program(id), _) => (AuthorName::Program(id.clone()), Proof::ProgramKey(id.clone())),
            _ => return Err(ErrorCode::Forbidden.into()),
        };
        let changes = self.registry.decide_act(author, Act::ReadPlayer { player }, proof, self.now)?.changes;
        self.commit_log_entry(call, changes).await
    }

    /// Commits an entry of the audit log that no signature over a change stands behind, with what else changes.
    pub async fn commit_log_entry(self, call: &ApiCall, changes: Vec<RegistryChange>) -> Result<(), ApiError> {
        let by = "operator:log".parse().map_err(|_| ErrorCode::Internal)?;
        let (principal, scope, key) = (Principal::System, Scope::House, "audit-log".to_owned());
        let author =
            ChangeAuthor { principal, scope, key, by, request_hash: request_hash(call), player: None, act: Vec::new() };
        self.commit(author, changes).await.map(drop)
    }

    /// What this person asked for under the key of this request before. With another body it is a mismatch.
    pub async fn earlier_act(&self, call: &ApiCall) -> Result<Option<LoggedAct>, ApiError> {
        let Caller::Operator(person) = self.session()?.caller.clone() else { return Ok(None) };
        let key = call.key()?.to_owned();
        let found = self.books.readers.read(move |reader| recorded_act(reader, &person, &key)).await?;
        match found {
            Some(found) if found.request_hash == request_hash(call) => Ok(Some(found.act)),
            Some(_) => Err(ErrorCode::IdempotencyMismatch.into()),
            None => Ok(None),
        }
    }

    /// A person as the author of a change, under the key of this request, by their signature over it.
    pub fn operator_author(&self, call: &ApiCall, right: Right) -> Result<ChangeAuthor, ApiError> {
        let person = self.operator(right)?;
        call.key()?;
        person_author(call, person, self.decide_act(call, Some(right), None)?.changes)
    }
}

/// The key of the record that an act of this person makes, in the namespace of the registry.
pub(crate) fn act_key(call: &ApiCall, person: &Name) -> Result<String, ApiError> {
    Ok(format!("admin/{person}/key/{}", call.key()?))
}

fn person_author(call: &ApiCall, person: Name, act: Vec<RegistryChange>) -> Result<ChangeAuthor, ApiError> {
    Ok(ChangeAuthor {
        scope: Scope::House,
        key: act_key(call, &person)?,
        by: format!("operator:{person}").parse().map_err(|_| ErrorCode::Internal)?,
        principal: Principal::Admin(person),
        request_hash: request_hash(call),
        player: None,
        act,
    })
}
