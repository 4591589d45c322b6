/** What each operation answers when it goes well, and the errors that are its own. A row an operation. */
import { z } from 'zod';
import { lookupKinds } from '../../core/lookups/look-up.ts';
import { type OperationName, operations } from '../../core/operations.ts';
import { batchOptions } from '../batch-options.ts';
import { rowsSchema } from '../row-list.ts';
import {
  batchSchema,
  doNotContactSchema,
  enrichedSchema,
  exportSchema,
  keySchema,
  lookupSchema,
  meSchema,
  newKeySchema,
  objectSchema,
  pageOf,
  peopleSchema,
  previewSchema,
  rolledKeySchema,
  schedulePreviewSchema,
  scheduleRunSchema,
  scheduleSchema,
  usageSchema,
} from './answer-schemas.ts';
import { type DocumentedOperation, ownObject } from './documented-operation.ts';
import { filterQuery, pageQuery } from './search-query.ts';
import { webhooks } from './webhook-answers.ts';

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
      errors: [402, 404, 409, 422],
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

const search = ['/personsearch', '/v1/personsearch'].flatMap(
  (path): [string, DocumentedOperation][] => [
    [
      `get ${path}/preview`,
      {
        answers: [{ status: 200, description: 'Rounded counts.', schema: previewSchema }],
        errors: [],
        query: filterQuery,
      },
    ],
    [
      path.startsWith('/v1') ? `get ${path}` : `get ${path}/`,
      {
        answers: [
          {
            status: 200,
            description:
              'People, in the order of their ids. `Link: rel="next"` leads to the next page, `X-Total-Count` tells all of them (`count=true`): exactly when the page holds somebody, else as `X-Total-Is` says (`exact`, `about`, `below`) and not for a filter that names people, `X-Partial: true` says that the wallet paid a part (`partial=true`).',
            schema: peopleSchema,
          },
        ],
        errors: [402, 409, 422],
        query: filterQuery.extend(pageQuery),
      },
    ],
  ],
);

const doNotContact: [string, DocumentedOperation][] = [
  [
    'post /v1/do-not-contact',
    {
      answers: [
        {
          status: 200,
          description: 'How many entries are new.',
          schema: z.strictObject({ added: z.number().int() }),
        },
      ],
      errors: [409, 413, 415, 422],
    },
  ],
  [
    'get /v1/do-not-contact',
    {
      answers: [
        { status: 200, description: 'A page of the list.', schema: pageOf(doNotContactSchema) },
      ],
      errors: [],
    },
  ],
  [
    'delete /v1/do-not-contact',
    {
      answers: [
        {
          status: 200,
          description: 'How many entries were listed.',
          schema: z.strictObject({ removed: z.number().int() }),
        },
      ],
      errors: [413, 415],
    },
  ],
];

/** The endpoints that lists and exports have in common. */
const shared = (
  path: string,
  noun: string,
  schema: z.ZodType,
  actions: readonly string[],
): [string, DocumentedOperation][] => [
  [
    `get ${path}`,
    {
      answers: [{ status: 200, description: `A page of ${noun}s.`, schema: pageOf(schema) }],
      errors: [],
    },
  ],
  [`get ${path}/:id`, ownObject({ status: 200, description: `The ${noun}.`, schema })],
  [`delete ${path}/:id`, ownObject({ status: 204, description: 'Its files are gone.' }, 409)],
  ...actions.map((action): [string, DocumentedOperation] => [
    `post ${path}/:id/${action}`,
    ownObject({ status: 202, description: `The ${noun} after the action.`, schema }, 409, 422),
  ]),
  [
    `get ${path}/:id/report`,
    ownObject({ status: 200, description: 'Counts and fill rates.', schema: objectSchema }),
  ],
  [
    `get ${path}/:id/results`,
    ownObject(
      { status: 200, description: 'The file, as far as it is there.', types: resultTypes },
      410,
      422,
      500,
    ),
  ],
  [
    `get ${path}/:id/events`,
    ownObject({
      status: 200,
      description: `The ${noun} at every change.`,
      types: ['text/event-stream'],
    }),
  ],
];

const exportFiles: [string, DocumentedOperation][] = [
  [
    'post /v1/exports',
    {
      answers: [{ status: 202, description: 'The export.', schema: exportSchema }],
      errors: [409, 413, 415, 422],
    },
  ],
  ...shared('/v1/exports', 'export', exportSchema, ['start', 'pause', 'resume', 'cancel']),
];

const batches: [string, DocumentedOperation][] = [
  ...shared('/v1/batches', 'batch', batchSchema, ['start', 'pause', 'resume', 'cancel', 'quote']),
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
      errors: [404, 409, 413, 415, 422, 500],
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
    'patch /v1/batches/:id',
    ownObject(batch(200, 'The batch after the change.'), 409, 413, 415, 422, 500),
  ],
  [
    'post /v1/batches/:id/rerun',
    ownObject(batch(202, 'The new batch.'), 409, 410, 413, 415, 422, 500),
  ],
  [
    'get /v1/batches/:id/preview',
    ownObject(
      { status: 200, description: 'Rows as they were read.', schema: objectSchema },
      410,
      500,
    ),
  ],
  [
    'post /v1/uploads',
    {
      answers: [{ status: 201, description: 'Where to send the file.', schema: objectSchema }],
      errors: [409],
    },
  ],
];

const schedules: [string, DocumentedOperation][] = [
  [
    'post /v1/schedules',
    {
      answers: [{ status: 201, description: 'The schedule.', schema: scheduleSchema }],
      errors: [409, 413, 415, 422],
    },
  ],
  [
    'get /v1/schedules',
    {
      answers: [
        { status: 200, description: 'A page of schedules.', schema: pageOf(scheduleSchema) },
      ],
      errors: [],
    },
  ],
  [
    'get /v1/schedules/preview',
    {
      answers: [{ status: 200, description: 'The times.', schema: schedulePreviewSchema }],
      errors: [],
    },
  ],
  [
    'get /v1/schedules/:id',
    ownObject({ status: 200, description: 'The schedule.', schema: scheduleSchema }),
  ],
  [
    'patch /v1/schedules/:id',
    ownObject(
      { status: 200, description: 'The schedule after the change.', schema: scheduleSchema },
      413,
      415,
    ),
  ],
  ['delete /v1/schedules/:id', ownObject({ status: 204, description: 'It is gone.' })],
  [
    'get /v1/schedules/:id/runs',
    ownObject({ status: 200, description: 'A page of runs.', schema: pageOf(scheduleRunSchema) }),
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
  ...search,
  ...doNotContact,
  ...batches,
  ...exportFiles,
  ...schedules,
  ...account,
  ...webhooks,
]);
