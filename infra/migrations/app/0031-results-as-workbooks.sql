-- Bytes of the longest row of a part: no cell of it is longer. Null for a part of an earlier version.
alter table parts add column row_bytes_max int;

-- Why no workbook can hold the result of a list, as far as its own rows tell; found by the split.
alter table batches add column not_as_xlsx text;
