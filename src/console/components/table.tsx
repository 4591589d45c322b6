import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  header: string;
  /** Numbers stand at the end of their cells, digit below digit. */
  isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  /** The contents of the table, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** The whole text of a first cell that may be cut. */
  nameOf?(row: Row): string;
}

/**
 * A table whose rows become cards where it is narrow; between, it scrolls sideways, by keyboard too. Its first cells name the
 * rows.
 */
export function Table<Row>({ caption, columns, rows, keyOf, nameOf }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table rows" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ header, isNumber }) => (
              <th key={header} scope="col" class={isNumber ? 'number' : ''}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ header, isNumber, cell }, place) =>
                place === 0 ? (
                  <th
                    key={header}
                    scope="row"
                    class={isNumber ? 'number' : ''}
                    data-label={header}
                    title={nameOf?.(row)}
                  >
                    {cell(row)}
                  </th>
                ) : (
                  <td key={header} class={isNumber ? 'number' : ''} data-label={header}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
