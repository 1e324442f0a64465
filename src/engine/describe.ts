import type { ColumnSummary } from '../policy/draft-guess.js';
import { ColumnTally } from '../policy/draft-tally.js';
import type { Engine } from './engine.js';

/**
 * What `fugu init` needs to draft a policy: exact figures about the data, for the steward's eyes only. Nothing else may call this; whatever of it ends up
 * in a policy is marked unconfirmed until the steward has looked at it.
 */
export async function describeColumns(
  engine: Engine,
  progress: (done: number, total: number) => void = () => undefined,
): Promise<readonly ColumnSummary[]> {
  const columns = await engine.columns();
  const total = (await engine.size()).open();
  const tallies = columns.map(() => new ColumnTally());
  let done = 0;
  for await (const block of engine.stream({ sql: 'SELECT * FROM fugu_data', values: [] })) {
    const { rows, columns: cells } = block.open();
    for (const [c, tally] of tallies.entries()) for (let i = 0; i < rows; i++) tally.see(cells[c]![i]!);
    done += rows;
    progress(done, total);
  }
  return columns.map((column, c) => tallies[c]!.summary(column.name, column.type, total));
}
