-- What each of our wallets held at a block, and what its account and the rows said; see the same for Postgres.
CREATE TABLE wallet_balances (
  chain        TEXT NOT NULL,
  wallet       TEXT NOT NULL,
  asset        INTEGER NOT NULL,
  name         TEXT NOT NULL,
  block_number INTEGER NOT NULL,
  block_hash   TEXT NOT NULL,
  on_chain     TEXT NOT NULL,
  difference   TEXT NOT NULL,
  terms        TEXT NOT NULL,
  rounds       INTEGER NOT NULL,
  since        INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  PRIMARY KEY (chain, wallet, asset)
) STRICT, WITHOUT ROWID;
CREATE INDEX wallet_balances_differ ON wallet_balances (chain) WHERE rounds > 0;
