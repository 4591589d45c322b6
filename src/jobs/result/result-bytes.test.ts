/** The bound on the bytes of a result holds for all free rows, whatever their content. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { miss } from '../../core/enrich/enrich-many.ts';
import { outputColumns } from '../../core/enrich/match-data.ts';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { anyDelimiter, junkBytes, propertyRuns } from '../../formats/csv/random-csv.test-suite.ts';
import { scanRecords } from '../../formats/csv/record-scanner.ts';
import { splitIntoChunks } from '../../formats/csv/split.ts';
import { renderPart } from './render-part.ts';
import { resultBytesMax } from './result-bytes.ts';

/** The worst growth: bytes that become three in UTF-8, and unbalanced quotes. */
const growing = fc.constantFrom(Buffer.alloc(500, 0x80), Buffer.from(`x${'"'.repeat(501)}`));
const anyFields = fc.constantFrom<string[] | null>(null, ['id']);
const anyMiss = fc
  .constantFrom(...outcomeStatuses.filter((status) => status !== 'matched'))
  .map((status) => miss(status, 'professional_network', 'a_reason_that_is_longer_than_any_other'));

test('a result without matches is never longer than its bound', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.oneof(junkBytes, growing), { maxLength: 5 }).map((parts) => Buffer.concat(parts)),
    anyDelimiter,
    anyFields,
    anyMiss,
    fc.integer({ min: 0, max: 512 }),
    async (piece, delimiter, fields, outcome, headerWidth) => {
      const operation = 'people.enrich';
      const { totals } = await splitIntoChunks([piece], { delimiter, chunkRowsMax: 100 });
      const records = scanRecords(piece, { delimiter });
      expect(records.count).toBe(totals.rows);
      const width = Math.max(totals.widestFieldCount, headerWidth);
      const outcomes = Array.from({ length: records.count }, () => outcome);
      const rows = { piece, records, from: 0, to: records.count };
      const { bytes, release } = renderPart(
        rows,
        outcomes,
        {
          ...{ delimiter, newline: '\r\n', width, price: 1, further: ['match.agrees'] },
          columns: outputColumns(operation, fields),
        },
        new Set(),
      );
      const size = { bytes: piece.length, rows: totals.rows, width };
      expect(bytes.length).toBeLessThanOrEqual(
        resultBytesMax({ operation, fields, live: true }, size),
      );
      release();
    },
  );
  await fc.assert(property, { numRuns: propertyRuns });
});
