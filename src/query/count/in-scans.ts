import type { Snapshot, Statement } from '../../data/engine/engine.js';
import { cellCount } from '../../policy/domain.js';
import { blockAt } from '../../policy/pairs/pairs.js';
import type { Policy } from '../../policy/policy.js';
import { Binder, type RowSource } from './contribution-bound.js';
import { integerOf } from './groups.js';
import type { MarginalSet } from './marginals.js';
import { placesOfRows } from './rows-to-groups.js';

/** Tables per scan: bounded by the fan-out of a row and by what a database plans at once. */
const tablesAtOnce = 250;

/** Number of statements that `countInScans` runs, and the most rows that all of them return: the cells of the marginals. */
export const scanResultBound = ({ axes, tables }: MarginalSet): { readonly statements: number; readonly rows: number } => ({
  statements: Math.ceil(tables.length / tablesAtOnce),
  rows: tables.reduce((n, own) => n + cellsIn(axes, own), 0),
});

const cellsIn = (axes: MarginalSet['axes'], own: readonly number[]): number => cellCount(own.map((k) => axes[k]!));

/**
 * Counts many marginals per scan in the database: each row is mapped to its cell in each of them. Only non-empty cells come back,
 * so the result does not grow with the data. `found` is called once per cell.
 */
export async function countInScans(
  engine: Snapshot,
  policy: Policy,
  marginals: MarginalSet,
  found: (table: number, cell: number, count: bigint) => void,
): Promise<void> {
  const source = await engine.columns();
  for (let from = 0; from < marginals.tables.length; from += tablesAtOnce) {
    const tables = marginals.tables.slice(from, from + tablesAtOnce);
    const starts = startsOf(marginals.axes, tables);
    const statement = scan({ dialect: engine.dialect, policy, columns: source }, { axes: marginals.axes, tables });
    for (const [cell, count] of (await engine.rows(statement)).open()) {
      const at = Number(cell);
      const table = blockAt(starts, at) - 1;
      found(from + table, at - starts[table]!, integerOf(count!));
    }
  }
}

/** First cell of each table when all cells are numbered consecutively; one more at the end. */
const startsOf = (axes: MarginalSet['axes'], tables: MarginalSet['tables']): readonly number[] => {
  const starts = [0];
  for (const own of tables) starts.push(starts.at(-1)! + cellsIn(axes, own));
  return starts;
};

function scan(source: RowSource, { axes, tables }: MarginalSet): Statement {
  const { dialect } = source;
  const binder = new Binder(dialect);
  const used = [...new Set(tables.flat())];
  const place = new Map(used.map((k, i) => [k, `p${i}`]));
  const rows = placesOfRows(
    source,
    binder,
    used.map((k) => axes[k]!),
  );
  const starts = startsOf(axes, tables);
  const cells = tables.map((own, t) => {
    let radix = 1;
    const terms = [...own].reverse().map((k) => {
      const term = radix === 1 ? place.get(k)! : `${place.get(k)} * ${radix}`;
      radix *= axes[k]!.size;
      return term;
    });
    return [`${starts[t]}`, ...terms].join(' + ');
  });
  const sql = `SELECT ${dialect.whole('cell')} AS cell, count(*) FROM ${dialect.eachOf!(rows, cells)} WHERE cell IS NOT NULL GROUP BY 1`;
  return { sql, values: binder.values };
}
