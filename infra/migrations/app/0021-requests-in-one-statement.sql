-- Requests are counted by the statement that finds their keys: `countCallers`.
drop function take_requests(uuid, integer, integer, integer);
