-- Why the records of an import are not built yet: the reason of the last failure, until a build ends.
-- Runs with 0.1.0

alter table imports add column problem text;
