-- Owned people by their charge: a refund reads those of its charge, with the wallet locked, not all of the account.
-- Outside a transaction
-- Runs with 0.1.0

create index concurrently if not exists owned_people_charge on owned_people (charge_id);
