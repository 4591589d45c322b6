import { describe } from 'vitest';
import { testLimiter } from './limiter.test-suite.ts';
import { openPostgresLimiter } from './postgres-limiter.ts';

describe('limits in Postgres', () => {
  testLimiter(async ({ sql }) => ({
    limiter: openPostgresLimiter(sql),
    async pass(owner, name, seconds) {
      await sql`
        update rate_buckets set full_at = full_at - make_interval(secs => ${seconds})
        where owner = ${owner} and name = ${name}`;
    },
    async close() {},
  }));
});
