import type { Chunk, Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { NameList } from '../../../data/ties/name-list.js';
import { NameColumn } from '../../../data/ties/spelling.js';
import { codesOf } from '../../../policy/code.js';
import { declaredColumn } from '../../../policy/domain.js';
import type { Column, MultiColumn, Policy } from '../../../policy/policy.js';
import { columnView, loadChunk } from '../../../query/count/column-view.js';
import type { Axis } from '../../../query/count/measure.js';
import { type Filler, keyRows, type Views } from '../../../query/count/read-rows.js';
import { compileStream } from '../../../query/count/stream.js';
import { groupKeyOf } from '../../../query/keys.js';
import { type CodedTable, joinBlocks } from './coded.js';

/** One column of the model: every row has one of its `size` values. */
export interface ModelColumn {
  readonly name: string;
  readonly size: number;
  /** Labels of its values. */
  readonly labels: readonly string[];
}
/** A column of the data, or one option of a multi-select column. */
export type CodedColumn = ModelColumn & { readonly column: Column } & ({ readonly axis: Axis } | { readonly option: number });

/** The position of a row in a column that has one answer. */
export function axisOf(policy: Policy, name: string): { readonly axis: Axis; readonly labels: readonly string[] } {
  const { key, labels } = groupKeyOf(policy, name);
  if (key.kind === 'options' || key.kind === 'joint') throw new RangeError('a multi-select column has no single answer');
  return { axis: key, labels };
}

export const codedColumns = (policy: Policy, columns: readonly Column[]): readonly CodedColumn[] =>
  columns.flatMap((column): readonly CodedColumn[] => {
    if (column.type === 'multi') return optionsOf(column);
    const { axis, labels } = axisOf(policy, column.name);
    return [{ column, name: column.name, axis, size: labels.length, labels }];
  });

const optionsOf = (column: MultiColumn): readonly CodedColumn[] =>
  codesOf(column).map((code, option) => ({
    column,
    name: `${column.name}: ${code}`,
    option,
    size: 2,
    labels: ['not named', 'named'],
  }));

/** Bytes of a row while it is read and counted; one more column, and its name, with a household. */
export const bytesPerRow = (columns: number, home = false): number => 4 * columns + (home ? 32 : 0);

/** Every counted row as values of the model's columns; read through the policy as a table of these columns would be. */
export async function readCoded(
  engine: Snapshot,
  policy: Policy,
  coded: readonly CodedColumn[],
  by?: string,
): Promise<Exact<CodedTable & { readonly homes: Uint32Array }>> {
  const names = [...new Set(coded.map(({ column }) => column.name))];
  const blocks: Uint16Array[][] = coded.map(() => []);
  const homes: Uint32Array[] = [];
  const list = new NameList();
  let rows = 0;
  const filler = (one: CodedColumn, views: Views): Filler<Int32Array> => {
    if ('axis' in one) return keyRows(policy, views, one.axis);
    const view = views.get(one.column.name)!;
    return (out, count) => {
      for (let r = 0; r < count; r++) out[r] = view.options(r).includes(one.option) ? 1 : 0;
    };
  };
  const reading = { names, by, fillers: (views: Views) => coded.map((one) => filler(one, views)) };
  await streamPlaces(engine, policy, reading, (places, chunk) => {
    for (const [c, own] of places.entries()) blocks[c]!.push(Uint16Array.from(own.subarray(0, chunk.rows)));
    if (by !== undefined) {
      const own = new Uint32Array(chunk.rows);
      list.addAll(new NameColumn(chunk, names.length), chunk.rows, own, 0);
      homes.push(own);
    }
    rows += chunk.rows;
  });
  return new Exact({
    names: coded.map(({ name }) => name),
    levels: coded.map(({ size }) => size),
    rows,
    columns: blocks.map((own) => joinBlocks(own, new Uint16Array(rows))),
    homes: joinBlocks(homes, new Uint32Array(by === undefined ? 0 : rows)),
  });
}

interface PlacesReading {
  readonly names: readonly string[];
  /** A column that is read as names, after the others. */
  readonly by?: string | undefined;
  readonly asWritten?: boolean;
  readonly fillers: (views: Views) => readonly Filler<Int32Array>[];
}

/** Streams the counted rows: for each block one list of places per filler, valid until the next block. */
export async function streamPlaces(
  engine: Snapshot,
  policy: Policy,
  { names, by, asWritten = false, fillers }: PlacesReading,
  take: (places: readonly Int32Array[], chunk: Chunk) => void,
): Promise<void> {
  const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
  const stream = compileStream(names, source, { asWritten, names: by === undefined ? [] : [by] });
  const views = new Map(names.map((name) => [name, columnView(declaredColumn(policy, name), stream.written.get(name))]));
  const fill = fillers(views);
  let places = fill.map(() => new Int32Array(0));
  for await (const part of engine.stream(stream.statement)) {
    const chunk = part.open();
    loadChunk(views, stream.columns, chunk);
    if ((places[0]?.length ?? 0) < chunk.rows) places = fill.map(() => new Int32Array(chunk.rows));
    for (const [k, own] of fill.entries()) own(places[k]!, chunk.rows);
    take(places, chunk);
  }
}
