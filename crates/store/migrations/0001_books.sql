-- The journal is the truth: one row a record, in order, for ever. Everything below it is derived and can be rebuilt.
-- Checksums cover the content of a row and its number; every reader compares them (store/src/engine/checksum.rs).
CREATE TABLE journal (
  seq      INTEGER PRIMARY KEY,
  record   BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TRIGGER journal_keeps_what_it_has BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_forgets_nothing BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

-- One row a commit: its records, its time, its Merkle root and the head of the hash chain after it.
CREATE TABLE batches (
  number INTEGER PRIMARY KEY CHECK (number > 0),
  first  INTEGER NOT NULL CHECK (first > 0),
  count  INTEGER NOT NULL CHECK (count > 0),
  at     INTEGER NOT NULL CHECK (at >= 0),
  root   BLOB NOT NULL CHECK (length(root) = 32),
  head   BLOB NOT NULL CHECK (length(head) = 32)
) STRICT;
CREATE TRIGGER batches_keep_what_they_have BEFORE UPDATE ON batches BEGIN SELECT RAISE(ABORT, 'batches are append-only'); END;
CREATE TRIGGER batches_forget_nothing BEFORE DELETE ON batches BEGIN SELECT RAISE(ABORT, 'batches are append-only'); END;

-- Assets and accounts are also counted apart (AUTOINCREMENT, in sqlite_sequence), so that a lost last row is noticed.
CREATE TABLE assets (
  id       INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  chain    TEXT NOT NULL,
  contract TEXT NOT NULL, -- empty for the chain's native coin
  decimals INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 255),
  symbol   TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (chain, contract)
) STRICT;

CREATE TABLE accounts (
  id           INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > 0),
  name         TEXT NOT NULL UNIQUE,
  may_deposit  INTEGER NOT NULL CHECK (may_deposit BETWEEN 0 AND 127),
  may_withdraw INTEGER NOT NULL CHECK (may_withdraw BETWEEN 0 AND 127),
  may_transfer INTEGER NOT NULL CHECK (may_transfer BETWEEN 0 AND 127),
  debt         INTEGER CHECK (debt > 0),
  name_hash    INTEGER NOT NULL,
  checksum     INTEGER NOT NULL
) STRICT;
-- A name that is not found is looked up here too: an account must not be opened twice because one index is damaged.
CREATE INDEX accounts_name_hash ON accounts (name_hash);

-- Apart from accounts and narrow, since every commit writes here. Amounts are 16 big-endian bytes: they sort, and the
-- last check is the rule that no account holds more than it has.
CREATE TABLE balances (
  id       INTEGER PRIMARY KEY,
  balance  BLOB NOT NULL CHECK (length(balance) = 16),
  held     BLOB NOT NULL CHECK (length(held) = 16),
  checksum INTEGER NOT NULL,
  CHECK (held <= balance)
) STRICT;

CREATE TABLE holds (
  id        INTEGER PRIMARY KEY CHECK (id > 0),
  account   INTEGER NOT NULL CHECK (account > 0),
  remaining BLOB NOT NULL CHECK (length(remaining) = 16),
  expires   INTEGER CHECK (expires >= 0),
  settler   INTEGER NOT NULL CHECK (settler BETWEEN 0 AND 6),
  state     INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
  checksum  INTEGER NOT NULL
) STRICT;
CREATE INDEX holds_due ON holds (expires) WHERE state = 0 AND expires IS NOT NULL;
CREATE INDEX holds_open ON holds (account) WHERE state = 0;

CREATE TABLE reversals (
  original INTEGER PRIMARY KEY CHECK (original > 0),
  reversal INTEGER NOT NULL CHECK (reversal > 0),
  checksum INTEGER NOT NULL
) STRICT;
-- A second way to a reversal, so that a damaged table does not let a transfer be reversed twice. It is over an
-- expression, so that neither engine uses it for the first lookup.
CREATE INDEX reversals_confirmed ON reversals ((original + 0), reversal);

-- Announcements, in the order of the records that made them.
CREATE TABLE outbox (
  seq      INTEGER NOT NULL CHECK (seq > 0),
  place    INTEGER NOT NULL CHECK (place BETWEEN 0 AND 65535),
  kind     TEXT NOT NULL,
  resource TEXT NOT NULL,
  body     TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (seq, place)
) STRICT, WITHOUT ROWID;
-- Counts the announcements about one resource up to a place: its own sequence.
CREATE INDEX outbox_resource ON outbox (resource, seq, place);

-- The key index: sorted runs of (fingerprint, place), each in chunks, with a filter. See store/src/writing/keys.
CREATE TABLE key_runs (
  id          INTEGER PRIMARY KEY,
  level       INTEGER NOT NULL,
  first_seq   INTEGER NOT NULL,
  last_seq    INTEGER NOT NULL,
  entries     INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  chunks      INTEGER NOT NULL,
  checksum    INTEGER NOT NULL,
  summary     BLOB NOT NULL
) STRICT;
CREATE TABLE key_chunks (
  id   INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;
