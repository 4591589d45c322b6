/** The words of `docs/scaling.md`: true whatever was measured. */

export const beforeFigures = `
# Scaling

Written by \`npm run docs\` from \`bench/results/latest.json\` and from the counts that tests hold. The first
table was measured on one machine of two cores ([performance.md](performance.md) says which, and when); what
follows is arithmetic on it. Nothing here was tried on a hundred machines.

## What a million rows cost
`;

export const beforeGraphs = `
A row costs two look-ups by key and one copy of a stored answer, whatever is around it: the cost of a list is
linear in its rows (\`npm run bench -- linear\`), and a worker holds its chunks in flight and nothing else.

## A larger graph

Bytes grow with the people, look-ups with the depth of a B-tree. A page of an index holds some hundreds of
keys, so a thousand times as many people make a look-up one or two pages deeper. What decides is whether
identifiers and stored answers are in memory: \`person_identifiers\` and \`person_records\` (with
\`person_briefs\` for short answers) are read by lists and calls, \`person_search\` by searches, \`persons\` by
imports and erasure alone.
`;

export const beforeWorkers = `
Ten million people fit into the memory of one ordinary server. A hundred million need one with several
hundred gigabytes, or fast disks: each look-up that misses memory reads two or three pages. A billion is
more than one server should hold, and is hashed over several.

## More workers

A worker that is busy all the time does as many rows as its core allows, and has Postgres do its part. Chunk
statements cost the same for three thousand rows as for one, so larger chunks (\`CHUNK_ROWS\`) lower the last
columns for more memory in a worker.
`;

export const afterFigures = `
- **Ten cores of workers** are served by one Postgres of about as many cores: a large machine, no new part.
- **A hundred** need the look-ups on several servers. The accounting of a hundred is what one server can do:
  its transactions a second stand in the table, each a flush of the log that others share, and \`CHUNK_ROWS\`
  divides them.
- **One wallet** is one row: the parts that it pays for are settled one after the other, each as long as one
  short transaction takes. That bounds the chunks a second of one account; different accounts do not wait for
  each other.
- **Single calls** of all callers are answered together in one statement each round, so that their cost falls
  with their number; API processes share nothing but Postgres and the limits.

## What carries each step

| step | today | at ten times | at a hundred times |
|---|---|---|---|
| uploads and results | files of the data folder, or S3 | S3: each part is an object, named by batch and chunk, written once | S3, whose key space splits by prefix |
| wake-ups | BullMQ in Postgres, or Redis | Redis: a lost wake-up is found by the sweep | Redis Cluster: the names of queues and limits carry hash tags, tested on three nodes |
| limits per key | Postgres, or Redis | Redis, one script a call | Redis Cluster, by key |
| accounts, wallets, batches, parts | one Postgres | the same, apart from the graph | the same; or hashed by account, which every statement about money names |
| searches and lookups | the primary | streaming replicas (\`DATABASE_REPLICA_URLS\`): those that lag are left out, opt-outs are checked against the primary | Citus, one node a replica set |
| matches | the primary | the primary with more cores | Citus: identifiers hashed by value, people and companies by id |

## Statements that would leave a shard

If identifiers are hashed by their value, and people and companies by their id, with vocabularies and opt-outs
on every server. \`tests/sharding.pg.test.ts\` reads the plans of the statements that really run and holds
these numbers. *By key*: only shards that hold the keys are asked. *Two hashes*: the keys of one table are in
rows of another, which lie elsewhere. *All shards*: there is no key.

| work | by key | two hashes | all shards |
|---|---|---|---|
| a chunk, or a call, of \`people.enrich\` | 2 | 0 | 0 |
| \`people.enrich-with-company\` | 1 | 1: the employer's record | 0 |
| \`companies.enrich\` by company number | 2 | 0 | 1: directors without a link, by name and birth |
| \`companies.financials\` | 3 | 0 | 0 |
| a lookup of the vocabularies | 0 | 0 | 0 |
| a page of a search | 0 | 0 | 1 |
| an export | 1 a chunk | 0 | 1, for its ids |

Two changes would make the first four rows by key alone: the employer's record fetched in a statement of its
own (one round trip more for each chunk), and a look-up of directors by name hashed like an identifier. A page
of a search has every shard answer with its first hundred, of which the coordinator keeps a hundred.

## What was not tried

- Citus itself. Its planner asks for the keys of a distributed table as parameters; ours come as lines of one
  text (\`string_to_table\`), which one server reads fastest. They would be grouped by shard before they are sent.
- More than two cores, several machines, a network between them, a graph of more than a million people.
`;
