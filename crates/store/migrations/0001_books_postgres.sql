-- The books on Postgres: the same tables as on SQLite, in a schema of their own. Amounts are whole numbers below 2^128.
CREATE SCHEMA books;

-- One row: who may write, until when, and where the journal ends. Every commit updates it where epoch and place are its
-- own, so a writer that was replaced cannot commit any more.
CREATE TABLE books.ledger_head (
  one          boolean PRIMARY KEY DEFAULT true CHECK (one),
  epoch        bigint NOT NULL,
  batch        bigint NOT NULL,
  seq          bigint NOT NULL,
  at           bigint NOT NULL,
  hash         bytea NOT NULL CHECK (length(hash) = 32),
  holder       text NOT NULL,
  -- Where the holder answers other nodes; empty if it answers none. A hint: the epoch is what fences.
  address      text NOT NULL DEFAULT '',
  -- Whether the holder moves books into this database; they are not whole before it has given the lease back.
  moves        boolean NOT NULL DEFAULT false,
  lease_until  timestamptz NOT NULL,
  -- The last numbers that accounts and assets were given, kept apart from them: without these, a lost last row looks like
  -- one that was never there, and its number would be given away again.
  last_account bigint NOT NULL DEFAULT 0,
  last_asset   bigint NOT NULL DEFAULT 0,
  -- Why the scrub of a holder found the books unsound: the lease is refused until a rebuild has verified them.
  finding      text,
  -- The last finding, kept after a rebuild has lifted it, and the epoch of the holder that made it: the next holder opens
  -- an alert about it.
  last_finding text,
  last_finding_epoch bigint
) WITH (fillfactor = 10);

-- Checksums cover the content of a row and its number; every reader compares them (store/src/engine/checksum.rs).
CREATE TABLE books.journal (
  seq      bigint PRIMARY KEY,
  record   bytea NOT NULL,
  checksum bigint NOT NULL
);
ALTER TABLE books.journal ALTER COLUMN record SET STORAGE EXTERNAL;

CREATE TABLE books.batches (
  number bigint PRIMARY KEY CHECK (number > 0),
  first  bigint NOT NULL CHECK (first > 0),
  count  integer NOT NULL CHECK (count > 0),
  at     bigint NOT NULL CHECK (at >= 0),
  root   bytea NOT NULL CHECK (length(root) = 32),
  head   bytea NOT NULL CHECK (length(head) = 32)
);

CREATE FUNCTION books.append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
CREATE TRIGGER journal_keeps_what_it_has BEFORE UPDATE OR DELETE OR TRUNCATE ON books.journal
  FOR EACH STATEMENT EXECUTE FUNCTION books.append_only();
CREATE TRIGGER batches_keep_what_they_have BEFORE UPDATE OR DELETE OR TRUNCATE ON books.batches
  FOR EACH STATEMENT EXECUTE FUNCTION books.append_only();

CREATE TABLE books.assets (
  id       bigint PRIMARY KEY CHECK (id > 0),
  chain    text NOT NULL,
  contract text NOT NULL, -- empty for the chain's native coin
  decimals smallint NOT NULL CHECK (decimals BETWEEN 0 AND 255),
  symbol   text NOT NULL,
  checksum integer NOT NULL,
  UNIQUE (chain, contract)
);

CREATE TABLE books.accounts (
  id           bigint PRIMARY KEY CHECK (id > 0),
  name         text COLLATE "C" NOT NULL UNIQUE,
  may_deposit  smallint NOT NULL CHECK (may_deposit BETWEEN 0 AND 127),
  may_withdraw smallint NOT NULL CHECK (may_withdraw BETWEEN 0 AND 127),
  may_transfer smallint NOT NULL CHECK (may_transfer BETWEEN 0 AND 127),
  debt         bigint CHECK (debt > 0),
  name_hash    bigint NOT NULL,
  checksum     integer NOT NULL
);
CREATE INDEX accounts_name_hash ON books.accounts (name_hash);

-- Apart from accounts and narrow, with room in every page, since every commit writes here.
CREATE TABLE books.balances (
  id       bigint PRIMARY KEY,
  balance  numeric(39, 0) NOT NULL CHECK (balance >= 0 AND balance < 340282366920938463463374607431768211456),
  held     numeric(39, 0) NOT NULL CHECK (held >= 0),
  checksum integer NOT NULL,
  CHECK (held <= balance)
) WITH (fillfactor = 50);

CREATE TABLE books.holds (
  id        bigint PRIMARY KEY CHECK (id > 0),
  account   bigint NOT NULL CHECK (account > 0),
  remaining numeric(39, 0) NOT NULL CHECK (remaining >= 0 AND remaining < 340282366920938463463374607431768211456),
  expires   bigint CHECK (expires >= 0),
  settler   smallint NOT NULL CHECK (settler BETWEEN 0 AND 6),
  state     smallint NOT NULL CHECK (state BETWEEN 0 AND 2),
  checksum  integer NOT NULL
);
CREATE INDEX holds_due ON books.holds (expires) WHERE state = 0 AND expires IS NOT NULL;
CREATE INDEX holds_open ON books.holds (account) WHERE state = 0;

CREATE TABLE books.reversals (
  original bigint PRIMARY KEY CHECK (original > 0),
  reversal bigint NOT NULL CHECK (reversal > 0),
  checksum integer NOT NULL
);
CREATE INDEX reversals_confirmed ON books.reversals ((original + 0), reversal);

CREATE TABLE books.outbox (
  seq      bigint NOT NULL CHECK (seq > 0),
  place    integer NOT NULL CHECK (place BETWEEN 0 AND 65535),
  kind     text NOT NULL,
  resource text NOT NULL,
  body     text NOT NULL,
  checksum integer NOT NULL,
  PRIMARY KEY (seq, place)
);
CREATE INDEX outbox_resource ON books.outbox (resource, seq, place);

CREATE TABLE books.key_runs (
  id          bigint PRIMARY KEY,
  level       smallint NOT NULL,
  first_seq   bigint NOT NULL,
  last_seq    bigint NOT NULL,
  entries     bigint NOT NULL,
  first_chunk bigint NOT NULL,
  chunks      bigint NOT NULL,
  checksum    integer NOT NULL,
  summary     bytea NOT NULL
);
ALTER TABLE books.key_runs ALTER COLUMN summary SET STORAGE EXTERNAL;
CREATE TABLE books.key_chunks (
  id   bigint PRIMARY KEY,
  data bytea NOT NULL
);
ALTER TABLE books.key_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

-- The statement index: derived, and allowed to trail. See store/src/history/terms.
CREATE TABLE books.term_runs (
  id          bigint PRIMARY KEY,
  level       smallint NOT NULL,
  first_seq   bigint NOT NULL,
  last_seq    bigint NOT NULL,
  entries     bigint NOT NULL,
  first_chunk bigint NOT NULL,
  chunks      bigint NOT NULL,
  batch       bigint NOT NULL,
  head        bytea NOT NULL,
  checksum    bigint NOT NULL
);
CREATE TABLE books.term_chunks (
  id   bigint PRIMARY KEY,
  data bytea NOT NULL
);
ALTER TABLE books.term_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
