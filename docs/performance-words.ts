/** The words of `docs/performance.md`: true whatever was measured, and without a figure. */

export const beforeTables = `
# Performance

Written by \`npm run docs\` from \`bench/results/latest.json\`; every figure below was measured.

\`npm run bench\` starts the service as \`npm start\` does, on a generated graph, and measures it beside
something that an engineer would otherwise build. A ratio is ours divided by the reference; the sides run
by turns in one session, after a run of each to warm up, and the figures are medians. A benchmark fails
unless the results of both sides agree in every cell that both have, and the credits that went are the matches.
`;

export const afterTables = `
\`node\` are the processes of the service, or the reference's own; \`others\` are servers beside Postgres, or
DuckDB; \`client\` is the program that measures, with what it ran to its end. A disturbed machine slows a
reference of one process more than our several: read the load, and prefer CPU seconds when it was busy.

## What each reference does, and does not

- **The join by hand** (\`bench/reference/ten-fields.sql\`, \`all-columns.sql\`) is what a database
  administrator would type: COPY in, one join, COPY out, on the same server and tables. It is one
  transaction of one backend. It keeps no account, survives no crash half way, takes one form of list, and
  whoever else uses the server waits beside it. Ours begins with the upload over HTTP and ends when the
  result can be fetched; the time with the download is told as well.
- **DuckDB** (\`duckdb-*.sql\`) runs the same join on two threads over a copy of its own, made before and not
  timed. The copy is stale from then on. It shares its cores with no server.
- **One job per row** is the usual first design on BullMQ, 50 at a time, a look-up and an insert each. It has
  no credits, no limits and no pause, and makes no file. The list is shorter, so its cost is told per row;
  what ours costs once for a list weighs more on a short one.
- **Ten times the rows** (\`linear\`) is ours beside ours: a long list beside one of a tenth of its rows.
- **COPY** (\`import\`) loads finished rows of every table that an import fills, read by the server itself, into
  the same indexes. The import reads JSON, checks and normalises every value, compares with what is stored,
  follows opt-outs and renders the stored answers. Afterwards both sides hold the same rows.
- **One SELECT** (\`api\`) is an Express that looks one address up and does no accounting. Ours checks the key,
  counts limits, matches, charges and writes the ledger, and is checked after each run.
- **COPY of a query** (\`export\`, \`export-ten-fields.sql\`) writes the same people in one go: no ids noted,
  nothing charged, nothing that could be resumed.
- **Searches and lookups** stand beside what the table names: a statement with no key and no limit, or a bound.
- **Load** (\`load\`) holds bounds: a short list beside a long one of another account, twenty accounts with
  lists of different numbers and lengths, a newcomer among them, and single calls at a fixed rate while lists
  run, half of them of the same wallet. A call's time begins when it was due, so falling behind counts.
- **Open lists** (\`load-open-lists\`) are a list of one account beside 5,000 and 50,000 open lists of a hundred
  others whose keys may run one row a minute, against the same list alone.
- **Both stacks** (\`stacks\`) are ours beside ours: Redis and S3 beside the embedded stack, the same bytes out.

## Where the time of a worker goes

![A flame graph of a worker](images/flame-of-a-list.svg)

Written by \`npm run bench -- profile\`: wide is slow, what is below was called by what is above, and the title
of a box has its share. What waits for Postgres is not in it; its share stands in the table of CPU seconds.

## What falls short, and why

- **Lists beside the join by hand.** Every identifier of a row is looked up by itself, so that a second one which
  leads to somebody else is seen, and for each chunk anew, so that chunks can be repeated, paused and paid one
  by one. A profile of Postgres is descents of B-trees and little else. The join by hand hashes whole tables
  once. Sorting the values of a chunk, or one index scan for all of them, saved less than a tenth of it.
- **Lists beside DuckDB.** It reads a copy of its own that is laid out for this, on both cores, and answers to
  nobody. What would come near is weighed below.
- **Exports beside COPY.** The ids are noted first, in one statement on one core, while the workers wait; then
  records pass through a worker, which picks the cells, counts them and writes who is shown beside the file.
- **Imports beside COPY.** Every value is parsed, checked and compared with what is stored before it is copied.
- **Single calls.** Below. While lists run on the same two cores, one of a hundred waits longer than 30 ms for its
  turn; giving workers a lower priority (nice 5) changed nothing that could be told from noise.
- **Downloads that stall.** 320 of them at once let the API peak 120 to 170 MiB higher, where 64 were wanted: blocks
  that were sent are collected late. One stream less for each download changed nothing.
- **The first seconds** of a process are slow: code is compiled, connections ask for types. Figures are of warm
  processes; \`profile\` shows what starting costs.

## What does not depend on the machine

\`tests/work-counts.pg.test.ts\` holds statements, transactions, rows and cells decoded, objects and bytes of a
chunk, of a list and of a single call to the values in \`tests/support/work-counts.json\`, and
\`src/core/search/page-cost.pg.test.ts\` the buffers that a page of a search reads for each row.

## To measure yourself

    npm ci
    npm run bench                   # everything at full size: takes long, and much disk
    npm run bench -- line linear    # some of it; what was found before stays
    npm run bench -- --quick        # a tenth of the size, kept apart in latest-quick.json
    npm run docs                    # writes this page from what was found

The graph is made once and kept in \`.enrich-bench/\`. Redis and S3 measurements need
\`redis-server\`, that of the console \`chromium\`.
Measure on a machine that does nothing else; \`cores busy\` says whether it did.

## Where a single call's time goes, and what was tried

Calls of one moment ride together, so what a statement costs is shared: key, limits and wallet in one for some
16 calls, the look-up, the records and the charge in one each, of which the charge alone waits for its commit. The
CPU seconds above say what is left of the difference: some 1.3 times the bare Express in Node, and a charge and
two counters more in Postgres. The rest is waiting. With 32 callers a third of the two cores is idle, because a call
passes four statements one after the other where the bare one asks one. What helped, by turns on one machine:

- **All keys of a batch counted by the statement that finds them**, where a function for each took three: a fifth
  of the CPU of Postgres, with one wallet and with fifty.
- **No wait for the commit of the counts**: the charge that follows is waited for, and is later in the same log.
  A crash forgets the counts of calls that nobody paid. 5 % more calls.
- **A second batch when a dozen calls wait**: one works in Postgres while this process has the other. A tenth more
  calls than with one at a time; from 4 or 8 calls on, the batches are small and cost more than they hide.
- **V8's own young heap** in the API, where half of it was set: half the collections.

What was tried and not kept:

- **All stages of a round in one statement and one commit** (admission and look-up of new calls beside the
  charge of those before): from 249 statements for 1,000 calls to 102, and 0 to 2 % less CPU. A large
  statement costs what four small ones did.
- **Look-up and records in one statement**: some 3 % by the statements' CPU, for a second way to match.
- **Batches of admission and of enrichment side by side**, one of each or two: smaller batches, a fifth slower.
- **A young heap of twice V8's own**: 30 MB more, nothing beyond noise.
- **Generic plans, another way to flush the log**: no difference.

## What was weighed and not built: answers in the worker's memory

A row costs Postgres two look-ups: who holds the identifier, and the stored answer. A worker that held a
snapshot (a hash table of identifiers, and the answers) would do both in its own memory, and leave Postgres
the accounting alone. It was weighed on paper against what it takes:

- **Memory**: every worker process holds every identifier, and every answer that lists may ask for. That grows
  with the graph and not with the list, for each process again, and ends at the size of a machine. Today a
  worker holds its chunks in flight and nothing else.
- **Staleness**: an opt-out must hide a person from the next row, not from the next snapshot. Suppressions
  would have to be read for every chunk as they are now, and imports would show late or in one list twice.
- **Invalidation**: imports, opt-outs and erasures would need a number in the order of their commits, an
  overlay of what came after the snapshot, and a proof that no process answers from before an erasure.
- **Start**: a new process reads the whole graph before its first chunk, so one that was killed is away longer.

It would pay where the same graph answers long lists all day, changes by nightly loads alone, and fits into
memory several times: there the match becomes cheap and the accounting is what remains. For a graph that
changes while it is asked, the indexes in Postgres are the snapshot, always of now and held once.
`;
