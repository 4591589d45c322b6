-- An erasure records an opt-out also by the profiles and handles that a person had when they left: their hash is of the kind too.
-- Runs with 0.1.0

-- As in `suppressed_identifiers`; null for who left before.
alter table former_identifiers add column identifier_sha256 bytea;
