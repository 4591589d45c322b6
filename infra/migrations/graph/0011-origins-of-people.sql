-- Of a person whose records an import has taken out of several others, all of them: an opt-out of each holds for the person, also
-- one that comes before the person is built. `parted_from` is written by 0.1.0 alone.
-- Runs with 0.1.0

alter table records_to_build add column origins bigint[];
