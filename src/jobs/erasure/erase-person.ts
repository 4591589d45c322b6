/**
 * Erasure: the record goes, the opt-out stays, results are rewritten, and an audit looks for what is left.
 * The record goes after the results, so that an erasure that was cut short can be sent again and finds
 * whom it is about.
 */
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { deleteResponsesAbout } from '../../core/idempotency/idempotency.ts';
import { suppressPeople } from '../../core/suppression/suppress.ts';
import type { PartsContext } from '../result/read-part.ts';
import { checkAllResults } from '../result/redact-results.ts';
import { auditErasure, type ErasureAudit } from './audit-erasure.ts';
import { listIdentifiers } from './erasure.sql.ts';
import { findOnePerson, ownIdentifiers, type PersonAsked } from './find-person.ts';

export interface Erasure extends ErasureAudit {
  /** Stored people who were deleted: 1, or 0 for somebody who was not stored any more. */
  erased: number;
  /** Parts of results that were written anew, and kept answers that were cleared. */
  parts_rewritten: number;
  answers_cleared: number;
}

/**
 * Erases somebody from the live graph. An identifier that nobody stored has any more is recorded as an
 * opt-out and searched for. Throws `AppError` 409 `ambiguous_match` when several people share it.
 */
export async function erasePerson(context: PartsContext, asked: PersonAsked): Promise<Erasure> {
  const { sql } = context;
  const { identifier, ids } = await findOnePerson(context, asked);
  const [id] = ids;
  const own = id === undefined ? [] : ownIdentifiers(await listIdentifiers(sql, id));
  const named = identifier !== null && id === undefined ? [identifier] : [];
  const identifiers = [...own, ...named];
  await suppressPeople(sql, ids, identifiers);
  const answers = await deleteResponsesAbout(sql, true, ids);
  const parts = await checkAllResults(context);
  const erased = await deletePersons(sql, ids);
  const audit = await auditErasure(context, ids, identifiers);
  return { erased, parts_rewritten: parts, answers_cleared: answers, ...audit };
}
