-- What is registered; see the same migration for Postgres.
CREATE TABLE chains (
  name       TEXT PRIMARY KEY,
  chain_id   INTEGER NOT NULL,
  label      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revision   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE asset_on_chain (
  asset         INTEGER PRIMARY KEY,
  chain         TEXT NOT NULL,
  unit          TEXT NOT NULL CHECK (unit IN ('native', 'token')),
  token_address TEXT,
  decimals      INTEGER NOT NULL,
  symbol        TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  revision      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE registered_wallets (
  name             TEXT PRIMARY KEY,
  chain            TEXT NOT NULL,
  address          TEXT NOT NULL,
  role             TEXT NOT NULL CHECK (role IN ('hot', 'deposit', 'warm', 'cold')),
  custody_key      TEXT,
  derivation_index INTEGER,
  created_at       INTEGER NOT NULL,
  revision         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE custody_keys (
  id                 TEXT PRIMARY KEY,
  xpub               TEXT,
  derivation_account INTEGER NOT NULL,
  address            TEXT NOT NULL,
  created_at         INTEGER NOT NULL,
  revision           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE servers (
  name               TEXT PRIMARY KEY,
  chain              TEXT NOT NULL,
  asset              INTEGER NOT NULL,
  custody_key        TEXT NOT NULL,
  deposit_address    TEXT NOT NULL,
  payout_address     TEXT NOT NULL,
  buy_in             AMOUNT NOT NULL,
  mass_per_coin      AMOUNT NOT NULL,
  developer_bps      INTEGER NOT NULL,
  world_bps          INTEGER NOT NULL,
  exit_hold_ms       INTEGER NOT NULL,
  developer_wallet   TEXT NOT NULL,
  paused_deposits    INTEGER NOT NULL,
  paused_spawns      INTEGER NOT NULL,
  paused_withdrawals INTEGER NOT NULL,
  disabled           INTEGER NOT NULL,
  player_addresses   INTEGER NOT NULL,
  labels             TEXT NOT NULL,
  changed_by         TEXT NOT NULL,
  changed_at         INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  rotated_at         INTEGER,
  version            INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE server_versions (
  name               TEXT NOT NULL,
  version            INTEGER NOT NULL,
  chain              TEXT NOT NULL,
  asset              INTEGER NOT NULL,
  custody_key        TEXT NOT NULL,
  deposit_address    TEXT NOT NULL,
  payout_address     TEXT NOT NULL,
  buy_in             AMOUNT NOT NULL,
  mass_per_coin      AMOUNT NOT NULL,
  developer_bps      INTEGER NOT NULL,
  world_bps          INTEGER NOT NULL,
  exit_hold_ms       INTEGER NOT NULL,
  developer_wallet   TEXT NOT NULL,
  paused_deposits    INTEGER NOT NULL,
  paused_spawns      INTEGER NOT NULL,
  paused_withdrawals INTEGER NOT NULL,
  disabled           INTEGER NOT NULL,
  player_addresses   INTEGER NOT NULL,
  labels             TEXT NOT NULL,
  changed_by         TEXT NOT NULL,
  changed_at         INTEGER NOT NULL,
  created_at         INTEGER NOT NULL,
  rotated_at         INTEGER,
  PRIMARY KEY (name, version)
) WITHOUT ROWID;
CREATE TABLE server_accounts (
  chain           TEXT NOT NULL,
  deposit_address TEXT NOT NULL,
  asset           INTEGER NOT NULL,
  server          TEXT NOT NULL,
  wallet          TEXT NOT NULL,
  player          TEXT,
  start_block     INTEGER NOT NULL,
  status          TEXT NOT NULL CHECK (status IN ('active', 'retired')),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  revision        INTEGER NOT NULL,
  PRIMARY KEY (chain, deposit_address, asset)
) STRICT, WITHOUT ROWID;
CREATE TABLE server_keys (
  address           TEXT PRIMARY KEY,
  server            TEXT NOT NULL,
  chain             TEXT NOT NULL,
  asset             INTEGER NOT NULL,
  custody_key       TEXT NOT NULL,
  buy_in_min        AMOUNT NOT NULL,
  buy_in_max        AMOUNT NOT NULL,
  developer_bps_max INTEGER NOT NULL,
  world_bps_max     INTEGER NOT NULL,
  spend_limit       AMOUNT,
  valid_until       INTEGER,
  revoked_at        INTEGER,
  created_at        INTEGER NOT NULL,
  revision          INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE treasury_addresses (
  chain      TEXT NOT NULL,
  address    TEXT NOT NULL,
  label      TEXT NOT NULL,
  removed_at INTEGER,
  created_at INTEGER NOT NULL,
  revision   INTEGER NOT NULL,
  PRIMARY KEY (chain, address)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit_log (
  number       INTEGER PRIMARY KEY,
  at           INTEGER NOT NULL,
  author       TEXT NOT NULL,
  request_key  TEXT,
  request_hash BLOB,
  entry        TEXT NOT NULL,
  hash         BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_requests ON audit_log (author, request_key);
CREATE TABLE player_freezes (
  player     TEXT PRIMARY KEY,
  frozen     INTEGER NOT NULL,
  reason     TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  revision   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE players (
  player             TEXT PRIMARY KEY,
  first_signed_in_at INTEGER NOT NULL,
  excluded_until     INTEGER,
  revision           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE player_wallets (
  wallet    TEXT PRIMARY KEY,
  player    TEXT NOT NULL,
  proven_by TEXT NOT NULL CHECK (proven_by IN ('key', 'contract')),
  chain     TEXT,
  message   TEXT NOT NULL,
  signature BLOB NOT NULL,
  linked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE player_requests (
  player       TEXT NOT NULL,
  key          TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  PRIMARY KEY (player, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE used_nonces (
  purpose    TEXT NOT NULL CHECK (purpose IN ('registration', 'open_session', 'sign_in')),
  nonce      TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER NOT NULL,
  PRIMARY KEY (purpose, nonce)
) STRICT, WITHOUT ROWID;
CREATE TABLE registry_changes (
  scope        TEXT NOT NULL,
  key          TEXT NOT NULL,
  changed_by   TEXT NOT NULL,
  changed_at   INTEGER NOT NULL,
  request_hash BLOB NOT NULL,
  changes      TEXT NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE session_keys (
  id         INTEGER PRIMARY KEY,
  secret     BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE revoked_sessions (
  session    TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX server_accounts_server ON server_accounts (server);
CREATE INDEX player_wallets_player ON player_wallets (player);
CREATE INDEX used_nonces_expiry ON used_nonces (expires_at);
CREATE INDEX revoked_sessions_expiry ON revoked_sessions (expires_at);
CREATE INDEX registry_changes_at ON registry_changes (changed_at, key);
