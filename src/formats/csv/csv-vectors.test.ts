/** Public files of CSV edge cases, read from a folder next to the checkout if it exists. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../core/lib/package-root.ts';
import { readRecord } from './cells.ts';
import { detectDialect } from './dialect.ts';
import { listRecords } from './random-csv.test-suite.ts';
import { scanRecords } from './record-scanner.ts';
import { unreadableReason } from './record-table.ts';

const folder = path.join(packageRoot, '../shared/data/vectors/csv');
const spectrum = path.join(folder, 'csv-spectrum');
const testData = path.join(folder, 'csv-test-data');

function read(file: string) {
  const bytes = readFileSync(file);
  const records = listRecords(scanRecords(bytes, { delimiter: ',' }));
  const reasons = records.map(({ flags }) => unreadableReason(flags));
  return { bytes, reasons, rows: records.map((record) => readRecord(bytes, record, ',')) };
}

function readJson(file: string): unknown[] {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return Array.isArray(value) ? value : [value];
}

/** Copies of the set differ in the newlines of the csv files, but not of the JSON. */
function comparable(rows: unknown[], skippedKeys: string[]): unknown {
  const text = JSON.stringify(rows).replaceAll('\\r\\n', '\\n');
  return JSON.parse(text, (key, value) => (skippedKeys.includes(key) ? undefined : value));
}

function asObjects(rows: string[][]): Record<string, string>[] {
  const [header = [], ...data] = rows;
  return data.map((row) =>
    Object.fromEntries(header.map((name, column) => [name, row[column] ?? ''])),
  );
}

if (!existsSync(folder)) {
  describe('public csv files', () => {
    it.skip('skipped: folder of csv vectors not found', () => {});
  });
} else {
  describe('csv-spectrum', () => {
    const names = readdirSync(path.join(spectrum, 'csvs')).map((file) =>
      path.basename(file, '.csv'),
    );
    it.each(names)('%s reads as in its JSON', (name) => {
      const { rows, reasons } = read(path.join(spectrum, 'csvs', `${name}.csv`));
      const expected = readJson(path.join(spectrum, 'json', `${name}.json`));
      expect(reasons.every((reason) => reason === null)).toBe(true);
      // The set's own JSON has a different phone number than its csv file.
      const skipped = name === 'location_coordinates' ? ['Contact Phone Number'] : [];
      expect(comparable(asObjects(rows), skipped)).toEqual(comparable(expected, skipped));
    });
  });

  describe('csv-test-data', () => {
    const files = readdirSync(path.join(testData, 'csv')).map((file) =>
      path.basename(file, '.csv'),
    );
    const valid = files.filter((name) => !name.startsWith('bad-'));
    it.each(valid)('%s reads as in its JSON', (name) => {
      const file = path.join(testData, 'csv', `${name}.csv`);
      const { rows, reasons } = read(file);
      const expected = readJson(path.join(testData, 'json', `${name}.json`));
      const isObjects = expected.length === 0 || !Array.isArray(expected[0]);
      // Empty lines are passed through to the output but are not rows.
      const isRow = (row: unknown) => !(Array.isArray(row) && row.length === 1 && row[0] === '');
      expect(reasons.every((reason) => reason === null)).toBe(true);
      expect(isObjects ? asObjects(rows) : rows).toEqual(expected.filter(isRow));
    });

    it('bad-missing-quote costs its own line only', () => {
      const { reasons } = read(path.join(testData, 'csv', 'bad-missing-quote.csv'));
      expect(reasons).toEqual([null, 'open_quote']);
    });

    it('careless quotes keep their record', () => {
      const inside = read(path.join(testData, 'csv', 'bad-unescaped-quote.csv'));
      expect(inside.rows[1]).toEqual(['1', 'This "quotes" must be escaped', '3']);
      const quoted = read(path.join(testData, 'csv', 'bad-quotes-with-unescaped-quote.csv'));
      expect(quoted.rows[1]).toEqual(['1', '"Hey, I missed " it"', '3']);
    });
  });

  it('every valid file has the delimiter comma', () => {
    for (const set of [path.join(spectrum, 'csvs'), path.join(testData, 'csv')]) {
      for (const file of readdirSync(set)) {
        const bytes = readFileSync(path.join(set, file));
        if (bytes.toString('latin1').trim() === '') continue;
        expect([file, detectDialect(bytes, { isWhole: true }).delimiter]).toEqual([file, ',']);
      }
    }
  });
}
