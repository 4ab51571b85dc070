-- The public log of heads, and the tree over the heads of all batches. Only `books` writes them.
CREATE TABLE published_heads (
  batch     bigint PRIMARY KEY CHECK (batch > 0),
  head      bytea NOT NULL CHECK (length(head) = 32), -- of the hash chain after this batch
  root      bytea NOT NULL CHECK (length(root) = 32), -- of the tree over the heads of batches 1 to this one
  seconds   bigint NOT NULL CHECK (seconds >= 0), -- since 1970, when it was signed
  audience  text NOT NULL,
  chain_id  bigint NOT NULL,
  address   bytea NOT NULL CHECK (length(address) = 20), -- of the key that signed it
  signature bytea NOT NULL CHECK (length(signature) = 65)
);
CREATE FUNCTION published_heads_are_kept() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'published heads are append-only'; END $$;
CREATE TRIGGER published_heads_are_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON published_heads
FOR EACH STATEMENT EXECUTE FUNCTION published_heads_are_kept();
-- Each full subtree of 256 leaves and more. Smaller ones follow from the batches themselves.
CREATE TABLE head_nodes (
  level bigint NOT NULL, -- it has 2^level leaves
  place bigint NOT NULL, -- its number among the subtrees of its level
  hash  bytea NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, place)
);
