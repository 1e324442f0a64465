import type { DecimalMark } from '../../policy/number-text.js';
import type { ColumnSummary } from '../draft/guess.js';
import { OwnByKey } from '../draft/own-by-key.js';
import { type FoundPanel, PanelTally } from '../draft/panel.js';
import { ColumnTally } from '../draft/tally.js';
import type { Snapshot } from './engine.js';
import { quoteName } from './structure.js';

/** Columns read by one statement: a wide table is read several times rather than slowly. */
const atOnce = 1000;

/**
 * Exact figures about the data, from which `fugu init` drafts a policy: for the steward only, no other caller
 * is allowed. Whatever of them enters a policy is marked unconfirmed until the steward has checked it.
 */
export async function describeColumns(
  engine: Snapshot,
  progress: (done: number, total: number) => void = () => undefined,
  mark: DecimalMark = '.',
): Promise<readonly ColumnSummary[]> {
  const columns = await engine.columns();
  const total = (await engine.size()).open();
  const summaries: ColumnSummary[] = [];
  for (let from = 0; from < columns.length; from += atOnce) {
    const part = columns.slice(from, from + atOnce);
    const tallies = part.map(({ type }) => new ColumnTally(type === 'text' ? mark : '.'));
    const sql = `SELECT ${part.map((c) => quoteName(c.name)).join(', ')} FROM fugu_data`;
    let seen = 0;
    for await (const block of engine.stream({ sql, values: [], everyRow: true })) {
      const { rows, columns: cells } = block.open();
      for (const [c, tally] of tallies.entries()) for (let i = 0; i < rows; i++) tally.see(cells[c]![i]!);
      seen += rows;
      progress(Math.floor((total * from + seen * part.length) / columns.length), total);
    }
    summaries.push(...part.map((column, c) => tallies[c]!.summary(column.name, column.type, total)));
  }
  return summaries;
}

/** Persons with several rows, one for each point in time; only for `fugu init`, as above. */
export const describePanels = (engine: Snapshot, summaries: readonly ColumnSummary[]): Promise<readonly FoundPanel[]> =>
  foundInRows(engine, new PanelTally(summaries));

/** The columns again, with texts that only a few people wrote, counted per person; only for `fugu init`, as above. */
export const describeOwn = (
  engine: Snapshot,
  summaries: readonly ColumnSummary[],
  keys: readonly string[],
): Promise<readonly ColumnSummary[]> => foundInRows(engine, new OwnByKey(summaries, keys));

interface RowTally<Found> {
  /** Those of which it must see every row. */
  readonly columns: readonly string[];
  readonly found: Found;
  see(cell: (column: string) => unknown): void;
}
async function foundInRows<Found>(engine: Snapshot, tally: RowTally<Found>): Promise<Found> {
  const names = tally.columns;
  if (names.length === 0) return tally.found;
  const sql = `SELECT ${names.map(quoteName).join(', ')} FROM fugu_data`;
  for await (const block of engine.stream({ sql, values: [], everyRow: true })) {
    const { rows, columns } = block.open();
    const cells = new Map(names.map((name, c) => [name, columns[c]!]));
    for (let i = 0; i < rows; i++) tally.see((name) => cells.get(name)![i]!);
  }
  return tally.found;
}
