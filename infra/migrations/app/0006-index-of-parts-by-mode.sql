-- Parts by the suppressions that are redacted from them, in place of an index that has both modes together.
-- Outside a transaction
-- Runs with 0.1.0
-- Unused since 0.1.0

create index concurrently if not exists parts_behind on parts (live, suppression_number)
  where suppression_number is not null;
drop index if exists parts_suppression_number;
