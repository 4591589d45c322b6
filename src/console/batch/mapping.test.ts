import { expect, test } from 'vitest';
import { choose, swapNames, toColumns, toRequest } from './mapping.ts';

const mapped = (column: number) => ({ column, header: '', share: 1 });
const names = toColumns({
  person_name: [mapped(1), mapped(2)],
  company_name: [mapped(3)],
} as never);

test('Swapped names stay swapped when another column is chosen', () => {
  const swapped = swapNames(names);
  expect(toRequest(swapped).person_name).toEqual([2, 1]);
  expect(toRequest(choose(swapped, 3, ''))).toEqual({ person_name: [2, 1] });
});

test('A column that is chosen for names is read in the order of the file', () => {
  const second = choose(choose(names, 1, ''), 1, 'person_name');
  expect(toRequest(second)).toEqual({ person_name: [1, 2], company_name: [3] });
});
