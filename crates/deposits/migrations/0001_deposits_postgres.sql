-- What the scanner has read of chains, and what the books made of it. The scanner (role `indexer`) writes everything but
-- `ledger_state`, `ledger_epoch`, the validity columns and `ledger_error*` of a deposit, which are the books'. Both write to
-- the same row, so that a credit and an unwind of its block wait for each other. Times are microseconds, of blocks seconds.
CREATE TABLE chain_cursor (
  chain        text PRIMARY KEY,
  block_number bigint NOT NULL,
  block_hash   text NOT NULL,
  updated_at   bigint NOT NULL,
  events       bigint NOT NULL, -- how many events the chain's log has
  events_hash  text NOT NULL, -- the hash of the newest
  stopped      text -- why the scanner cannot go on: a person must look
);
-- The newest canonical headers, as far back as a reorganisation is followed.
CREATE TABLE block_headers (
  chain       text NOT NULL,
  number      bigint NOT NULL,
  hash        text NOT NULL,
  parent_hash text NOT NULL,
  time        bigint NOT NULL,
  PRIMARY KEY (chain, number)
);
-- One row a transfer, however often chains include and orphan it: each inclusion is an epoch.
CREATE TABLE deposits (
  id                         text PRIMARY KEY,
  chain                      text NOT NULL,
  tx_hash                    text NOT NULL,
  kind                       text NOT NULL CHECK (kind IN ('native', 'internal', 'token', 'balance')),
  position                   bigint NOT NULL, -- inside the transaction, among its transfers of that kind
  asset                      bigint NOT NULL,
  amount                     numeric(39,0), -- null if it is more than the ledger can count
  amount_raw                 text NOT NULL,
  from_address               text NOT NULL,
  to_address                 text NOT NULL,
  purpose                    text NOT NULL CHECK (purpose IN ('player', 'treasury', 'unknown', 'internal')),
  server                     text,
  wallet                     text, -- the player who is credited
  doubt                      text, -- why it is not a player's money as it was seen
  custody                    text NOT NULL, -- the account of the wallet that received it
  epoch                      bigint NOT NULL,
  block_number               bigint NOT NULL,
  block_hash                 text NOT NULL,
  block_time                 bigint NOT NULL,
  tx_index                   bigint NOT NULL,
  required_confirmations     bigint NOT NULL,
  needs_agreement            bigint NOT NULL,
  chain_state                text NOT NULL CHECK (chain_state IN ('included', 'final', 'orphaned', 'orphaned_after_final')),
  review_state               text NOT NULL CHECK (review_state IN ('none', 'screening', 'cleared', 'held', 'released', 'refused')),
  ledger_state               text NOT NULL DEFAULT 'none' CHECK (ledger_state IN
    ('none', 'play_only', 'suspense', 'credited', 'returned', 'reversed')),
  ledger_epoch               bigint NOT NULL DEFAULT 0, -- the epoch that was booked last; 0 for none
  is_valid_for_server_config bigint,
  invalid_reason             text,
  config_version             bigint,
  credited_server            text,
  credited_wallet            text,
  review_by                  text, -- the key of the record that set review_state; null if no person has decided
  review_epoch               bigint NOT NULL DEFAULT 0, -- which inclusion people let through, or refused
  assigned_by                text, -- the key of the record that took it out of suspense for its player
  ledger_error               text, -- why the books refused the epoch of `ledger_error_epoch`: a person must look
  ledger_error_epoch         bigint NOT NULL DEFAULT 0,
  first_seen_at              bigint NOT NULL,
  updated_at                 bigint NOT NULL,
  reorged_at                 bigint,
  UNIQUE (chain, tx_hash, kind, position)
);
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
CREATE TABLE withdrawals_chain ( -- what our own wallets sent, one row a transaction however often it is included
  chain         text NOT NULL,
  tx_hash       text NOT NULL,
  wallet        text NOT NULL,
  nonce         bigint NOT NULL,
  to_address    text, -- null creates a contract
  value_raw     text NOT NULL, -- in wei; it moved only if it succeeded
  fee_raw       text NOT NULL,
  succeeded     bigint NOT NULL,
  block_number  bigint NOT NULL,
  block_hash    text NOT NULL,
  epoch         bigint NOT NULL, -- how often it was included
  is_canonical  bigint NOT NULL,
  made_by       text, -- the payout; null for a transaction that no job made, or that the books have not looked at yet
  first_seen_at bigint NOT NULL,
  updated_at    bigint NOT NULL,
  PRIMARY KEY (chain, tx_hash)
);
CREATE INDEX withdrawals_chain_at ON withdrawals_chain (chain, block_number);
CREATE INDEX withdrawals_chain_nonces ON withdrawals_chain (chain, wallet, nonce);
CREATE INDEX withdrawals_chain_foreign ON withdrawals_chain (first_seen_at) WHERE made_by IS NULL;
CREATE INDEX withdrawals_chain_dropped ON withdrawals_chain (chain) WHERE is_canonical = 0;
-- What the scanner saw, one row for each inclusion, its finality and its end. Nothing is ever changed; each row has the
-- hash of its content and of the row before it.
CREATE TABLE chain_events (
  chain                  text NOT NULL,
  number                 bigint NOT NULL,
  change                 text NOT NULL CHECK (change IN ('included', 'final', 'orphaned')),
  deposit_id             text NOT NULL,
  epoch                  bigint NOT NULL,
  tx_hash                text NOT NULL,
  tx_index               bigint NOT NULL,
  event_type             text NOT NULL,
  kind                   text NOT NULL,
  position               bigint NOT NULL,
  asset                  bigint NOT NULL,
  from_address           text NOT NULL,
  to_address             text NOT NULL,
  amount_raw             text NOT NULL,
  purpose                text NOT NULL,
  server                 text NOT NULL,
  wallet                 text,
  custody                text NOT NULL,
  block_height           bigint NOT NULL,
  block_hash             text NOT NULL,
  block_time             bigint NOT NULL,
  required_confirmations bigint NOT NULL,
  needs_agreement        bigint NOT NULL,
  doubt                  text,
  head_height            bigint NOT NULL,
  head_hash              text NOT NULL,
  observed_at            bigint NOT NULL,
  previous_hash          text NOT NULL,
  hash                   text NOT NULL,
  PRIMARY KEY (chain, number)
);
CREATE INDEX chain_events_at ON chain_events (chain, block_height);
CREATE INDEX chain_events_to ON chain_events (to_address);
CREATE INDEX chain_events_deposit ON chain_events (deposit_id, number);
CREATE FUNCTION chain_events_are_kept() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'chain events are append-only'; END $$;
CREATE TRIGGER chain_events_are_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON chain_events
FOR EACH STATEMENT EXECUTE FUNCTION chain_events_are_kept();
