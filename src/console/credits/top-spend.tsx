import type { ComponentChildren } from 'preact';
import { Table } from '../components/table.tsx';
import { formatNumber, formatShare } from '../format.ts';

const SHOWN_MAX = 10;

interface TopSpendProps {
  /** The heading, such as `Spend by list`. */
  title: string;
  header: string;
  spent: ReadonlyMap<string, number>;
  /** Credits that were spent in all, also by what is not listed. */
  total: number;
  nameOf: (id: string) => ComponentChildren;
}

/** The largest spenders, highest first. */
export function TopSpend({ title, header, spent, total, nameOf }: TopSpendProps) {
  const rows = [...spent].sort(([, one], [, other]) => other - one);
  if (rows.length === 0) return null;
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      <Table
        caption={title}
        rows={rows.slice(0, SHOWN_MAX)}
        keyOf={([id]) => id}
        columns={[
          { header, cell: ([id]) => nameOf(id) },
          { header: 'Credits', isNumber: true, cell: ([, credits]) => formatNumber(credits) },
          {
            header: 'Share of all spent',
            isNumber: true,
            cell: ([, credits]) => formatShare(credits, total),
          },
        ]}
      />
      {rows.length > SHOWN_MAX && (
        <p class="hint">
          The {SHOWN_MAX} that cost most, of {formatNumber(rows.length)}.
        </p>
      )}
    </section>
  );
}
