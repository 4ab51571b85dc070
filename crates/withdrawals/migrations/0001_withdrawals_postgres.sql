-- What players want paid (`withdrawal_requests`: only `books` writes it), and the work of paying it (everything else: only
-- `payouts` writes it). What became of a payout goes from here to there through `payout_events`. Times are microseconds.
CREATE TABLE withdrawal_requests (
  id            text PRIMARY KEY,
  server        text NOT NULL,
  asker         text NOT NULL, -- whose name for the request `request_id` is
  request_id    text NOT NULL,
  wallet        text NOT NULL, -- the player
  account       text NOT NULL, -- where the money is held
  chain         text NOT NULL,
  asset         bigint NOT NULL,
  to_address    text NOT NULL,
  amount        numeric(39,0) NOT NULL,
  gas_payer     text NOT NULL CHECK (gas_payer IN ('house', 'player')),
  fee_cap       numeric(39,0) NOT NULL, -- held beside the amount if the player pays for gas
  status        text NOT NULL CHECK (status IN ('awaiting_approval', 'approved', 'completed', 'failed')),
  final_tx_hash text,
  fee           numeric(39,0), -- what gas did cost
  reason        text,
  consent_wallet    text, -- the asker's own signature over the payout, for the signer
  consent_audience  text,
  consent_asset     text,
  consent_expires   bigint,
  consent_signature bytea,
  hold          bigint, -- written after the commit that made it; found in the journal if it is missing
  UNIQUE (server, asker, request_id)
);
CREATE INDEX withdrawal_requests_unapproved ON withdrawal_requests (server) WHERE status = 'awaiting_approval';
CREATE INDEX withdrawal_requests_approved ON withdrawal_requests (id) WHERE status = 'approved';
CREATE TABLE exits ( -- only `books` writes it
  server  text NOT NULL,
  exit_id text NOT NULL, -- the game's own name for it
  wallet  text NOT NULL,
  account text NOT NULL,
  amount  numeric(39,0) NOT NULL, -- what left the world
  payout  text NOT NULL CHECK (payout IN ('auto', 'keep')), -- what the game asked for
  to_address text, -- where it was to be paid to
  fee_cap numeric(39,0),
  kept_because text CHECK (kept_because IN ('insufficient_funds', 'player_frozen')), -- although a payout was asked for
  intent  text UNIQUE, -- the intent that pays it; none if the player keeps it in the books
  spawn   text UNIQUE,
  PRIMARY KEY (server, exit_id)
);
CREATE TABLE request_keys ( -- the callers' own keys of exits and withdrawals; only `books` writes it
  asker   text NOT NULL,
  key     text NOT NULL,
  request text NOT NULL,
  PRIMARY KEY (asker, key)
);
CREATE TABLE withdrawal_queue (
  id                          text PRIMARY KEY,
  withdrawal_request_id       text NOT NULL UNIQUE, -- one job an intent, for ever: trying again is a new intent
  chain                       text NOT NULL,
  operation_wallet_address_id text NOT NULL,
  to_address                  text NOT NULL,
  amount                      numeric(39,0) NOT NULL,
  gas_payer                   text NOT NULL,
  fee_cap                     numeric(39,0) NOT NULL,
  status                      text NOT NULL CHECK (status IN ('pending', 'waiting_funds', 'reserved', 'signing', 'signed',
                                'broadcast', 'mined', 'final', 'reverted', 'dead', 'unknown')),
  priority                    bigint NOT NULL, -- 0 high, 1 normal, 2 low
  nonce                       bigint,
  cancel_asked                bigint NOT NULL,
  tx_hash                     text,
  block_number                bigint,
  block_hash                  text,
  gas_used                    bigint,
  gas_price                   numeric(39,0),
  retry_count                 bigint NOT NULL,
  error_message               text,
  scheduled_at                bigint NOT NULL,
  processed_at                bigint,
  created_at                  bigint NOT NULL,
  updated_at                  bigint NOT NULL,
  version                     bigint NOT NULL -- raised by each write, which names the one it has read
);
CREATE INDEX withdrawal_queue_live ON withdrawal_queue (chain, operation_wallet_address_id, priority, created_at)
  WHERE status NOT IN ('final', 'reverted', 'dead');
CREATE INDEX withdrawal_queue_contradicted ON withdrawal_queue (id)
  WHERE status IN ('final', 'reverted', 'dead') AND error_message IS NOT NULL;
CREATE INDEX withdrawal_queue_at ON withdrawal_queue (chain, operation_wallet_address_id, block_number);
-- One row a transaction that the signer is asked for. All of a job's have one nonce: one of them can be mined.
CREATE TABLE payout_attempts (
  job          text NOT NULL,
  number       bigint NOT NULL,
  order_id     text NOT NULL UNIQUE,
  meaning      text NOT NULL CHECK (meaning IN ('payout', 'cancel')),
  manner       text NOT NULL CHECK (manner IN ('dynamic', 'legacy')),
  gas_limit    bigint NOT NULL,
  max_fee      numeric(39,0) NOT NULL,
  priority_fee numeric(39,0) NOT NULL,
  raw          bytea, -- what is sent, again and again; null until the signer has answered
  tx_hash      text UNIQUE,
  refused      text, -- the signer's no to a replacement
  created_at   bigint NOT NULL,
  signed_at    bigint,
  last_sent_at bigint,
  PRIMARY KEY (job, number)
);
-- Nonces are rows, not a counter. One without a job is free, and is taken before a new one.
CREATE TABLE payout_nonces (
  chain  text NOT NULL,
  wallet text NOT NULL,
  nonce  bigint NOT NULL,
  job    text UNIQUE,
  PRIMARY KEY (chain, wallet, nonce)
);
CREATE TABLE operation_wallet_addresses (
  chain       text NOT NULL,
  address     text NOT NULL,
  signer_head text, -- the newest head that the signer gave, sent along with everything that is asked of it
  stopped     text, -- why nothing new is paid from it: a person must look
  PRIMARY KEY (chain, address)
);
