-- What each of our wallets held at a block, and what its account and the rows said. One row for each wallet and asset,
-- written by the role `books` in each round. Amounts are in base units; times are microseconds.
CREATE TABLE wallet_balances (
  chain        text NOT NULL,
  wallet       text NOT NULL,
  asset        bigint NOT NULL,
  name         text NOT NULL, -- the wallet's, in the registry
  block_number bigint NOT NULL,
  block_hash   text NOT NULL,
  on_chain     text NOT NULL,
  difference   text NOT NULL, -- what the wallet holds more than it should; with a minus where it holds less
  terms        text NOT NULL, -- JSON: what explains the rest
  rounds       bigint NOT NULL, -- in how many rounds in a row there was a difference; from the second on it counts
  since        bigint NOT NULL, -- when the present difference was first seen
  at           bigint NOT NULL,
  PRIMARY KEY (chain, wallet, asset)
);
CREATE INDEX wallet_balances_differ ON wallet_balances (chain) WHERE rounds > 0;
