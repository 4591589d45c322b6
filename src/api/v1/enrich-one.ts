/** The priced operations as single calls, one route each. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { paymentError } from '../../core/credits/payment-error.ts';
import { simulateTestOutcome } from '../../core/enrich/magic-identifiers.ts';
import { type MatchMode, MIN_PROBABILITY_DEFAULT } from '../../core/enrich/match-mode.ts';
import { enrichedSchema } from '../../core/enrich/match-schema.ts';
import { checkMobileField } from '../../core/enrich/mobile-in-records.ts';
import type { RowInput } from '../../core/enrich/outcomes.ts';
import { checkProjection } from '../../core/enrich/project-match.ts';
import { requiredColumns } from '../../core/enrich/required-fields.ts';
import {
  isAddressForDomain,
  normaliseIdentifier,
  statedText,
} from '../../core/identifiers/identifier.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { country, fieldNamesInText } from '../batch-options.ts';
import { defineRoute, type Route, type RouteInput, sent } from '../http/define-route.ts';
import { requestIdOf } from '../http/problem.ts';
import { isNamed, likelyCellsOf, likelyNames, likelyQuery, namesIn } from '../likely-query.ts';
import { availableBefore, replayCall, respondToCall } from '../respond-to-call.ts';

type Query = Record<string, string | undefined>;

const priceText = (credits: number) => `${credits} ${credits === 1 ? 'credit' : 'credits'}`;

/** The routes of all operations. */
export const enrichOneRoutes: Route[] = (Object.keys(operations) as OperationName[]).map(
  (operation) =>
    defineRoute({
      method: 'get',
      path: operations[operation].path,
      summary: `${priceText(operations[operation].price)} for ${operations[operation].success}`,
      scope: 'enrich',
      metered: true,
      credits: operations[operation].price,
      query: querySchema(operation),
      responses: {
        200: {
          description: `A match: ${operations[operation].success}.`,
          schema: enrichedSchema(operation),
        },
      },
      errors: [404],
      idempotent: {
        async replay(input, kept) {
          await replayCall({ ...input, wanted: readCall(operation, input) }, kept);
          return sent;
        },
      },
      async handler({ keep, ...input }) {
        const wanted = readCall(operation, input);
        if (wanted.live) assertPayable(operation, input);
        else await waitAsSimulated(wanted.row);
        await respondToCall({ ...input, wanted }, keep);
        return sent;
      },
    }),
);

/** Parses the request of a call. Throws `AppError` 400. */
function readCall(operation: OperationName, { context, key, query, response }: RouteInput) {
  const {
    fields = null,
    required = null,
    match = 'exact',
    min_probability: probability = MIN_PROBABILITY_DEFAULT,
    ...parameters
  } = query as {
    fields?: string[];
    required?: string[];
    match?: MatchMode;
    min_probability?: number;
  };
  const minProbability = match === 'likely' ? probability : null;
  const row =
    match === 'likely' ? readLikely(operation, parameters) : readIdentifier(operation, parameters);
  checkProjection(operation, fields);
  requiredColumns(operation, required);
  checkMobileField(context.config, operation, fields);
  checkMobileField(context.config, operation, required, 'required');
  const live = key.mode === 'live';
  const requestId = requestIdOf(response);
  return { operation, row, fields, required, minProbability, live, requestId };
}

/** Throws `AppError` 402, before the look-up, when the wallet cannot pay for a match. */
function assertPayable(operation: OperationName, input: RouteInput): void {
  const purse = { available: availableBefore(input), leftToday: input.key.creditsLeftToday };
  const refused = paymentError(operations[operation].price, purse);
  if (refused !== null) throw refused;
}

/** Applies the magic identifiers of test mode; others have no effect. */
async function waitAsSimulated({ identifiers }: RowInput): Promise<void> {
  for (const { kind, values } of identifiers) {
    const { waitMs } = simulateTestOutcome(kind, values[0] ?? '');
    if (waitMs > 0) await setTimeout(waitMs);
  }
}

/** Returns the schema of the query: the operation's identifiers, and the options that help to parse them. */
function querySchema(operation: OperationName) {
  const { identifiers, subject } = operations[operation];
  const named = Object.fromEntries(identifiers.map((kind) => [kind, z.string().optional()]));
  return z.strictObject({
    ...named,
    ...likelyQuery(subject),
    ...((identifiers as readonly string[]).includes('phone')
      ? { default_region: country.optional() }
      : {}),
    fields: fieldNamesInText.optional(),
    required: fieldNamesInText.optional().meta({
      description:
        'Fields of the record. One in which any of them is unknown does not match, and costs nothing.',
    }),
  });
}

/** Returns the row of a call with `match=likely`: an identifier, a name, or both. Throws `AppError` 400. */
function readLikely(operation: OperationName, query: Query): RowInput {
  if (!isNamed(query)) return readIdentifier(operation, query);
  const { identifiers, subject } = operations[operation];
  const exact = identifiers.filter((kind) => kind !== 'name');
  const { country: listed = null } = query;
  const others = { ...query };
  for (const name of likelyNames) delete others[name];
  const row = exact.some((kind) => query[kind] !== undefined)
    ? readIdentifier(operation, others)
    : { identifiers: [], invalid: null };
  const likely = likelyCellsOf(query);
  return {
    ...row,
    likely,
    ...namesIn(subject, likely),
    ...(subject === 'company' ? { country: listed } : {}),
  };
}

/** The parameters that help with unusable identifiers, by reason. */
const remedies: Record<string, string> = {
  phone_without_country:
    ' Send it with its country code (+44...), or its country as `default_region`.',
};

/** Returns the identifier of the call. Throws `AppError` 400 for none, two, or an invalid one. */
function readIdentifier(operation: OperationName, query: Query): RowInput {
  const { identifiers, subject } = operations[operation];
  const given = identifiers.filter((kind) => query[kind] !== undefined);
  const [kind] = given;
  const named = likelyNames.find((name) => query[name] !== undefined);
  if (kind === undefined && named !== undefined) {
    const message = `Send match=likely to match by \`${named}\`, or one of ${identifiers.join(', ')}.`;
    throw badIdentifier('missing_identifier', named, message);
  }
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
  const text = statedText(kind, query[kind]);
  const normalised = normaliseIdentifier(kind, text, {
    subject,
    fromQuery: true,
    ...(query.country ? { registryCountry: query.country, region: query.country } : {}),
    ...(query.default_region ? { region: query.default_region } : {}),
  });
  if ('reason' in normalised) {
    const why = normalised.reason.replaceAll('_', ' ');
    const remedy = remedies[normalised.reason] ?? '';
    throw badIdentifier('invalid_parameter', kind, `\`${kind}\` is not usable: ${why}.${remedy}`);
  }
  return {
    identifiers: [{ kind, values: normalised.values }],
    invalid: null,
    country: query.country ?? null,
    ...(kind === 'name' ? { companyName: text } : {}),
    ...(isAddressForDomain(kind, text) ? { isDomainOfAddress: true as const } : {}),
    ...(subject === 'person' && isNamed(query) ? namesIn(subject, likelyCellsOf(query)) : {}),
  };
}

function badIdentifier(code: string, field: string, message: string): AppError {
  return new AppError({ code, status: 400, message, errors: [{ field, message }] });
}
