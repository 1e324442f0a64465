import { formatNumber } from '../parts/figures.ts';
import { DataTable } from '../parts/table.tsx';

type Cell = string | number | boolean | null;
interface Synthetic {
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly values: readonly Cell[] }[];
}
interface Clusters {
  readonly columns: readonly string[];
  readonly centres: readonly (readonly number[])[];
}
interface Classifier {
  readonly label: string;
  readonly positive: readonly string[];
  readonly intercept: number;
  readonly weights: readonly { readonly column: string; readonly value?: string; readonly weight: number }[];
}

const has = <T,>(value: unknown, ...names: readonly (keyof T)[]): value is T =>
  typeof value === 'object' && value !== null && names.every((name) => name in value);

/** An answer that is no table with intervals: rows, centres, weights, or whatever it is by name. */
export function Result({ value, entry }: { readonly value: unknown; readonly entry: number }) {
  if (has<Synthetic>(value, 'rows', 'columns') && value.columns.every((c) => Array.isArray(c.values)))
    return <SyntheticRows result={value} entry={entry} />;
  if (has<Clusters>(value, 'centres', 'columns')) return <Centres result={value} />;
  if (has<Classifier>(value, 'weights', 'intercept', 'label')) return <Weights result={value} />;
  return <Plain value={value} />;
}

const shownRows = 12;
const cellText = (cell: Cell | undefined): string => (cell === null || cell === undefined ? '' : String(cell));
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function SyntheticRows({ result: { rows, columns }, entry }: { readonly result: Synthetic; readonly entry: number }) {
  const lines = [
    columns.map((c) => csvCell(c.name)).join(','),
    ...Array.from({ length: rows }, (_, r) => columns.map((c) => csvCell(cellText(c.values[r]))).join(',')),
  ];
  const save = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }));
    link.download = `synthetic-${entry}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="stack">
      <div class="row spread">
        <p class="small soft">
          {formatNumber(rows)} rows of nobody; the first {Math.min(shownRows, rows)} are shown.
        </p>
        <button type="button" class="button small" onClick={save}>
          Save as CSV
        </button>
      </div>
      <DataTable
        caption="Synthetic rows"
        columns={columns.map(({ name }) => ({ name }))}
        rows={Array.from({ length: Math.min(shownRows, rows) }, (_, r) => columns.map((c) => cellText(c.values[r])))}
      />
    </div>
  );
}

const Centres = ({ result: { columns, centres } }: { readonly result: Clusters }) => (
  <DataTable
    caption="Centres of the clusters"
    columns={[{ name: 'cluster' }, ...columns.map((name) => ({ name, right: true }))]}
    rows={centres.map((centre, k) => [String(k + 1), ...centre.map((x) => formatNumber(x))])}
  />
);

const Weights = ({ result: { label, positive, intercept, weights } }: { readonly result: Classifier }) => (
  <div class="stack">
    <p>
      Tells {label} = {positive.join(' or ')} from the others. A weight above 0 speaks for it.
    </p>
    <DataTable
      caption="Weights of the classifier"
      columns={[{ name: 'column' }, { name: 'value' }, { name: 'weight', right: true }]}
      rows={[['(intercept)', '', formatNumber(intercept)], ...weights.flatMap((w) => weightRows(w))]}
    />
  </div>
);

/** A number has one weight, a column of values one for each. */
function weightRows(w: Readonly<Record<string, unknown>> & { readonly column: string }): readonly string[][] {
  if (typeof w.weight === 'number') return [[w.column, typeof w.value === 'string' ? w.value : '', formatNumber(w.weight)]];
  if (Array.isArray(w.weights) && Array.isArray(w.values))
    return w.values.map((value, k) => [w.column, String(value), formatNumber((w.weights as number[])[k])]);
  return [[w.column, '', JSON.stringify(w)]];
}

/** Its plain values by name. */
function Plain({ value }: { readonly value: unknown }) {
  const rows = Object.entries(typeof value === 'object' && value !== null ? value : { value });
  const text = (v: unknown) =>
    typeof v === 'number' ? formatNumber(v) : typeof v === 'string' ? v : (JSON.stringify(v) ?? '').slice(0, 400);
  return (
    <DataTable
      caption="Answer"
      tall
      columns={[{ name: 'name' }, { name: 'value' }]}
      rows={rows.map(([name, v]) => [name, <code key={name}>{text(v)}</code>])}
    />
  );
}
