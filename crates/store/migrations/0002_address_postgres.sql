-- Where the holder of the lease answers other nodes; empty if it answers nobody. A hint: the row's epoch is what fences.
ALTER TABLE books.ledger_head ADD COLUMN address text NOT NULL DEFAULT '';
