/** What the tests over all operations share: a pipeline with something of everything, and a call of each. */
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline } from '../../../tests/support/pipeline.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { scopes } from '../../core/keys/keys.ts';
import { routes } from '../routes.ts';

/** Stands in everything that is one account's own; nobody else may ever read it. */
export const CANARY = 'canary-4f1d';

export interface Sample {
  path: string;
  init: RequestInit;
}

export type Stocked = Awaited<ReturnType<typeof openStocked>>;

export const operations = routes.map((route) => ({ name: `${route.method} ${route.path}`, route }));

/** Opens a pipeline whose caller owns a batch of each kind and a key. */
export async function openStocked() {
  const pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  const { accountId } = await pipeline.account(1000);
  const caller = await pipeline.keyOf(accountId, 'live', [...scopes]);
  await liftLimits(caller);
  const list = `email\nada@acme.example\n${CANARY}@acme.example\n`;
  const options = { operation: 'people.enrich', name: CANARY };
  const finished = await pipeline.enrich(caller, list, options);
  const held = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  const running = await pipeline.upload(caller, list, options);
  const spare = await pipeline.enrich(caller, list, options);
  const spareKey = await pipeline.keyOf(accountId, 'live', [...scopes]);
  await pipeline.sql`update api_keys set name = ${CANARY} where id = ${spareKey.keyId}`;

  /** Calls are not what these tests count. */
  async function liftLimits({ keyId }: Caller): Promise<void> {
    await pipeline.sql`
      update api_keys set requests_per_minute = 1000000, requests_per_day = 1000000
      where id = ${keyId}`;
  }

  const json = (body: unknown): RequestInit => ({
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const query: Record<string, string> = {
    'get /v1/people/enrich': 'email=ada%40acme.example',
    'get /v1/people/enrich-with-company': 'twitter=ada',
    'get /v1/people/mobile': 'email=ada%40acme.example',
    'get /v1/people/email/verify': 'email=ada%40acme.example',
    'get /v1/companies/enrich': 'registry_number=01234567',
    'get /v1/companies/logo': 'domain=acme.example',
    'get /v1/companies/financials': 'domain=acme.example',
  };
  const batchOf: Record<string, string> = {
    'patch /v1/batches/:id': held,
    'post /v1/batches/:id/start': held,
    'post /v1/batches/:id/quote': held,
    'delete /v1/batches/:id': spare,
    'post /v1/batches/:id/cancel': running,
    'post /v1/batches/:id/pause': running,
  };
  const bodies: Record<string, RequestInit> = {
    'post /v1/batches': json({ operation: 'people.enrich', rows: [{ email: 'a@b.example' }] }),
    'patch /v1/batches/:id': json({ name: CANARY }),
    'post /v1/batches/:id/rerun': json({ outcomes: ['no_match'] }),
    'post /v1/keys': json({ mode: 'test', name: 'Sample' }),
    'post /v1/keys/:id/roll': json({ overlap_seconds: 60 }),
  };

  return {
    ...pipeline,
    caller,
    liftLimits,

    /** A call of the operation as its documentation has it. */
    sampleOf(name: string): Sample {
      const [method = '', path = ''] = name.split(' ');
      const id = path.startsWith('/v1/keys') ? spareKey.keyId : (batchOf[name] ?? finished);
      const search = query[name] === undefined ? '' : `?${query[name]}`;
      return {
        path: path.replace(':id', id) + search,
        init: { method: method.toUpperCase(), ...bodies[name] },
      };
    },
  };
}
