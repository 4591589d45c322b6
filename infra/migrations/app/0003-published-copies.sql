-- Published copies of the live graph, which other machines fetch from the object storage instead of building their own: one that
-- is whole, and one that a worker writes. An object counts when a row names it; all others are deleted. So the table is unlogged
-- and in no backup: a crash, a restore or a failover may empty it, and a copy is published again.
-- Runs with 0.1.0

create unlogged table published_copies (
  -- Also the folder of the objects that its worker wrote.
  id uuid primary key default gen_random_uuid(),
  -- The state of the graph that the copy holds, and the one up to which it has no person who withdrew.
  number bigint not null,
  token uuid not null,
  wiped_to bigint not null,
  -- Of the worker that writes it; null once it is whole.
  lease_expires_at timestamptz,
  published_at timestamptz,
  -- The manifest of the copy that was read, its bytes, and the names of the objects with its files, in their order.
  manifest text,
  bytes bigint,
  pieces text[],
  constraint published_copies_whole
    check ((lease_expires_at is null) = (num_nulls(published_at, manifest, bytes, pieces) = 0))
);

create unique index published_copies_one_of_each on published_copies ((lease_expires_at is null));
