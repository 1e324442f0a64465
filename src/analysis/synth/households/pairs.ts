import { shuffle } from '../../graphical/draw.js';
import type { CodedTable } from '../../learn/network/coded.js';
import type { Household } from './measure-pairs.js';
import { distanceBetween } from './member-distance.js';

/** Household of every row, numbered from 0; `noHousehold` for rows that name none. */
export type HouseholdIds = Uint32Array;
export const noHousehold = 0xffffffff;

/** A uniform whole number below this. */
export type RandomBelow = (n: number) => number;

/** Household size of every row as an index: one less than the size, at most the last. */
export function memberCounts(homes: HouseholdIds, most: number): Uint16Array {
  const sizes = sizesOf(homes);
  return Uint16Array.from(homes, (home) => (home === noHousehold ? 0 : Math.min(sizes[home]!, most) - 1));
}

/**
 * Random pairs of household members, first and second alternately in one list; every row is in at most one. Depends on households and
 * coins only, never on answers (households.proof.md).
 */
export function drawPartners(homes: HouseholdIds, below: RandomBelow): Uint32Array {
  const sizes = sizesOf(homes);
  const starts = new Uint32Array(sizes.length + 1);
  for (let home = 0; home < sizes.length; home++) starts[home + 1] = starts[home]! + sizes[home]!;
  const next = starts.slice(0, sizes.length);
  const order = new Uint32Array(starts[sizes.length]!);
  for (let row = 0; row < homes.length; row++) if (homes[row] !== noHousehold) order[next[homes[row]!]!++] = row;
  const out: number[] = [];
  for (let home = 0; home < sizes.length; home++) {
    const [from, to] = [starts[home]!, starts[home + 1]!];
    shuffle(order.subarray(from, to), below);
    for (let i = from; i + 1 < to; i += 2) out.push(order[i]!, order[i + 1]!);
  }
  return Uint32Array.from(out);
}

/** One row for every pair: household size, answers of the first, answers of the second, distances between them. */
export function pairRows(people: CodedTable, household: Household, pairs: Uint32Array): CodedTable {
  const { members, own, distances } = household;
  const rows = pairs.length >> 1;
  const taken = (column: number, which: number): Uint16Array => {
    const from = people.columns[column]!;
    return Uint16Array.from({ length: rows }, (_, r) => from[pairs[2 * r + which]!]!);
  };
  const [one, another] = [0, 1].map((which) => own.map((column) => taken(column, which))) as [Uint16Array[], Uint16Array[]];
  const far = distances.map((own) => Uint16Array.from(one[own.of]!, (a, r) => distanceBetween(own, a, another[own.of]![r]!)));
  return {
    names: pairNames(people.names, household),
    levels: pairLevels(people.levels, household),
    rows,
    columns: [taken(members, 0), ...one, ...another, ...far],
  };
}
export const pairLevels = (levels: readonly number[], { members, own, distances }: Household): readonly number[] => [
  levels[members]!,
  ...own.map((c) => levels[c]!),
  ...own.map((c) => levels[c]!),
  ...distances.map(({ places }) => places),
];
export const pairNames = (names: readonly string[], { members, own, distances }: Household): readonly string[] => [
  names[members]!,
  ...own.map((c) => `${names[c]!} of one`),
  ...own.map((c) => `${names[c]!} of another`),
  ...distances.map(({ of }) => `how far apart in ${names[own[of]!]!}`),
];

function sizesOf(homes: HouseholdIds): Uint32Array {
  let count = 0;
  for (const home of homes) if (home !== noHousehold && home >= count) count = home + 1;
  const sizes = new Uint32Array(count);
  for (const home of homes) if (home !== noHousehold) sizes[home]!++;
  return sizes;
}
