import { read } from '../api.ts';

/**
 * The first rows of the result of a list or an export. Whole lines are read until there are enough; the
 * rest of the answer is let go, however long it is.
 */
export async function readFirstRows<Row>(
  path: string,
  count: number,
  signal: AbortSignal,
  query: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  const wanted = new URLSearchParams({ format: 'jsonl', gzip: 'false', ...query });
  const { body } = await read(`${path}/results?${wanted}`, signal);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const rows: Row[] = [];
  let rest = '';
  for (;;) {
    const { done, value = '' } = (await reader?.read()) ?? { done: true };
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    rows.push(...lines.map((line) => JSON.parse(line) as Row));
    if (done || rows.length >= count) break;
  }
  await reader?.cancel();
  return rows.slice(0, count);
}
