/** What each operation answers when it goes well, and the errors that are its own. A row an operation. */
import { z } from 'zod';
import { lookupKinds } from '../../core/lookups/look-up.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { batchOptions } from '../batch-options.ts';
import { rowsSchema } from '../row-list.ts';
import {
  batchSchema,
  enrichedSchema,
  keySchema,
  lookupSchema,
  meSchema,
  newKeySchema,
  objectSchema,
  pageOf,
  rolledKeySchema,
  usageSchema,
} from './answer-schemas.ts';

export interface DocumentedAnswer {
  status: number;
  description: string;
  /** Of a JSON answer. */
  schema?: z.ZodType;
  /** Of other answers. */
  types?: readonly string[];
}

export interface DocumentedOperation {
  answers: readonly DocumentedAnswer[];
  /** Statuses of its own errors, beside those that every operation may have. */
  errors: readonly number[];
  /** Query parameters, where the handler reads them itself. */
  query?: z.ZodType;
  /** What it takes by type, where that is more than one JSON object; null for bytes. */
  bodies?: Readonly<Record<string, z.ZodType | null>>;
}

const batch = (status: number, description: string) => ({
  status,
  description,
  schema: batchSchema,
});
const resultTypes = [
  'text/csv',
  'application/jsonl',
  'application/gzip',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];

const enrichment = Object.entries(operations).map(
  ([name, { path, success }]): [string, DocumentedOperation] => [
    `get ${path}`,
    {
      answers: [
        {
          status: 200,
          description: `A match: ${success}.`,
          schema: enrichedSchema(name as OperationName),
        },
      ],
      errors: [402, 404, 409, 422, 451],
    },
  ],
);

const lookups = lookupKinds.map((kind): [string, DocumentedOperation] => [
  `get /v1/lookups/${kind}`,
  {
    answers: [{ status: 200, description: 'Values, best first.', schema: lookupSchema }],
    errors: [],
  },
]);

const ownBatch = (answer: DocumentedAnswer, ...errors: number[]): DocumentedOperation => {
  return { answers: [answer], errors: [404, ...errors] };
};

const batches: [string, DocumentedOperation][] = [
  [
    'post /v1/batches',
    {
      answers: [
        {
          status: 200,
          description: 'The results of rows, for `Prefer: wait`.',
          types: ['application/jsonl'],
        },
        batch(202, 'The batch.'),
      ],
      errors: [404, 409, 413, 415, 422],
      query: batchOptions.partial(),
      bodies: {
        'multipart/form-data': batchOptions.extend({ file: z.file() }),
        'text/csv': null,
        'application/gzip': null,
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': null,
        'application/json': z.union([
          z.looseObject({ operation: z.string(), rows: rowsSchema }),
          z.looseObject({ operation: z.string(), upload_id: z.uuid() }),
        ]),
        'application/jsonl': null,
      },
    },
  ],
  [
    'get /v1/batches',
    {
      answers: [{ status: 200, description: 'A page of batches.', schema: pageOf(batchSchema) }],
      errors: [],
    },
  ],
  ['get /v1/batches/:id', ownBatch(batch(200, 'The batch.'))],
  [
    'patch /v1/batches/:id',
    ownBatch(batch(200, 'The batch after the change.'), 409, 413, 415, 422),
  ],
  ['delete /v1/batches/:id', ownBatch({ status: 204, description: 'Its files are gone.' }, 409)],
  ...['start', 'pause', 'resume', 'cancel', 'quote'].map(
    (action): [string, DocumentedOperation] => [
      `post /v1/batches/:id/${action}`,
      ownBatch(batch(202, 'The batch after the action.'), 409, 422),
    ],
  ),
  ['post /v1/batches/:id/rerun', ownBatch(batch(202, 'The new batch.'), 409, 410, 413, 415, 422)],
  [
    'get /v1/batches/:id/preview',
    ownBatch({ status: 200, description: 'Rows as they were read.', schema: objectSchema }, 410),
  ],
  [
    'get /v1/batches/:id/report',
    ownBatch({ status: 200, description: 'Counts and fill rates.', schema: objectSchema }),
  ],
  [
    'get /v1/batches/:id/results',
    ownBatch({ status: 200, description: 'The enriched list.', types: resultTypes }, 410),
  ],
  [
    'get /v1/batches/:id/events',
    ownBatch({
      status: 200,
      description: 'A batch at every change.',
      types: ['text/event-stream'],
    }),
  ],
  [
    'post /v1/uploads',
    {
      answers: [{ status: 201, description: 'Where to send the file.', schema: objectSchema }],
      errors: [409],
    },
  ],
];

const account: [string, DocumentedOperation][] = [
  [
    'get /v1/me',
    { answers: [{ status: 200, description: 'Who calls.', schema: meSchema }], errors: [] },
  ],
  [
    'post /v1/keys',
    {
      answers: [{ status: 201, description: 'The key, shown once.', schema: newKeySchema }],
      errors: [409, 413, 415, 422],
    },
  ],
  [
    'get /v1/keys',
    {
      answers: [{ status: 200, description: 'A page of keys.', schema: pageOf(keySchema) }],
      errors: [],
    },
  ],
  [
    'delete /v1/keys/:id',
    {
      answers: [{ status: 200, description: 'The revoked key.', schema: keySchema }],
      errors: [404],
    },
  ],
  [
    'post /v1/keys/:id/roll',
    {
      answers: [{ status: 201, description: 'The new key, shown once.', schema: rolledKeySchema }],
      errors: [404, 409, 413, 415, 422],
    },
  ],
  [
    'get /v1/usage',
    {
      answers: [{ status: 200, description: 'A page of usage.', schema: pageOf(usageSchema) }],
      errors: [],
    },
  ],
];

/** By `<method> <path>`. */
export const documentedOperations: ReadonlyMap<string, DocumentedOperation> = new Map([
  ...enrichment,
  ...lookups,
  ...batches,
  ...account,
]);
