/**
 * Erases a person: deletes the record, keeps the opt-out, rewrites results, and audits for traces. The record
 * is deleted after the results, so that an interrupted erasure can be repeated and still finds the person.
 */
import { disown } from '../../core/credits/owned.ts';
import { deletePersons } from '../../core/graph/delete-persons.ts';
import { deleteResponsesAbout } from '../../core/idempotency/idempotency.ts';
import { suppressPeople } from '../../core/suppression/suppress.ts';
import type { PartsContext } from '../result/read-part.ts';
import { redactAllResults } from '../result/redact-results.ts';
import { auditErasure, type ErasureAudit } from './audit-erasure.ts';
import { listIdentifiers } from './erasure.sql.ts';
import { findOnePerson, ownIdentifiers, type PersonAsked } from './find-person.ts';

export interface Erasure extends ErasureAudit {
  /** Deleted people: 1, or 0 for a person who was no longer stored. */
  erased: number;
  /** Rewritten parts of results, plus cleared idempotent responses. */
  parts_rewritten: number;
  answers_cleared: number;
}

/**
 * Erases a person from the live graph. An identifier that no stored person has is still recorded as an opt-out
 * and searched for. Throws `AppError` 409 `ambiguous_match` when several people share it.
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
  const parts = await redactAllResults(context);
  await disown(sql, ids);
  const erased = await deletePersons(sql, ids);
  const audit = await auditErasure(context, ids, identifiers);
  return { erased, parts_rewritten: parts, answers_cleared: answers, ...audit };
}
