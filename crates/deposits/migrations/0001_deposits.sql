-- What the scanner has read of chains, and what the books made of it; see the same migration for Postgres.
CREATE TABLE chain_cursor (
  chain        TEXT PRIMARY KEY,
  block_number INTEGER NOT NULL,
  block_hash   TEXT NOT NULL,
  updated_at   INTEGER NOT NULL,
  events       INTEGER NOT NULL,
  events_hash  TEXT NOT NULL,
  stopped      TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE block_headers (
  chain       TEXT NOT NULL,
  number      INTEGER NOT NULL,
  hash        TEXT NOT NULL,
  parent_hash TEXT NOT NULL,
  time        INTEGER NOT NULL,
  PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE deposits (
  id                         TEXT PRIMARY KEY,
  chain                      TEXT NOT NULL,
  tx_hash                    TEXT NOT NULL,
  kind                       TEXT NOT NULL CHECK (kind IN ('native', 'internal', 'token', 'balance')),
  position                   INTEGER NOT NULL,
  asset                      INTEGER NOT NULL,
  amount                     AMOUNT,
  amount_raw                 TEXT NOT NULL,
  from_address               TEXT NOT NULL,
  to_address                 TEXT NOT NULL,
  purpose                    TEXT NOT NULL CHECK (purpose IN ('player', 'treasury', 'unknown', 'internal')),
  server                     TEXT,
  wallet                     TEXT,
  doubt                      TEXT,
  custody                    TEXT NOT NULL,
  epoch                      INTEGER NOT NULL,
  block_number               INTEGER NOT NULL,
  block_hash                 TEXT NOT NULL,
  block_time                 INTEGER NOT NULL,
  tx_index                   INTEGER NOT NULL,
  required_confirmations     INTEGER NOT NULL,
  needs_agreement            INTEGER NOT NULL,
  chain_state                TEXT NOT NULL CHECK (chain_state IN ('included', 'final', 'orphaned', 'orphaned_after_final')),
  review_state               TEXT NOT NULL CHECK (review_state IN ('none', 'screening', 'cleared', 'held', 'released', 'refused')),
  ledger_state               TEXT NOT NULL DEFAULT 'none' CHECK (ledger_state IN
    ('none', 'play_only', 'suspense', 'credited', 'returned', 'reversed')),
  ledger_epoch               INTEGER NOT NULL DEFAULT 0,
  is_valid_for_server_config INTEGER,
  invalid_reason             TEXT,
  config_version             INTEGER,
  credited_server            TEXT,
  credited_wallet            TEXT,
  review_by                  TEXT,
  review_epoch               INTEGER NOT NULL DEFAULT 0,
  assigned_by                TEXT,
  ledger_error               TEXT,
  ledger_error_epoch         INTEGER NOT NULL DEFAULT 0,
  first_seen_at              INTEGER NOT NULL,
  updated_at                 INTEGER NOT NULL,
  reorged_at                 INTEGER,
  UNIQUE (chain, tx_hash, kind, position)
) WITHOUT ROWID;
CREATE INDEX deposits_included ON deposits (chain, block_number) WHERE chain_state = 'included';
CREATE INDEX deposits_player ON deposits (server, wallet, first_seen_at);
CREATE INDEX deposits_credited ON deposits (credited_server, credited_wallet, first_seen_at);
CREATE INDEX deposits_at ON deposits (chain, block_number);
CREATE INDEX deposits_suspended ON deposits (chain) WHERE ledger_state = 'suspense';
CREATE INDEX deposits_held ON deposits (chain) WHERE review_state = 'held';
CREATE INDEX deposits_doubted ON deposits (chain) WHERE doubt IS NOT NULL;
CREATE INDEX deposits_refused ON deposits (chain) WHERE ledger_error IS NOT NULL;
CREATE INDEX deposits_orphaned ON deposits (chain, reorged_at) WHERE chain_state = 'orphaned_after_final';
CREATE INDEX deposits_creditable ON deposits (block_number)
  WHERE chain_state = 'final' AND ledger_state IN ('none', 'reversed');
CREATE INDEX deposits_reversible ON deposits (block_number)
  WHERE ledger_state IN ('credited', 'suspense')
    AND (ledger_epoch <> epoch OR chain_state IN ('orphaned', 'orphaned_after_final'));
CREATE INDEX deposits_unbooked ON deposits (chain) WHERE ledger_state IN ('none', 'play_only', 'returned', 'reversed');
CREATE TABLE withdrawals_chain (
  chain         TEXT NOT NULL,
  tx_hash       TEXT NOT NULL,
  wallet        TEXT NOT NULL,
  nonce         INTEGER NOT NULL,
  to_address    TEXT,
  value_raw     TEXT NOT NULL,
  fee_raw       TEXT NOT NULL,
  succeeded     INTEGER NOT NULL,
  block_number  INTEGER NOT NULL,
  block_hash    TEXT NOT NULL,
  epoch         INTEGER NOT NULL,
  is_canonical  INTEGER NOT NULL,
  made_by       TEXT,
  first_seen_at INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  PRIMARY KEY (chain, tx_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawals_chain_at ON withdrawals_chain (chain, block_number);
CREATE INDEX withdrawals_chain_nonces ON withdrawals_chain (chain, wallet, nonce);
CREATE INDEX withdrawals_chain_foreign ON withdrawals_chain (first_seen_at) WHERE made_by IS NULL;
CREATE INDEX withdrawals_chain_dropped ON withdrawals_chain (chain) WHERE is_canonical = 0;
CREATE TABLE chain_events (
  chain                  TEXT NOT NULL,
  number                 INTEGER NOT NULL,
  change                 TEXT NOT NULL CHECK (change IN ('included', 'final', 'orphaned')),
  deposit_id             TEXT NOT NULL,
  epoch                  INTEGER NOT NULL,
  tx_hash                TEXT NOT NULL,
  tx_index               INTEGER NOT NULL,
  event_type             TEXT NOT NULL,
  kind                   TEXT NOT NULL,
  position               INTEGER NOT NULL,
  asset                  INTEGER NOT NULL,
  from_address           TEXT NOT NULL,
  to_address             TEXT NOT NULL,
  amount_raw             TEXT NOT NULL,
  purpose                TEXT NOT NULL,
  server                 TEXT NOT NULL,
  wallet                 TEXT,
  custody                TEXT NOT NULL,
  block_height           INTEGER NOT NULL,
  block_hash             TEXT NOT NULL,
  block_time             INTEGER NOT NULL,
  required_confirmations INTEGER NOT NULL,
  needs_agreement        INTEGER NOT NULL,
  doubt                  TEXT,
  head_height            INTEGER NOT NULL,
  head_hash              TEXT NOT NULL,
  observed_at            INTEGER NOT NULL,
  previous_hash          TEXT NOT NULL,
  hash                   TEXT NOT NULL,
  PRIMARY KEY (chain, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_events_at ON chain_events (chain, block_height);
CREATE INDEX chain_events_to ON chain_events (to_address);
CREATE INDEX chain_events_deposit ON chain_events (deposit_id, number);
CREATE TRIGGER chain_events_keep_what_they_have BEFORE UPDATE ON chain_events
BEGIN SELECT RAISE(ABORT, 'chain events are append-only'); END;
CREATE TRIGGER chain_events_forget_nothing BEFORE DELETE ON chain_events
BEGIN SELECT RAISE(ABORT, 'chain events are append-only'); END;
