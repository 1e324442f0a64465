import type { Snapshot } from '../../data/engine/engine.js';
import { Exact } from '../../data/engine/exact.js';
import { NameList } from '../../data/ties/name-list.js';
import { NameColumn } from '../../data/ties/spelling.js';
import type { Policy } from '../../policy/policy.js';
import { columnView, loadChunk } from '../../query/count/column-view.js';
import { keyRows } from '../../query/count/read-rows.js';
import { compileStream } from '../../query/count/stream.js';
import type { CodedTable } from '../learn/network/coded.js';
import type { CodedColumn } from './columns.js';
import type { HouseholdIds } from './households/pairs.js';

/** Bytes of a row while it is read and counted; one more column, and its name, with a household. */
export const bytesPerRow = (columns: number, home = false): number => 4 * columns + (home ? 32 : 0);

/** Every counted row as values of the model's columns; read through the policy as a table of these columns would be. */
export async function readCoded(
  engine: Snapshot,
  policy: Policy,
  coded: readonly CodedColumn[],
  by?: string,
): Promise<Exact<CodedTable & { readonly homes: HouseholdIds }>> {
  const names = [...new Set(coded.map(({ column }) => column.name))];
  const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
  const { statement, columns } = compileStream(names, source, { names: by === undefined ? [] : [by] });
  const views = new Map(names.map((name) => [name, columnView(policy.columns.get(name)!)]));
  const fillers = coded.map((one) => {
    if ('axis' in one) return keyRows(policy, views, one.axis);
    const view = views.get(one.column.name)!;
    return (out: Int32Array, rows: number) => {
      for (let r = 0; r < rows; r++) out[r] = view.options(r).includes(one.option) ? 1 : 0;
    };
  });
  const blocks: Uint16Array[][] = coded.map(() => []);
  const homes: Uint32Array[] = [];
  const list = new NameList();
  let rows = 0;
  let places = new Int32Array(0);
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    loadChunk(views, columns, chunk);
    if (places.length < chunk.rows) places = new Int32Array(chunk.rows);
    for (const [c, fill] of fillers.entries()) {
      fill(places, chunk.rows);
      blocks[c]!.push(Uint16Array.from(places.subarray(0, chunk.rows)));
    }
    if (by !== undefined) {
      const own = new Uint32Array(chunk.rows);
      list.addAll(new NameColumn(chunk, names.length), chunk.rows, own, 0);
      homes.push(own);
    }
    rows += chunk.rows;
  }
  return new Exact({
    names: coded.map(({ name }) => name),
    levels: coded.map(({ size }) => size),
    rows,
    columns: blocks.map((list) => joined(list, new Uint16Array(rows))),
    homes: joined(homes, new Uint32Array(by === undefined ? 0 : rows)),
  });
}

function joined<T extends Uint16Array | Uint32Array>(blocks: readonly T[], all: T): T {
  let at = 0;
  for (const block of blocks) {
    all.set(block, at);
    at += block.length;
  }
  return all;
}
