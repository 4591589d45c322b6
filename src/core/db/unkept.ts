/**
 * Returns the statement, which the connection then does not keep as a prepared one. For statements of which callers choose the
 * form: a connection never forgets a kept one, and the server needs up to a megabyte for each.
 */
export function unkept<Statement extends object>(statement: Statement): Statement {
  // As the driver's own `unsafe` says it; for tagged statements it has no other way.
  const { options } = statement as unknown as { options: { prepare?: boolean } };
  options.prepare = false;
  return statement;
}
