/** Subject access: everything stored about a person. */
import { listSourceRecords } from '../../core/graph/sources/show-sources.ts';
import { listStatedIdentifiers } from '../../core/graph/sources/stated-identifiers.ts';
import { isOptedOut } from '../../core/suppression/suppress.ts';
import { findPartsOf } from '../result/find-subjects.ts';
import type { PartsContext } from '../result/read-part.ts';
import { listIdentifiers, readPerson } from './erasure.sql.ts';
import { findPeople, identifierName, type PersonAsked } from './find-person.ts';

/** The stored data as JSON. Throws `AppError` `invalid_parameter` for a text that is not an identifier. */
export async function showPerson(context: PartsContext, asked: PersonAsked) {
  const { identifier, ids } = await findPeople(context, asked);
  const shown = await findPartsOf(context, ids);
  const people = [];
  for (const id of ids) {
    const stored = await readPerson(context.sql, id);
    const stated = await listStatedIdentifiers(context.sql, [id]);
    const identifiers = await listIdentifiers(context.sql, [id], stated);
    people.push({
      id,
      suppressed_at: stored?.suppressedAt ?? null,
      record: stored?.record ?? null,
      identifiers: identifiers.map(({ code, value, isShared }) => {
        return { kind: identifierName(code), value, shared: isShared };
      }),
      sources: await listSourceRecords(context.sql, id),
      officers: stored?.officers ?? [],
      idempotent_answers: stored?.idempotentAnswers ?? 0,
      results: shown
        .filter(({ personId }) => personId === id)
        .map(({ batchId, accountId, objectKey, rows }) => {
          return { batch_id: batchId, account_id: accountId, part: objectKey, rows };
        }),
    });
  }
  const optedOut = identifier === null ? null : await isOptedOut(context.sql, identifier);
  return { identifier, opted_out: optedOut, people };
}
