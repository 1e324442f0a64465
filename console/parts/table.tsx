import type { ComponentChildren } from 'preact';

export interface DataTableColumn {
  readonly name: string;
  /** Numbers are right-aligned. */
  readonly right?: boolean;
}

/** Wide or long tables scroll in a frame of their own, also by keyboard. */
export const DataTable = ({
  caption,
  columns,
  rows,
  tall = false,
}: {
  readonly caption: string;
  readonly columns: readonly DataTableColumn[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  readonly tall?: boolean;
}) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable
  <section class={tall ? 'scroll tall' : 'scroll'} tabIndex={0} aria-label={caption}>
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, right }) => (
            <th key={name} scope="col" class={right ? 'right' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, k) => (
          // Rows of an answer have no names.
          <tr key={k}>
            {row.map((cell, c) =>
              c === 0 ? (
                <th key={columns[c]!.name} scope="row" class={columns[c]!.right ? 'right' : ''}>
                  {cell}
                </th>
              ) : (
                <td key={columns[c]!.name} class={columns[c]!.right ? 'right' : ''}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
