-- Searches find cities, regions and positions by name: without an index each folds the names of a whole table.
-- Outside a transaction: it builds indexes.
-- Runs with 0.1.0

-- A city is asked for within a country, or by its name alone.
create index concurrently if not exists cities_name on cities (btrim(fold(name)), country_id);
create index concurrently if not exists regions_name on regions (btrim(fold(name)));
create index concurrently if not exists positions_name on positions (btrim(fold(name)));
