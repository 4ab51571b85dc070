-- Everything this signer ever signed, and nothing else. Rows are added and never changed.
CREATE TABLE memory (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  BLOB NOT NULL CHECK (length(id) = 16)
) STRICT;

CREATE TABLE log (
    seq      INTEGER PRIMARY KEY,
    -- Eight bytes, most significant first, as every number here that need not fit SQLite's own.
    at       BLOB NOT NULL CHECK (length(at) = 8),
    body     BLOB NOT NULL,
    hash     BLOB NOT NULL CHECK (length(hash) = 32),
    -- What the body says, for looking it up.
    order_id TEXT UNIQUE,
    intent   TEXT,
    chain    BLOB,
    wallet   BLOB,
    nonce    BLOB,
    token    BLOB,
    paid     BLOB,
    fees     BLOB,
    promise  INTEGER UNIQUE REFERENCES log (seq)
) STRICT;

CREATE INDEX log_by_intent ON log (intent) WHERE intent IS NOT NULL;
CREATE INDEX log_by_slot ON log (chain, wallet, nonce) WHERE nonce IS NOT NULL;
-- Holds all that a limit asks for, so that rolling sums do not touch the rows.
CREATE INDEX log_by_time ON log (chain, wallet, at, token, paid, fees) WHERE nonce IS NOT NULL;

CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log BEGIN SELECT raise(ABORT, 'the log is never changed'); END;
CREATE TRIGGER log_is_not_cut BEFORE DELETE ON log BEGIN SELECT raise(ABORT, 'the log is never cut'); END;
CREATE TRIGGER memory_is_not_changed BEFORE UPDATE ON memory BEGIN SELECT raise(ABORT, 'a memory stays itself'); END;
CREATE TRIGGER memory_is_not_cut BEFORE DELETE ON memory BEGIN SELECT raise(ABORT, 'a memory stays itself'); END;
