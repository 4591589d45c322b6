/** Free previews that run until the search timeout, while another account searches and enriches. */
import { setTimeout } from 'node:timers/promises';
import { assert } from '../../src/core/lib/assert.ts';
import { type Attack, timed } from './arena.ts';
import { countActivePreviews } from './attack.sql.ts';

const PREVIEWS = 120;
/** As many texts of `experience.text` as a filter takes, and about as many words of each as a URL has room for. */
const TEXTS = 100;
const WORDS = 20;
const OTHERS_CALLS = 20;
const OTHERS_SECONDS_MAX = 1;
/** A statement may take slightly longer than the search timeout. */
const STATEMENTS_SECONDS_MAX = 6;

export const slowPreviews: Attack = {
  name: 'slow-previews',
  does: `sends ${PREVIEWS} previews of ${TEXTS} texts of ${WORDS} words by two keys, and hangs up`,
  async run(arena) {
    const limits = { requestsPerMinute: 1_000, requestsPerDay: 100_000 };
    const attackers = [await arena.account(0, limits), await arena.account(0, limits)];
    const other = await arena.account(100, limits);
    // Every generated text has an `at`; the word that no one has is compared last.
    const texts = Array.from({ length: TEXTS }, (_, text) => `${'at '.repeat(WORDS - 1)}w${text}`);
    const filter = { 'experience.text': `[${texts.join('|')}]` };
    const slow = `/personsearch/preview?${new URLSearchParams(filter)}`;
    const hangUp = new AbortController();
    const sent = Array.from({ length: PREVIEWS }, (_, at) =>
      arena
        .call(attackers[at % 2] ?? null, slow, { signal: hangUp.signal })
        .then((response) => response.arrayBuffer())
        .catch(() => {}),
    );
    await setTimeout(500);
    assert((await countActivePreviews(arena.stack.sql)) > 0, 'the slow previews run');
    let preview = 0;
    let single = 0;
    for (let times = 0; times < OTHERS_CALLS; times++) {
      const query = new URLSearchParams({ positionList: '[Accountant|Auditor]' });
      const searched = await timed(() => arena.call(other, `/personsearch/preview?${query}`));
      const enriched = await timed(() =>
        arena.call(other, '/v1/people/enrich?email=nobody@nowhere.example'),
      );
      preview = Math.max(preview, searched.status === 200 ? searched.seconds : Infinity);
      single = Math.max(single, enriched.status === 404 ? enriched.seconds : Infinity);
    }
    hangUp.abort();
    await Promise.all(sent);
    const started = performance.now();
    while ((await countActivePreviews(arena.stack.sql)) > 0) {
      if (performance.now() - started > 60_000) break;
      await setTimeout(50);
    }
    const left = (performance.now() - started) / 1000;
    return [
      {
        what: `others' preview, slowest of ${OTHERS_CALLS}`,
        measured: preview,
        unit: 's',
        max: OTHERS_SECONDS_MAX,
      },
      {
        what: `others' single call, slowest of ${OTHERS_CALLS}`,
        measured: single,
        unit: 's',
        max: OTHERS_SECONDS_MAX,
      },
      {
        what: 'statements after they hung up',
        measured: left,
        unit: 's',
        max: STATEMENTS_SECONDS_MAX,
      },
    ];
  },
};
