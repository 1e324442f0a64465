import type { CodedTable } from '../../learn/network/coded.js';
import { apartOf } from './apart.js';
import type { Household } from './measure-pairs.js';

/** Household of every row, numbered from 0; `noHousehold` for rows that name none. */
export type Homes = Uint32Array;
export const alone = 0xffffffff;

/** A uniform whole number below this. */
export type Below = (n: number) => number;

/** Household size of every row as an index: one less than the size, at most the last. */
export function membersOf(homes: Homes, most: number): Uint16Array {
  const sizes = sizesOf(homes);
  return Uint16Array.from(homes, (home) => (home === alone ? 0 : Math.min(sizes[home]!, most) - 1));
}

/**
 * Random pairs of household members, first and second alternately in one list; every row is in at most one. Depends on households and
 * coins only, never on answers (households.proof.md).
 */
export function partners(homes: Homes, below: Below): Uint32Array {
  const sizes = sizesOf(homes);
  const starts = new Uint32Array(sizes.length + 1);
  for (let home = 0; home < sizes.length; home++) starts[home + 1] = starts[home]! + sizes[home]!;
  const next = starts.slice(0, sizes.length);
  const order = new Uint32Array(starts[sizes.length]!);
  for (let row = 0; row < homes.length; row++) if (homes[row] !== alone) order[next[homes[row]!]!++] = row;
  const out: number[] = [];
  for (let home = 0; home < sizes.length; home++) {
    const [from, to] = [starts[home]!, starts[home + 1]!];
    for (let i = to - 1; i > from; i--) {
      const j = from + below(i - from + 1);
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    for (let i = from; i + 1 < to; i += 2) out.push(order[i]!, order[i + 1]!);
  }
  return Uint32Array.from(out);
}

/** One row for every pair: household size, answers of the first, answers of the second, distances between them. */
export function pairRows(people: CodedTable, household: Household, pairs: Uint32Array): CodedTable {
  const { members, own, apart } = household;
  const rows = pairs.length >> 1;
  const taken = (column: number, which: number): Uint16Array => {
    const from = people.columns[column]!;
    return Uint16Array.from({ length: rows }, (_, r) => from[pairs[2 * r + which]!]!);
  };
  const [one, another] = [0, 1].map((which) => own.map((column) => taken(column, which))) as [Uint16Array[], Uint16Array[]];
  const far = apart.map((own) => Uint16Array.from(one[own.of]!, (a, r) => apartOf(own, a, another[own.of]![r]!)));
  return {
    names: pairNames(people.names, household),
    levels: pairLevels(people.levels, household),
    rows,
    columns: [taken(members, 0), ...one, ...another, ...far],
  };
}
export const pairLevels = (levels: readonly number[], { members, own, apart }: Household): readonly number[] => [
  levels[members]!,
  ...own.map((c) => levels[c]!),
  ...own.map((c) => levels[c]!),
  ...apart.map(({ places }) => places),
];
export const pairNames = (names: readonly string[], { members, own, apart }: Household): readonly string[] => [
  names[members]!,
  ...own.map((c) => `${names[c]!} of one`),
  ...own.map((c) => `${names[c]!} of another`),
  ...apart.map(({ of }) => `how far apart in ${names[own[of]!]!}`),
];

function sizesOf(homes: Homes): Uint32Array {
  let count = 0;
  for (const home of homes) if (home !== alone && home >= count) count = home + 1;
  const sizes = new Uint32Array(count);
  for (const home of homes) if (home !== alone) sizes[home]!++;
  return sizes;
}
