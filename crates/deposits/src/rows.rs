//! The scanner's rows: reads the position, and turns changes into statements.
//!
//! The statement on the cursor is the first of a step and must change the row that was read: of two scanners on one
//! chain, the second writes nothing at all.

use std::collections::BTreeMap;

use bankroll_chains_evm::{B256, Quantity, U256};
use bankroll_ledger::{ColumnValue, Row, Time};
use bankroll_store::{
    Migrations, Rows, Statement,
    columns::{BadRow, any, int, number_of, one, parsed, text, text_of, time},
};

use crate::{
    ChainState, DepositId, Sighting,
    error::ScanError,
    follower::{BlockPoint, ChainChange, TrackedDeposit},
    scanner::ScanConfig,
};

/// The tables of this flow.
pub const DEPOSITS: Migrations = Migrations {
    owner: "deposits",
    steps: &[include_str!("../migrations/0001_deposits.sql")],
    postgres: &[include_str!("../migrations/0001_deposits_postgres.sql")],
};

/// The scanner's position on a chain; `None` before its first step.
pub(crate) fn cursor(rows: &Rows, chain: &str) -> Result<Option<BlockPoint>, ScanError> {
    let sql = "SELECT block_number AS number, block_hash AS hash FROM chain_cursor WHERE chain = $1";
    rows.read(sql, vec![text(chain)])?.first().map(point).transpose()
}

/// The remembered canonical headers, highest first.
pub(crate) fn headers(rows: &Rows, chain: &str) -> Result<Vec<BlockPoint>, ScanError> {
    let sql = "SELECT number, hash FROM block_headers WHERE chain = $1 ORDER BY number DESC";
    rows.read(sql, vec![text(chain)])?.iter().map(point).collect()
}

/// The deposits that the chain can still change: those not final yet, those above a block, and these.
pub(crate) fn deposits(
    rows: &Rows,
    chain: &str,
    above: u64,
    named: &[DepositId],
) -> Result<BTreeMap<DepositId, TrackedDeposit>, ScanError> {
    const COLUMNS: &str =
        "SELECT id, epoch, chain_state, block_number, required_confirmations, amount_raw FROM deposits";
    let mut found =
        rows.read(&format!("{COLUMNS} WHERE chain = $1 AND chain_state = 'included'"), vec![text(chain)])?;
    let sql = format!("{COLUMNS} WHERE chain = $1 AND block_number > $2");
    found.extend(rows.read(&sql, vec![text(chain), int(above)])?);
    for some in named.chunks(500) {
        let places: Vec<String> = (1..=some.len()).map(|place| format!("${place}")).collect();
        let sql = format!("{COLUMNS} WHERE id IN ({})", places.join(", "));
        found.extend(rows.read(&sql, some.iter().map(|id| text(id.as_str())).collect())?);
    }
    let known = |row: &Row| {
        let state = ChainState::from_row(text_of(row, "chain_state")?).ok_or(BadRow { column: "chain_state" })?;
        let (epoch, block) = (number_of(row, "epoch")?, number_of(row, "block_number")?);
        let required = number_of(row, "required_confirmations")?;
        let value = Quantity::new(parsed::<U256>(row, "amount_raw")?);
        Ok((DepositId::from_row(text_of(row, "id")?), TrackedDeposit { epoch, state, block, required, value }))
    };
    found.iter().map(known).collect()
}

/// Notes why the scanner cannot go on, or that it can; the next block that it reads removes the note, too.
pub(crate) fn note_stop(chain: &str, why: Option<&str>) -> Statement {
    let why = why.map_or(ColumnValue::Null, text);
    any("UPDATE chain_cursor SET stopped = $1 WHERE chain = $2", vec![why, text(chain)])
}

/// Everything that a step writes: the cursor first, then the changes, then old headers are deleted.
pub(crate) fn step(
    config: &ScanConfig,
    from: Option<BlockPoint>,
    to: BlockPoint,
    changes: &[ChainChange],
    now: Time,
) -> Vec<Statement> {
    let chain = text(config.rules.chain.as_str());
    let mut statements = vec![match from {
        Some(from) => one(
            "UPDATE chain_cursor SET block_number = $1, block_hash = $2, updated_at = $3, stopped = NULL
             WHERE chain = $4 AND block_number = $5 AND block_hash = $6",
            vec![int(to.number), hash(to.hash), time(now), chain.clone(), int(from.number), hash(from.hash)],
        ),
        None => one(
            "INSERT INTO chain_cursor (block_number, block_hash, updated_at, chain) VALUES ($1, $2, $3, $4)",
            vec![int(to.number), hash(to.hash), time(now), chain.clone()],
        ),
    }];
    for change in changes {
        statements.extend(change_statements(&chain, change, now));
    }
    let kept = to.number.saturating_sub(config.window);
    statements.push(any("DELETE FROM block_headers WHERE chain = $1 AND number < $2", vec![chain, int(kept)]));
    statements
}

fn change_statements(chain: &ColumnValue, change: &ChainChange, now: Time) -> Vec<Statement> {
    match change {
        ChainChange::HeadersGone { above } => {
            vec![any("DELETE FROM block_headers WHERE chain = $1 AND number > $2", vec![chain.clone(), int(*above)])]
        }
        ChainChange::HeaderNew(header) => vec![one(
            "INSERT INTO block_headers (chain, number, hash, parent_hash, time) VALUES ($1, $2, $3, $4, $5)",
            vec![chain.clone(), int(header.number), hash(header.hash), hash(header.parent), int(header.time)],
        )],
        ChainChange::Included { sighting, epoch } => included(chain, sighting, *epoch, now),
        ChainChange::Final { id, epoch } => vec![
            one(
                "UPDATE deposits SET chain_state = 'final', updated_at = $1
                 WHERE id = $2 AND epoch = $3 AND chain_state = 'included'",
                vec![time(now), text(id.as_str()), int(*epoch)],
            ),
            one(
                "UPDATE deposit_observations SET final_at = $1 WHERE deposit_id = $2 AND epoch = $3",
                vec![time(now), text(id.as_str()), int(*epoch)],
            ),
        ],
        ChainChange::Orphaned { id, epoch, state } => vec![
            one(
                "UPDATE deposits SET chain_state = $1, reorged_at = $2, updated_at = $2 WHERE id = $3 AND epoch = $4",
                vec![text(state.as_str()), time(now), text(id.as_str()), int(*epoch)],
            ),
            one(
                "UPDATE deposit_observations SET orphaned_at = $1 WHERE deposit_id = $2 AND epoch = $3",
                vec![time(now), text(id.as_str()), int(*epoch)],
            ),
            one(
                "INSERT INTO chain_events (id, chain, block_hash, block_height, tx_hash, event_type, position, to_address,
                   amount_raw, reverses, observed_at)
                 SELECT $1, chain, block_hash, block_height, tx_hash, event_type, position, to_address, amount_raw, id,
                   CAST($2 AS BIGINT)
                 FROM chain_events WHERE id = $3",
                vec![text(&format!("{}:reversed", event_id(id, *epoch))), time(now), text(&event_id(id, *epoch))],
            ),
        ],
    }
}

/// The first inclusion inserts the row. A later one changes what the block says, and nothing that the books have
/// written.
fn included(chain: &ColumnValue, sighting: &Sighting, epoch: u64, now: Time) -> Vec<Statement> {
    let Sighting { id, transfer, attribution, header, required } = sighting;
    let to = text(&transfer.to.lower_hex());
    let (id_text, amount) = (text(id.as_str()), transfer.value.amount().ok());
    let raw = text(&transfer.value.to_string());
    let place = [int(header.number), hash(header.hash), int(header.time), int(transfer.index)];
    let review = text(if amount.is_some() { "none" } else { "held" });
    let amount = amount.map_or(ColumnValue::Null, ColumnValue::Amount);
    let row = if epoch == 1 {
        let mut values = vec![
            id_text.clone(),
            chain.clone(),
            hash(transfer.transaction),
            text(transfer.kind.as_str()),
            text(&transfer.position.to_string()),
            int(u64::from(attribution.custody.asset.0)),
            amount,
            raw.clone(),
            text(&transfer.from.lower_hex()),
            to.clone(),
            text(attribution.purpose.as_str()),
            text(attribution.server.as_str()),
            attribution.wallet.as_ref().map_or(ColumnValue::Null, |wallet| text(wallet.as_str())),
            text(&attribution.custody.to_string()),
            int(*required),
            review,
            time(now),
        ];
        values.extend(place.clone());
        one(
            "INSERT INTO deposits (id, chain, tx_hash, kind, position, asset, amount, amount_raw, from_address,
               to_address, purpose, server, wallet, custody, epoch, required_confirmations, chain_state, review_state,
               first_seen_at, updated_at, block_number, block_hash, block_time, tx_index)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 1, $15, 'included', $16, $17, $17,
               $18, $19, $20, $21)",
            values,
        )
    } else {
        let mut values = vec![int(epoch), int(*required), time(now)];
        values.extend(place.clone());
        values.extend([id_text.clone(), int(epoch.saturating_sub(1))]);
        one(
            "UPDATE deposits SET epoch = $1, chain_state = 'included', required_confirmations = $2, updated_at = $3,
               block_number = $4, block_hash = $5, block_time = $6, tx_index = $7 WHERE id = $8 AND epoch = $9",
            values,
        )
    };
    let [number, block_hash, _, index] = place;
    let observation = one(
        "INSERT INTO deposit_observations (deposit_id, epoch, block_number, block_hash, tx_index, amount_raw, observed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        vec![id_text, int(epoch), number.clone(), block_hash.clone(), index, raw.clone(), time(now)],
    );
    let event = one(
        "INSERT INTO chain_events (id, chain, block_hash, block_height, tx_hash, event_type, position, to_address,
           amount_raw, observed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        vec![
            text(&event_id(id, epoch)),
            chain.clone(),
            block_hash,
            number,
            hash(transfer.transaction),
            text(transfer.kind.event_type()),
            text(&transfer.position.to_string()),
            to,
            raw,
            time(now),
        ],
    );
    vec![row, observation, event]
}

fn event_id(id: &DepositId, epoch: u64) -> String {
    format!("{id}:{epoch}")
}

fn point(row: &Row) -> Result<BlockPoint, ScanError> {
    Ok(BlockPoint { number: number_of(row, "number")?, hash: parsed(row, "hash")? })
}

fn hash(hash: B256) -> ColumnValue {
    ColumnValue::Text(format!("{hash:#x}"))
}
