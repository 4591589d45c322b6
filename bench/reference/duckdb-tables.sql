-- DuckDB's own copy of what the join reads, made once and not timed. Times and JSON stay the text that they
-- are sent as: a list never computes with them, and text is what DuckDB writes fastest.
create or replace table persons as
select * replace (id::bigint as id, company_id::bigint as company_id)
from read_csv('persons.csv', header = true, all_varchar = true, quote = '"', escape = '"', delim = ',');
create or replace table person_identifiers as
select value, kind::tinyint as kind, person_id::bigint as person_id
from read_csv('person_identifiers.csv', header = true, all_varchar = true, quote = '"', escape = '"', delim = ',');
checkpoint;
