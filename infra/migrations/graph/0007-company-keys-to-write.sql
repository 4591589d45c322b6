-- Companies from one id to another whose name keys an import has still to write: a row for each part of a build. The keys of some
-- parts go into their index together, which writes each of its pages once for all of them.
-- Runs with 0.1.0

create table company_keys_to_write (
  first_id bigint not null,
  last_id bigint not null
);
