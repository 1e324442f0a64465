import { Fault } from '../../base/errors.js';
import { missingLabel } from '../../policy/code.js';
import { type AxisGrid, groupQueries, groupsAt } from './axes.js';
import type { AxisView } from './linear-query.js';

/** Groups of the values of a column, or of the groups of the level before, by name, as written. */
export type LevelGroups = Readonly<Record<string, readonly (string | number)[]>>;
export type NamedLevel = readonly [name: string, groups: LevelGroups];

interface LevelGroup {
  readonly name: string;
  /** Of the list below it. */
  readonly members: readonly number[];
}

/** Nested groups of the values of a column: one axis per level, the coarsest first. */
export function nestedAxes(column: string, labels: readonly string[], levels: readonly NamedLevel[]) {
  let below = labels;
  const grouped = levels.map(([, groups]) => {
    const own = grouping(column, below, groups);
    below = own.map(({ name }) => name);
    return own;
  });
  const fromTop = [...grouped].reverse();
  const sizes = [Math.max(2, below.length)];
  // Path of every group, and finally of every value: its index on each axis.
  let paths: readonly (readonly number[])[] = below.map((_, k) => [k]);
  for (const groups of fromTop) {
    const next: (readonly number[])[] = [];
    for (const [g, { members }] of groups.entries())
      for (const [k, member] of members.entries()) next[member] = [...paths[g]!, k];
    // An axis of one value would carry no information.
    sizes.push(Math.max(2, ...groups.map(({ members }) => members.length)));
    paths = next;
  }
  const grid: AxisGrid = { sizes, at: paths.map((path) => path.reduce((at, place, k) => at * sizes[k]! + place, 0)) };
  return { grid, views: levels.map(([name], l) => levelView(grid, name, grouped, l)) };
}

/** The same levels of a column on one axis: every group is the sum of its values. */
export function summedLevels(column: string, labels: readonly string[], levels: readonly NamedLevel[]): readonly AxisView[] {
  let below: readonly LevelGroup[] = labels.map((name, k) => ({ name, members: [k] }));
  return levels.map(([name, groups]) => {
    const names = below.map((group) => group.name);
    const own = grouping(column, names, groups);
    below = own.map((group) => ({ name: group.name, members: group.members.flatMap((k) => below[k]!.members) }));
    const questions = below.map(({ members }) => ({ cells: members, shares: members.map(() => 1) }));
    return { name, labels: below.map((group) => group.name), sizes: [labels.length], questions };
  });
}

/** A requested level: one query for each of its groups, in the order of the form. */
function levelView(grid: AxisGrid, name: string, grouped: readonly (readonly LevelGroup[])[], level: number): AxisView {
  const axes = grouped.length - level;
  const questions = groupQueries(grid, axes);
  const groups = groupsAt(grid, axes);
  const oneOf = (l: number, member: number): number => (l < 0 ? member : oneOf(l - 1, grouped[l]![member]!.members[0]!));
  const plain = axes === 1 && grid.sizes[0] === grouped[level]!.length;
  return {
    name,
    labels: grouped[level]!.map((group) => group.name),
    sizes: grid.sizes.slice(0, axes),
    ...(!plain && { questions: grouped[level]!.map((_, g) => questions.get(groups[oneOf(level, g)]!)!) }),
  };
}

/** Every value is in one group; missing answers are a group of their own, unless named. */
function grouping(column: string, labels: readonly string[], groups: LevelGroups): readonly LevelGroup[] {
  const lists = Object.entries(groups).map(([name, values]) => ({ name, values: values.map(String) }));
  if (!lists.some(({ values }) => values.includes(missingLabel)) && labels.includes(missingLabel))
    lists.push({ name: missingLabel, values: [missingLabel] });
  const places = new Set<number>();
  const found = lists.map(({ name, values }) => ({
    name,
    members: values.map((value) => {
      const at = labels.indexOf(value);
      if (at < 0 || places.has(at))
        throw levelFault(column, at < 0 ? 'a group has a value that the column has not' : 'a value stands in two groups');
      places.add(at);
      return at;
    }),
  }));
  if (places.size < labels.length) throw levelFault(column, 'a value stands in no group');
  return found;
}
const levelFault = (column: string, what: string) =>
  new Fault(
    'QUERY_INVALID',
    `levels.${column}: ${what}.`,
    `Put each value that a table of the column shows into one group, and each group of a level into one of the next; ${missingLabel} may be left out.`,
  );

export function valuesView(name: string, labels: readonly string[], grid: AxisGrid): AxisView {
  const { sizes, at } = grid;
  const plain = sizes.length === 1 && sizes[0] === labels.length;
  if (plain) return { name, labels, sizes };
  const questions = groupQueries(grid, sizes.length);
  return { name, labels, sizes, questions: labels.map((_, k) => questions.get(at[k]!)!) };
}
