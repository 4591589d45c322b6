/** The OpenAPI 3.1 document of the routes, from the schemas that validate their calls. */
import { z } from 'zod';
import type { DocumentedResponse, Route } from '../http/define-route.ts';
import { problemSchema } from '../http/problem.ts';
import { parameterWords } from './parameter-words.ts';

type Json = Record<string, unknown>;

/** Statuses of errors that every call with a key may get. */
const commonErrors = [400, 401, 403, 429, 503];

const meanings: Record<number, string> = {
  400: 'A parameter is wrong, missing or unknown; `errors` names it.',
  401: 'The key is missing or unknown.',
  402: 'The wallet, or the daily credits of the key, cannot pay for the call.',
  403: 'The key was revoked or lacks the scope.',
  404: 'No match (nothing is charged), or the account has no such object.',
  409: 'Several records match equally well, or the state does not allow the call.',
  410: 'The files are no longer kept.',
  405: 'The path does not take this method; `Allow` names those that it takes.',
  413: 'The body is too large.',
  415: 'The call does not accept this media type.',
  416: 'The file has no bytes in the requested range.',
  422: 'The list cannot be read, or the Idempotency-Key was used for another request.',
  429: 'A limit is reached; retry after `Retry-After` seconds.',
  500: 'A stored object is damaged (`object_damaged`); `object` names it. Retrying does not help.',
  503: 'A temporary failure; try again.',
};

/** Returns the OpenAPI document of the routes. */
export function renderOpenApi(routes: readonly Route[]): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: renderOperation(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Enrichment pipeline',
      version: '1',
      description:
        'Look up, search and export records of people and companies, one at a time or a list at a time.',
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: '`svc_live_...` or `svc_test_...`' },
      },
      schemas: components.schemas,
    },
  };
}

function renderOperation(route: Route, components: Components): Json {
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [segmentsOf(route.path).at(0) ?? ''],
    ...(route.scope === null ? {} : { 'x-scope': route.scope }),
    ...(route.credits === undefined ? {} : { 'x-credits': route.credits }),
    parameters: [
      ...parametersOf(components.take(route.params, 'input'), 'path'),
      ...parametersOf(components.take(route.query, 'input'), 'query'),
      ...headersOf(route),
    ],
    ...renderBodies(route, components),
    responses: renderResponses(route, components),
  };
}

function renderBodies({ bodies }: Route, components: Components): Json {
  const content = Object.entries(bodies).map(([type, schema]) => [
    type,
    schema === null ? {} : { schema: describedMembers(components.take(schema, 'input')) },
  ]);
  if (content.length === 0) return {};
  return { requestBody: { content: Object.fromEntries(content) } };
}

function describedMembers({ properties, ...schema }: Json): Json {
  if (properties === undefined) return schema;
  const members = Object.entries(properties as Record<string, Json>);
  return {
    ...schema,
    properties: Object.fromEntries(
      members.map(([name, member]) => [name, described(name, member)]),
    ),
  };
}

/** Returns the segments of a path after its version. */
function segmentsOf(path: string): string[] {
  return path
    .replace(/^\/v1\//, '')
    .split('/')
    .filter(Boolean);
}

/** Returns for example `post_keys_id_roll` for `post /v1/keys/:id/roll`; paths without a version are marked. */
function operationId({ method, path }: Route): string {
  const version = path.startsWith('/v1/') ? [] : ['unversioned'];
  return [method, ...version, ...segmentsOf(path)]
    .join('_')
    .replaceAll(/[^\w]+/g, '_')
    .replace('__', '_');
}

function parametersOf(schema: Json, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: described(name, property),
  }));
}

/** The schema of a parameter with its sentence, unless it has one. */
function described(name: string, schema: Json): Json {
  const description = parameterWords[name];
  return schema.description === undefined && description !== undefined
    ? { ...schema, description }
    : schema;
}

/** Returns the header parameters: idempotent calls accept an Idempotency-Key. */
function headersOf({ method, idempotent }: Route): Json[] {
  if (method !== 'post' && !idempotent) return [];
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      schema: described('Idempotency-Key', { type: 'string', minLength: 1, maxLength: 255 }),
    },
  ];
}

function renderResponses({ responses, errors }: Route, components: Components): Json {
  const problem = {
    'application/problem+json': { schema: components.take(problemSchema, 'output') },
  };
  const statuses = [...new Set([...commonErrors, ...errors])].sort((a, b) => a - b);
  return {
    ...Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        renderResponse(response, components),
      ]),
    ),
    ...Object.fromEntries(
      statuses.map((status) => [status, { description: meanings[status], content: problem }]),
    ),
  };
}

function renderResponse(
  { description, schema, types }: DocumentedResponse,
  components: Components,
): Json {
  if (schema !== undefined) {
    const content = { 'application/json': { schema: components.take(schema, 'output') } };
    return { description, content };
  }
  if (types === undefined) return { description };
  return { description, content: Object.fromEntries(types.map((type) => [type, {}])) };
}

/** The named schemas, which others refer to. */
class Components {
  readonly schemas: Record<string, Json> = {};

  /** Returns the JSON schema, with references to the named schemas in it. */
  take(schema: z.ZodType, io: 'input' | 'output'): Json {
    // Wrapped in another object, so that a named schema is always a reference.
    const around = z.toJSONSchema(z.object({ schema }), {
      io,
      unrepresentable: 'any',
      override: ({ zodSchema: { _zod: schema }, jsonSchema }) => {
        // Left out of a schema that reads texts as numbers.
        if (schema.def.type === 'default') jsonSchema.default = schema.def.defaultValue as Json;
        simplify(jsonSchema);
      },
    });
    const text = JSON.stringify(around).replaceAll('#/$defs/', '#/components/schemas/');
    const { properties, $defs = {} } = JSON.parse(text) as {
      properties: { schema: Json };
      $defs?: Record<string, Json>;
    };
    for (const [name, { id: _id, ...named }] of Object.entries($defs)) this.schemas[name] = named;
    return properties.schema;
  }
}

/** Removes what a format or a type already implies. */
function simplify(schema: Json): void {
  if (schema.format !== undefined) delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
