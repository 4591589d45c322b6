-- Of a person whose records an import has taken out of another one, the other: an opt-out of that one still holds for both.
-- Runs with 0.1.0

alter table records_to_build add column parted_from bigint;
