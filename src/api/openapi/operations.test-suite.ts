/** Shared by the tests of all operations: a pipeline with one object of each kind, and a call of each operation. */
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline } from '../../../tests/support/pipeline.ts';
import { smallGraph } from '../../../tests/support/small-graph.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { routes } from '../routes.ts';

/** Marks every object of one account; no other account may ever read it. */
export const CANARY = 'canary-4f1d';

export interface Sample {
  path: string;
  init: RequestInit;
}

export type Stocked = Awaited<ReturnType<typeof openStocked>>;

export const operations = routes.map((route) => ({ name: `${route.method} ${route.path}`, route }));

const json = (body: unknown): RequestInit => ({
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** Opens a pipeline whose caller owns a list, an export, a schedule and a webhook of each kind, and a key. */
export async function openStocked(environment: Record<string, string> = {}) {
  const pipeline = await openPipeline({ WEBHOOK_ALLOWED_HOSTS: 'receiver.test', ...environment });
  await importGraph(pipeline.sql, smallGraph);
  const { accountId } = await pipeline.account(1000);
  const caller = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
  await liftLimits(caller);
  const list = `email\nada@acme.example\n${CANARY}@acme.example\n`;
  const options = { operation: 'people.enrich', name: CANARY };
  const finished = await pipeline.enrich(caller, list, options);
  const held = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  const running = await pipeline.upload(caller, list, options);
  const spare = await pipeline.enrich(caller, list, options);
  const twins = [8001, 8002].map((id) => ({ id, name: 'Ilka', surname: 'Quast' }));
  await importGraph(pipeline.sql, { persons: twins });
  const ambiguous = await pipeline.enrich(caller, 'name\nIlka Quast\n', {
    ...options,
    match: 'likely',
  });
  const asked = { filter: 'id=1-3', fields: ['id'], name: CANARY };
  const exported = await pipeline.makeExport(caller, asked);
  const heldExport = await pipeline.makeExport(caller, { ...asked, hold: true });
  const spareExport = await pipeline.makeExport(caller, asked);
  await pipeline.runUntilIdle();
  const runningExport = await pipeline.makeExport(caller, asked);
  const schedule = await makeSchedule();
  const spareSchedule = await makeSchedule();
  const spareKey = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
  await pipeline.sql`update api_keys set name = ${CANARY} where id = ${spareKey.keyId}`;

  const webhook = await makeWebhook();
  const spareWebhook = await makeWebhook();
  const mapping = await make('/v1/mappings', { name: CANARY, batch_id: finished });
  const search = await make('/v1/searches', { name: CANARY, filter: 'gender=2' });
  const delivery = await make(`/v1/webhooks/${webhook}/test`, {});

  function makeSchedule(): Promise<string> {
    return make('/v1/schedules', { cron: '0 2 * * *', ...asked });
  }

  function makeWebhook(): Promise<string> {
    return make('/v1/webhooks', { url: `https://receiver.test/${CANARY}` });
  }

  /** Posts a body and returns the id of the created object. */
  async function make(path: string, body: unknown): Promise<string> {
    const made = await pipeline.call(caller, path, { method: 'POST', ...json(body) });
    return ((await made.json()) as { id: string }).id;
  }

  /** Lifts the limits of calls, which these tests do not measure. */
  async function liftLimits({ keyId }: Caller): Promise<void> {
    await pipeline.sql`
      update api_keys set requests_per_minute = 1000000, requests_per_day = 1000000
      where id = ${keyId}`;
  }

  const query: Record<string, string> = {
    'get /v1/people/enrich': 'email=ada%40acme.example',
    'get /v1/people/enrich-with-company': 'twitter=ada',
    'get /v1/people/mobile': 'email=ada%40acme.example',
    'get /v1/people/email/verify': 'email=ada%40acme.example',
    'get /v1/companies/enrich': 'registry_number=01234567',
    'get /v1/companies/logo': 'domain=acme.example',
    'get /v1/companies/financials': 'domain=acme.example',
    'get /personsearch/': 'name=ada',
    'get /v1/personsearch': 'name=ada',
    'get /personsearch/preview': 'gender=2',
    'get /v1/personsearch/preview': 'gender=2',
    'get /v1/personsearch/breakdown': 'gender=2',
    'get /v1/schedules/preview': 'cron=0%202%20*%20*%20*',
  };
  const usualOf: Record<string, string> = {
    keys: spareKey.keyId,
    exports: exported,
    schedules: schedule,
    webhooks: webhook,
    mappings: mapping,
    searches: search,
  };
  const ownOf: Record<string, string> = {
    'patch /v1/batches/:id': held,
    'post /v1/batches/:id/start': held,
    'post /v1/batches/:id/quote': held,
    'get /v1/batches/:id/ambiguous': ambiguous,
    'post /v1/batches/:id/decisions': ambiguous,
    'delete /v1/batches/:id': spare,
    'post /v1/batches/:id/cancel': running,
    'post /v1/batches/:id/pause': running,
    'post /v1/exports/:id/start': heldExport,
    'delete /v1/exports/:id': spareExport,
    'post /v1/exports/:id/cancel': runningExport,
    'post /v1/exports/:id/pause': runningExport,
    'delete /v1/schedules/:id': spareSchedule,
    'delete /v1/webhooks/:id': spareWebhook,
  };
  const bodies: Record<string, RequestInit> = {
    'post /v1/batches': json({ operation: 'people.enrich', rows: [{ email: 'a@b.example' }] }),
    'patch /v1/batches/:id': json({ name: CANARY }),
    'post /v1/batches/:id/decisions': json({ decisions: [{ row: 1, id: 8001 }] }),
    'post /v1/batches/:id/rerun': json({ outcomes: ['no_match'] }),
    'post /v1/mappings': json({ name: 'CRM', batch_id: finished }),
    'post /v1/searches': json({ name: 'Dentists', filter: 'gender=2' }),
    'post /v1/do-not-contact': json({ emails: ['nobody@else.example'] }),
    'delete /v1/do-not-contact': json({ domains: ['else.example'] }),
    'post /v1/exports': json({ filter: 'gender=2' }),
    'post /v1/schedules': json({ cron: '0 2 * * *', filter: 'gender=2' }),
    'patch /v1/schedules/:id': json({ name: CANARY }),
    'post /v1/schedules/:id/run': json({}),
    'post /v1/keys': json({ mode: 'test', name: 'Sample' }),
    'post /v1/webhooks': json({ url: 'https://receiver.test/', events: ['batch.completed'] }),
    'patch /v1/webhooks/:id': json({ credits_low_threshold: 50 }),
    'post /v1/webhooks/:id/rotate': json({ overlap_seconds: 60 }),
    'post /v1/keys/:id/roll': json({ overlap_seconds: 60 }),
  };

  return {
    ...pipeline,
    caller,
    liftLimits,

    /** Returns a valid call of the operation. */
    sampleOf(name: string): Sample {
      const [method = '', path = ''] = name.split(' ');
      const [, , kind = ''] = path.split('/');
      const id = ownOf[name] ?? usualOf[kind] ?? finished;
      const search = query[name] === undefined ? '' : `?${query[name]}`;
      return {
        path: path.replace(':id', id).replace(':delivery_id', delivery) + search,
        init: { method: method.toUpperCase(), ...bodies[name] },
      };
    },
  };
}
