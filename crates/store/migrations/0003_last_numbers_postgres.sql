-- The last numbers that were given to accounts and assets, kept apart from them: without these, a lost last row could not be
-- told from one that was never there, and its number would be given to somebody else.
ALTER TABLE books.ledger_head
  ADD COLUMN last_account bigint NOT NULL DEFAULT 0,
  ADD COLUMN last_asset   bigint NOT NULL DEFAULT 0;
UPDATE books.ledger_head SET last_account = (SELECT coalesce(max(id), 0) FROM books.accounts),
                             last_asset = (SELECT coalesce(max(id), 0) FROM books.assets);
