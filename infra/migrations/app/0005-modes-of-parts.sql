-- The mode of the batch of a part. The numbers of suppressions of the live graph and those of the graph of test keys have nothing to do
-- with each other: without it, each search for parts behind one of them reads all parts behind the other. Parts of test
-- batches from before count as live ones: they are no longer searched for, and a download checks them as ever.
-- Runs with 0.1.0

alter table parts add column live boolean not null default true;
