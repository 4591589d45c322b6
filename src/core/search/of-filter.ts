/** Keeps the statements of short filters alone as prepared ones of their connection. */
import type { Sql } from '../db/client.ts';
import { unkept } from '../db/unkept.ts';
import type { Condition } from './parse.ts';
import type { PreparedFilter } from './prepared-filter.ts';

/** Tests up to which the statements of a filter are kept: of those there are few forms, and they are short. */
const KEPT_TESTS_MAX = 4;

/** Returns the tag of a statement that has the condition of this filter, in place of `sql`. */
export function ofFilter(sql: Sql, { filter }: PreparedFilter) {
  const tests = filter.conditions.reduce((sum, condition) => sum + testsOf(condition), 0);
  return <Rows extends object[]>(text: TemplateStringsArray, ...values: unknown[]) => {
    const statement = sql<Rows>(text, ...(values as never[]));
    return tests > KEPT_TESTS_MAX ? unkept(statement) : statement;
  };
}

/** Tests that a statement may have for a condition: one for each alternative that is not in a list. */
function testsOf(condition: Condition): number {
  switch (condition.node) {
    case 'words':
      return condition.texts.length;
    case 'time':
      return condition.spans.length;
    case 'overlap':
    case 'age':
      return condition.ranges.length;
    case 'integer':
      return new Set(condition.ranges.map(({ min, max }) => min === max || `${min}-${max}`)).size;
    default:
      return 1;
  }
}
