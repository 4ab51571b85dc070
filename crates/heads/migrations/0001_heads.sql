-- The public log of heads, and the tree over the heads of all batches; see the same migration for Postgres.
CREATE TABLE published_heads (
  batch     INTEGER PRIMARY KEY CHECK (batch > 0),
  head      BLOB NOT NULL CHECK (length(head) = 32),
  root      BLOB NOT NULL CHECK (length(root) = 32),
  seconds   INTEGER NOT NULL CHECK (seconds >= 0),
  audience  TEXT NOT NULL,
  chain_id  INTEGER NOT NULL,
  address   BLOB NOT NULL CHECK (length(address) = 20),
  signature BLOB NOT NULL CHECK (length(signature) = 65)
) STRICT;
CREATE TRIGGER published_heads_keep_what_they_have BEFORE UPDATE ON published_heads
BEGIN SELECT RAISE(ABORT, 'published heads are append-only'); END;
CREATE TRIGGER published_heads_forget_nothing BEFORE DELETE ON published_heads
BEGIN SELECT RAISE(ABORT, 'published heads are append-only'); END;
CREATE TABLE head_nodes (
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash  BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, place)
) STRICT, WITHOUT ROWID;
