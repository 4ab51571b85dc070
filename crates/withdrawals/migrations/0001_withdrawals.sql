-- What players want paid, and the work of paying it; see the same migration for Postgres.
CREATE TABLE withdrawal_requests (
  id            TEXT PRIMARY KEY,
  server        TEXT NOT NULL,
  asker         TEXT NOT NULL,
  request_id    TEXT NOT NULL,
  wallet        TEXT NOT NULL,
  account       TEXT NOT NULL,
  chain         TEXT NOT NULL,
  asset         INTEGER NOT NULL,
  to_address    TEXT NOT NULL,
  amount        AMOUNT NOT NULL,
  gas_payer     TEXT NOT NULL CHECK (gas_payer IN ('house', 'player')),
  fee_cap       AMOUNT NOT NULL,
  status        TEXT NOT NULL CHECK (status IN ('awaiting_approval', 'approved', 'completed', 'failed')),
  final_tx_hash TEXT,
  fee           AMOUNT,
  reason        TEXT,
  consent_wallet    TEXT,
  consent_audience  TEXT,
  consent_asset     TEXT,
  consent_expires   INTEGER,
  consent_signature BLOB,
  hold          INTEGER,
  UNIQUE (server, asker, request_id)
) WITHOUT ROWID;
CREATE INDEX withdrawal_requests_unapproved ON withdrawal_requests (server) WHERE status = 'awaiting_approval';
CREATE INDEX withdrawal_requests_approved ON withdrawal_requests (id) WHERE status = 'approved';
CREATE TABLE exits (
  server  TEXT NOT NULL,
  exit_id TEXT NOT NULL,
  wallet  TEXT NOT NULL,
  account TEXT NOT NULL,
  amount  AMOUNT NOT NULL,
  payout  TEXT NOT NULL CHECK (payout IN ('auto', 'keep')),
  to_address TEXT,
  fee_cap AMOUNT,
  kept_because TEXT CHECK (kept_because IN ('insufficient_funds', 'player_frozen')),
  intent  TEXT UNIQUE,
  spawn   TEXT UNIQUE,
  PRIMARY KEY (server, exit_id)
) WITHOUT ROWID;
CREATE TABLE request_keys (
  asker   TEXT NOT NULL,
  key     TEXT NOT NULL,
  request TEXT NOT NULL,
  PRIMARY KEY (asker, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE withdrawal_queue (
  id                          TEXT PRIMARY KEY,
  withdrawal_request_id       TEXT NOT NULL UNIQUE,
  chain                       TEXT NOT NULL,
  operation_wallet_address_id TEXT NOT NULL,
  to_address                  TEXT NOT NULL,
  amount                      AMOUNT NOT NULL,
  gas_payer                   TEXT NOT NULL,
  fee_cap                     AMOUNT NOT NULL,
  status                      TEXT NOT NULL CHECK (status IN ('pending', 'waiting_funds', 'reserved', 'signing', 'signed',
                                'broadcast', 'mined', 'final', 'reverted', 'dead', 'unknown')),
  priority                    INTEGER NOT NULL,
  nonce                       INTEGER,
  cancel_asked                INTEGER NOT NULL,
  tx_hash                     TEXT,
  block_number                INTEGER,
  block_hash                  TEXT,
  gas_used                    INTEGER,
  gas_price                   AMOUNT,
  retry_count                 INTEGER NOT NULL,
  error_message               TEXT,
  scheduled_at                INTEGER NOT NULL,
  processed_at                INTEGER,
  created_at                  INTEGER NOT NULL,
  updated_at                  INTEGER NOT NULL,
  version                     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX withdrawal_queue_live ON withdrawal_queue (chain, operation_wallet_address_id, priority, created_at)
  WHERE status NOT IN ('final', 'reverted', 'dead');
CREATE INDEX withdrawal_queue_contradicted ON withdrawal_queue (id)
  WHERE status IN ('final', 'reverted', 'dead') AND error_message IS NOT NULL;
CREATE INDEX withdrawal_queue_at ON withdrawal_queue (chain, operation_wallet_address_id, block_number);
CREATE TABLE payout_attempts (
  job          TEXT NOT NULL,
  number       INTEGER NOT NULL,
  order_id     TEXT NOT NULL UNIQUE,
  meaning      TEXT NOT NULL CHECK (meaning IN ('payout', 'cancel')),
  manner       TEXT NOT NULL CHECK (manner IN ('dynamic', 'legacy')),
  gas_limit    INTEGER NOT NULL,
  max_fee      AMOUNT NOT NULL,
  priority_fee AMOUNT NOT NULL,
  raw          BLOB,
  tx_hash      TEXT UNIQUE,
  refused      TEXT,
  created_at   INTEGER NOT NULL,
  signed_at    INTEGER,
  last_sent_at INTEGER,
  PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE TABLE payout_nonces (
  chain  TEXT NOT NULL,
  wallet TEXT NOT NULL,
  nonce  INTEGER NOT NULL,
  job    TEXT UNIQUE,
  PRIMARY KEY (chain, wallet, nonce)
) STRICT, WITHOUT ROWID;
CREATE TABLE operation_wallet_addresses (
  chain       TEXT NOT NULL,
  address     TEXT NOT NULL,
  signer_head TEXT,
  stopped     TEXT,
  PRIMARY KEY (chain, address)
) STRICT, WITHOUT ROWID;
