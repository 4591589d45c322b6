import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CELL_SEPARATOR } from '../../core/graph/record.ts';
import { ByteWriter } from '../../formats/csv/byte-writer.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { appendRecordCells } from './record-cells.ts';

const unit = fc.constantFrom('a', 'é', '漢', '\u001e', ',', '"', '\n', ' ', ';');
const cell = fc.string({ unit, maxLength: 9 });
const record = fc.array(cell, { minLength: 1, maxLength: 12 });

/** A record at a place of a memory that other bytes fill, separators among them. */
function placed(cells: readonly string[], before: number, after: number) {
  const text = Buffer.from(cells.join(CELL_SEPARATOR));
  const memory = new ArrayBuffer(before + text.length + after);
  const bytes = Buffer.from(memory, Math.min(before, 3)).fill(CELL_SEPARATOR);
  const from = before - Math.min(before, 3);
  text.copy(bytes, from);
  return { bytes, from, to: from + text.length };
}

test('cells are copied from any place of a buffer, quoted where they need it, and counted', () => {
  const property = fc.property(
    record,
    fc.uniqueArray(fc.nat(13)).map((places) => places.sort((a, b) => a - b)),
    fc.nat(9),
    fc.nat(5),
    (cells, selection, before, after) => {
      const filled = new Array<number>(selection.length + 1).fill(0);
      const writer = new ByteWriter(1);
      const at = placed(cells, before, after);
      appendRecordCells(writer, at, selection, ','.charCodeAt(0), filled, 1);
      // A record without a cell, which no import writes, has an empty one.
      const wanted = selection.map((place) => cells[place] ?? '');
      const quoted = wanted.map((text) => encodeCell(text, { delimiter: ',', safe: false }));
      expect(writer.written().toString()).toBe(quoted.map((text) => `,${text}`).join(''));
      expect(filled).toEqual([0, ...wanted.map((text) => (text === '' ? 0 : 1))]);
      writer.release();
    },
  );
  fc.assert(property, { numRuns: 2000 });
});
