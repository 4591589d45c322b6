/** People of one name at one company, whom no row of a list tells apart: what decisions are about. */
import { Readable, Writable } from 'node:stream';
import type { Database } from '../../src/core/db/client.ts';
import { importRecords } from '../../src/core/graph/sources/import-records.ts';
import { assert } from '../../src/core/lib/assert.ts';

const COMPANY = { id: 9_000_001, name: 'Nordlicht Optik GmbH' };
const FIRST_ID = 9_000_001;
const TWINS = 24;
const SINGLES = 36;
const starts = ['Qua', 'Zwi', 'Opi', 'Ebe', 'Fru', 'Gla', 'Hol', 'Ilt', 'Jor', 'Kru'];
const ends = ['stnik', 'rnfeld', 'tzbach', 'lmau', 'ndorf', 'ggwald'];

const surnames = starts.flatMap((start) => ends.map((end) => `${start}${end}`));

/** The rows of a list: those of twins first, which are ambiguous. */
export const namesakeRows = surnames.slice(0, TWINS + SINGLES).map((surname, index) => ({
  cells: ['Ilka', surname, 'Nordlicht Optik'],
  isAmbiguous: index < TWINS,
}));

/** Adds two people for each ambiguous row, and one for each other, to the graph. */
export async function addNamesakes(sql: Database): Promise<void> {
  let id = FIRST_ID;
  const persons = namesakeRows.flatMap(({ cells: [name, surname], isAmbiguous }) =>
    ['Engineer', 'Keeper of the seal'].slice(0, isAmbiguous ? 2 : 1).map((position) => {
      const email = `namesake${id}@home.example`;
      return { id: id++, name, surname, position, email, companyId: COMPANY.id };
    }),
  );
  for (const [entity, records] of [
    ['companies', [COMPANY]],
    ['persons', persons],
  ] as const) {
    const lines = records.map((record) => `${JSON.stringify(record)}\n`);
    const { inserted } = await importRecords(sql, {
      entity,
      input: Readable.from(lines, { objectMode: false }),
      format: 'jsonl',
      rejects: new Writable({ write: (_chunk, _encoding, done) => done() }),
    });
    assert(inserted === records.length, 'all namesakes are new');
  }
}
