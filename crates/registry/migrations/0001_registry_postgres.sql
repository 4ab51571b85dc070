-- What is registered. Only `books` writes here, and all but `session_keys` only by facts, so that the audit compares
-- each row with the journal. Times are microseconds. Every entry has a revision, from 1, raised by each change.
-- Chains that servers, wallets and players may use.
CREATE TABLE chains (
  name       text PRIMARY KEY, -- as in CAIP-2: eip155:1
  chain_id   bigint NOT NULL,
  label      text NOT NULL,
  created_at bigint NOT NULL,
  revision   bigint NOT NULL
);
-- Assets of the ledger, as their chains know them.
CREATE TABLE asset_on_chain (
  asset         bigint PRIMARY KEY, -- its number in the ledger
  chain         text NOT NULL,
  unit          text NOT NULL CHECK (unit IN ('native', 'token')),
  token_address text,
  decimals      bigint NOT NULL,
  symbol        text NOT NULL,
  created_at    bigint NOT NULL,
  revision      bigint NOT NULL
);
-- Our wallets: identity and role. What withdrawals does with a wallet is in operation_wallet_addresses.
CREATE TABLE registered_wallets (
  name             text PRIMARY KEY, -- the owner of its custody accounts
  chain            text NOT NULL,
  address          text NOT NULL,
  role             text NOT NULL CHECK (role IN ('hot', 'deposit', 'warm', 'cold')),
  custody_key      text,
  derivation_index bigint,
  created_at       bigint NOT NULL,
  revision         bigint NOT NULL
);
-- The public halves of keys that signers keep.
CREATE TABLE custody_keys (
  id                 text PRIMARY KEY,
  xpub               text, -- null for a single key
  derivation_account bigint NOT NULL,
  address            text NOT NULL, -- at index 0
  created_at         bigint NOT NULL,
  revision           bigint NOT NULL
);
-- Game servers, each with its current version.
CREATE TABLE servers (
  name               text PRIMARY KEY,
  chain              text NOT NULL,
  asset              bigint NOT NULL,
  custody_key        text NOT NULL,
  deposit_address    text NOT NULL,
  payout_address     text NOT NULL,
  buy_in             numeric(39,0) NOT NULL,
  mass_per_coin      numeric(39,0) NOT NULL,
  developer_bps      bigint NOT NULL,
  world_bps          bigint NOT NULL,
  exit_hold_ms       bigint NOT NULL,
  developer_wallet   text NOT NULL,
  paused_deposits    bigint NOT NULL, -- 0 or 1, as the next three
  paused_spawns      bigint NOT NULL,
  paused_withdrawals bigint NOT NULL,
  disabled           bigint NOT NULL,
  player_addresses   bigint NOT NULL, -- whether each player gets an address
  labels             text NOT NULL,
  changed_by         text NOT NULL, -- key:0x... or owner:...
  changed_at         bigint NOT NULL,
  created_at         bigint NOT NULL,
  rotated_at         bigint, -- when the deposit address changed
  version            bigint NOT NULL -- raised by each change
);
-- Every version that a server ever had.
CREATE TABLE server_versions (
  name               text NOT NULL,
  version            bigint NOT NULL,
  chain              text NOT NULL,
  asset              bigint NOT NULL,
  custody_key        text NOT NULL,
  deposit_address    text NOT NULL,
  payout_address     text NOT NULL,
  buy_in             numeric(39,0) NOT NULL,
  mass_per_coin      numeric(39,0) NOT NULL,
  developer_bps      bigint NOT NULL,
  world_bps          bigint NOT NULL,
  exit_hold_ms       bigint NOT NULL,
  developer_wallet   text NOT NULL,
  paused_deposits    bigint NOT NULL, -- 0 or 1, as the next three
  paused_spawns      bigint NOT NULL,
  paused_withdrawals bigint NOT NULL,
  disabled           bigint NOT NULL,
  player_addresses   bigint NOT NULL, -- whether each player gets an address
  labels             text NOT NULL,
  changed_by         text NOT NULL, -- key:0x... or owner:...
  changed_at         bigint NOT NULL,
  created_at         bigint NOT NULL,
  rotated_at         bigint, -- when the deposit address changed
  PRIMARY KEY (name, version)
);
-- The indexer's watch list. No row is ever removed: players may still pay to an old address.
CREATE TABLE server_accounts (
  chain           text NOT NULL,
  deposit_address text NOT NULL,
  asset           bigint NOT NULL,
  server          text NOT NULL,
  wallet          text NOT NULL, -- ours, of that address
  player          text, -- whom the address was made for
  start_block     bigint NOT NULL, -- the first block that counts
  status          text NOT NULL CHECK (status IN ('active', 'retired')),
  created_at      bigint NOT NULL,
  updated_at      bigint NOT NULL,
  revision        bigint NOT NULL,
  PRIMARY KEY (chain, deposit_address, asset)
);
-- The allow-list: who may register and act for which server, within which bounds.
CREATE TABLE server_keys (
  address           text PRIMARY KEY,
  server            text NOT NULL,
  chain             text NOT NULL,
  asset             bigint NOT NULL,
  custody_key       text NOT NULL,
  buy_in_min        numeric(39,0) NOT NULL,
  buy_in_max        numeric(39,0) NOT NULL,
  developer_bps_max bigint NOT NULL,
  world_bps_max     bigint NOT NULL,
  spend_limit       numeric(39,0), -- a minute
  valid_until       bigint, -- the overlap of a rotation
  revoked_at        bigint,
  created_at        bigint NOT NULL,
  revision          bigint NOT NULL
);
-- Where the operator's own capital comes from.
CREATE TABLE treasury_addresses (
  chain      text NOT NULL,
  address    text NOT NULL,
  label      text NOT NULL,
  removed_at bigint,
  created_at bigint NOT NULL,
  revision   bigint NOT NULL,
  PRIMARY KEY (chain, address)
);
-- What the people who run the deployment did, each entry hashed with the one before it. Who they are follows from it.
CREATE TABLE audit_log (
  number       bigint PRIMARY KEY, -- from 1, without gaps
  at           bigint NOT NULL,
  author       text NOT NULL,
  request_key  text, -- of a signed request
  request_hash bytea,
  entry        text NOT NULL, -- the text that is hashed
  hash         bytea NOT NULL
);
CREATE INDEX audit_log_requests ON audit_log (author, request_key);
-- Players whom an operator has frozen: no spawn, no payout.
CREATE TABLE player_freezes (
  player     text PRIMARY KEY,
  frozen     bigint NOT NULL, -- 0 or 1
  reason     text NOT NULL,
  changed_at bigint NOT NULL,
  revision   bigint NOT NULL
);
-- Players who have signed in, named by their first wallet; its proof is in player_wallets.
CREATE TABLE players (
  player             text PRIMARY KEY,
  first_signed_in_at bigint NOT NULL,
  excluded_until     bigint, -- only ever later
  revision           bigint NOT NULL
);
-- Wallets with their own proof: an EIP-4361 message and its signature.
CREATE TABLE player_wallets (
  wallet    text PRIMARY KEY,
  player    text NOT NULL,
  proven_by text NOT NULL CHECK (proven_by IN ('key', 'contract')),
  chain     text, -- of the contract
  message   text NOT NULL,
  signature bytea NOT NULL,
  linked_at bigint NOT NULL
);
-- Nonces of signed messages that had their effect.
CREATE TABLE player_requests ( -- idempotency keys of what players change about themselves
  player       text NOT NULL,
  key          text NOT NULL,
  request_hash bytea NOT NULL,
  PRIMARY KEY (player, key)
);
CREATE TABLE used_nonces (
  purpose    text NOT NULL CHECK (purpose IN ('registration', 'open_session', 'sign_in')),
  nonce      text NOT NULL,
  expires_at bigint NOT NULL,
  used_at    bigint NOT NULL,
  PRIMARY KEY (purpose, nonce)
);
-- The list of changes, by the key of the request that made them.
CREATE TABLE registry_changes (
  scope        text NOT NULL,
  key          text NOT NULL,
  changed_by   text NOT NULL,
  changed_at   bigint NOT NULL,
  request_hash bytea NOT NULL, -- of what the caller sent
  changes      text NOT NULL, -- JSON: each entry as it became
  PRIMARY KEY (scope, key)
);
-- The secrets behind session tokens. Not facts: only the books may read them, and the journal has more readers.
CREATE TABLE session_keys (
  id         bigint PRIMARY KEY,
  secret     bytea NOT NULL,
  created_at bigint NOT NULL,
  retired_at bigint
);
-- Sessions that ended before their time.
CREATE TABLE revoked_sessions (
  session    text PRIMARY KEY,
  expires_at bigint NOT NULL,
  revoked_at bigint NOT NULL
);
CREATE INDEX server_accounts_server ON server_accounts (server);
CREATE INDEX player_wallets_player ON player_wallets (player);
CREATE INDEX used_nonces_expiry ON used_nonces (expires_at);
CREATE INDEX revoked_sessions_expiry ON revoked_sessions (expires_at);
CREATE INDEX registry_changes_at ON registry_changes (changed_at, key);
