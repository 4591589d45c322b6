-- The W3C traceparent of the request that made a batch: what a job does for it is part of that trace.
alter table batches add column trace_parent text;
