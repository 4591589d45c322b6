/** The seven priced operations as single calls: one route each, from the table of operations. */
import type { Response } from 'express';
import { z } from 'zod';
import { answerToJson } from '../../core/enrich/answer.ts';
import { insufficientCredits } from '../../core/enrich/enrich-calls.ts';
import type { Outcome } from '../../core/enrich/enrich-many.ts';
import type { RowInput } from '../../core/enrich/outcomes.ts';
import { checkProjection, projectAnswer } from '../../core/enrich/project-answer.ts';
import { normaliseIdentifier } from '../../core/identifiers/identifier.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { country } from '../batch-options.ts';
import { defineRoute, none, type Route, sayCredits } from '../define-route.ts';
import { requestIdOf } from '../problem.ts';

type Query = Record<string, string | undefined>;

/** The routes of all operations. */
export const enrichOneRoutes: Route[] = (Object.keys(operations) as OperationName[]).map(
  (operation) =>
    defineRoute({
      method: 'get',
      path: operations[operation].path,
      summary: `${operations[operation].price} credit(s) for ${operations[operation].success}`,
      scope: 'enrich',
      counted: true,
      query: querySchema(operation),
      params: none,
      async handler({ context, key, admission, query, response }) {
        const { available } = must(admission, 'admission of a counted call');
        const { price } = operations[operation];
        const live = key.mode === 'live';
        const fields = (query.fields as unknown as string[] | undefined) ?? null;
        const row = readIdentifier(operation, query as Query);
        checkProjection(operation, fields);
        if (live && available < price) throw insufficientCredits(price, available);
        const requestId = requestIdOf(response);
        const { outcome, charged, remaining } = await context.calls.run({
          accountId: key.accountId,
          live,
          operation,
          row,
          reference: `call:${requestId}`,
        });
        sayCredits(response, charged, remaining ?? available);
        send(response, operation, outcome, { fields, charged, live });
      },
    }),
);

/** The operation's identifiers, and what helps to read them. */
function querySchema(operation: OperationName) {
  const { identifiers, subject } = operations[operation];
  const named = Object.fromEntries(identifiers.map((kind) => [kind, z.string().optional()]));
  return z.strictObject({
    ...named,
    ...(subject === 'company' ? { country: country.optional() } : {}),
    ...((identifiers as readonly string[]).includes('phone')
      ? { default_region: country.optional() }
      : {}),
    fields: z
      .string()
      .transform((text) => text.split(',').map((name) => name.trim()))
      .optional(),
  });
}

/** The one identifier of the call. Throws `AppError` 400 for none, for two, and for one that is none. */
function readIdentifier(operation: OperationName, query: Query): RowInput {
  const { identifiers, subject } = operations[operation];
  const given = identifiers.filter((kind) => query[kind] !== undefined);
  const [kind] = given;
  if (kind === undefined) {
    throw badIdentifier(
      'missing_identifier',
      identifiers[0],
      `Send one of ${identifiers.join(', ')}.`,
    );
  }
  if (given.length > 1) {
    const message = `Send one identifier, not ${given.join(' and ')}.`;
    throw badIdentifier('conflicting_identifiers', must(given[1], 'second identifier'), message);
  }
  const normalised = normaliseIdentifier(kind, query[kind] ?? '', {
    subject,
    fromQuery: true,
    ...(query.country ? { registryCountry: query.country, region: query.country } : {}),
    ...(query.default_region ? { region: query.default_region } : {}),
  });
  if ('reason' in normalised) {
    const why = normalised.reason.replaceAll('_', ' ');
    throw badIdentifier('invalid_parameter', kind, `\`${kind}\` cannot be used: ${why}.`);
  }
  return { identifiers: [{ kind, values: normalised.values }], invalid: null };
}

function badIdentifier(code: string, field: string, message: string): AppError {
  return new AppError({ code, status: 400, message, errors: [{ field, message }] });
}

function send(
  response: Response,
  operation: OperationName,
  outcome: Outcome,
  { fields, charged, live }: { fields: string[] | null; charged: number; live: boolean },
): void {
  if (outcome.answer === null) throw refusal(outcome);
  const data = projectAnswer(operation, answerToJson(operation, outcome.answer), fields);
  response.json({
    data,
    match: { by: outcome.by, conflict: outcome.conflict },
    meta: { request_id: requestIdOf(response), credits_charged: charged, live },
  });
}

/** What a call without a match is answered with; it cost nothing. */
function refusal(outcome: Outcome): AppError {
  switch (outcome.status) {
    case 'ambiguous':
      return new AppError({
        code: 'ambiguous_match',
        status: 409,
        message: `${outcome.reason}: send an identifier that only one of them has.`,
        extensions: { candidates: outcome.candidates },
      });
    case 'suppressed':
      return new AppError({
        code: 'suppressed',
        status: 451,
        message: 'This person has opted out and is not served.',
      });
    default:
      return new AppError({
        code: 'no_match',
        status: 404,
        message:
          outcome.reason === 'nothing_stored'
            ? 'The record was found, but what this operation gives is not stored for it.'
            : 'Nothing in the graph has this identifier.',
      });
  }
}
