import { viewColumn } from '../../count/column-view.js';
import { compileStream } from '../../count/compile.js';
import { columnNamed, isCoded } from '../../count/domain.js';
import type { Measure } from '../../count/measure.js';
import type { Engine } from '../../engine/engine.js';
import { Exact } from '../../engine/exact.js';
import type { Policy } from '../../policy/policy.js';
import { bindBatch } from '../../query/bind.js';
import type { Query } from '../../query/query.js';

/** Rows of a table, cut to `maxRows` per person, as domain indices (codes) and grid positions (numbers); -1 is missing. */
export interface Cells {
  readonly rows: number;
  /** One per asked column; valid until the next block is read. */
  readonly columns: readonly Float64Array[];
}

/** Faults that the reading would meet are met here, before anything is spent. */
export const bindCells = (policy: Policy, names: readonly string[]): readonly Measure[] =>
  bindBatch(
    {
      queries: names.map(
        (name): Query => (isCoded(columnNamed(policy, name)) ? { kind: 'count', by: [name] } : { kind: 'sum', column: name }),
      ),
    },
    policy,
  ).measures;

export async function* readCells(engine: Engine, policy: Policy, names: readonly string[]): AsyncIterable<Exact<Cells>> {
  const { statement, columns } = compileStream(bindCells(policy, names), policy, await engine.columns(), engine.dialect);
  const views = new Map(columns.map((name) => [name, viewColumn(policy.columns.get(name)!)]));
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    columns.forEach((name, c) => {
      views.get(name)!.turn(chunk.columns[c]!, chunk.rows);
    });
    yield new Exact({ rows: chunk.rows, columns: names.map((name) => views.get(name)!.indices()) });
  }
}
