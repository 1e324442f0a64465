import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { mulUp } from '../../base/exact/outward.js';
import { invalid } from '../../policy/problems.js';
import { flag, section, wholeShape, word } from '../../policy/schema.js';
import { combine, type FactorGraph } from '../../privacy/dependence/graph/factor-graph.js';
import { fromGroups, noGroup } from '../../privacy/dependence/graph/group-graph.js';
import { combinedBytes, type MemoryLimit, memoryAfter, unlimitedMemory } from '../../privacy/dependence/graph/memory-limit.js';
import type { TieKind } from './kind.js';
import { namesBelow, noName } from './name-list.js';
import type { RecordTable } from './records.js';
import { oddsText, onColumn, pulled, pullWords, ratio, strength, strengthKeys, strengthWords, tiedColumn } from './strength.js';

export interface GroupsDependence {
  readonly kind: 'groups';
  readonly by: readonly string[];
  /** Records are tied when all of these columns put them together; when any does, otherwise. */
  readonly all?: true;
  readonly column?: string;
  readonly oddsRatio: number;
  /** Tied records are alike in the column, never different. */
  readonly pull?: 'alike';
  /** Members are independent given a hidden type of the group. */
  readonly hidden: boolean;
  /** Public bound on the group size; without it the groups themselves are taken as public knowledge. */
  readonly maxSize?: number;
  /** Largest number of used members of a group; the others are left out of every answer. */
  readonly maxUsed?: number;
}

const shape = section(
  {
    kind: z.literal('groups'),
    by: z.union(
      [word('by column'), z.array(word('by column')).min(1), z.strictObject({ all: z.array(word('by column')).min(2) })],
      {
        error: 'Write by: household_id, a list of columns of which any ties, or {all: [household_id, week]}.',
      },
    ),
    hidden: flag('hidden').optional(),
    maxSize: wholeShape('maxSize', 1).optional(),
    maxUsed: wholeShape('maxUsed', 1).optional(),
    ...strengthKeys,
  },
  'Write {kind: groups, by: household_id}.',
);

/** Households, wards, classes. */
export const groupsTie: TieKind<GroupsDependence, z.output<typeof shape>> = {
  kind: 'groups',
  shape,
  declare: (entry, path, context) => {
    const all = typeof entry.by === 'object' && 'all' in entry.by;
    const by: readonly string[] = all ? (entry.by as { all: string[] }).all : [entry.by as string | string[]].flat();
    const repeated = by.find((name, i) => by.indexOf(name) !== i);
    if (repeated !== undefined)
      throw invalid(context.yaml, [...path, 'by'], `The group column "${repeated}" is listed twice.`, 'List each column once.');
    if (entry.maxUsed !== undefined && entry.maxSize !== undefined)
      throw invalid(
        context.yaml,
        [...path, 'maxUsed'],
        'maxUsed picks members by who shares a group, which maxSize hides.',
        'Write one of the two.',
      );
    return {
      kind: 'groups',
      by,
      ...(all && { all: true }),
      ...tiedColumn(entry, path, context),
      ...pulled(entry, path, context),
      oddsRatio: ratio(entry.oddsRatio),
      hidden: entry.hidden ?? false,
      ...(entry.maxSize !== undefined && { maxSize: entry.maxSize }),
      ...(entry.maxUsed !== undefined && { maxUsed: entry.maxUsed }),
    };
  },
  columns: (d) => d.by.map((column) => ({ column, key: 'by', role: 'group', read: 'name' })),
  explain: (d) =>
    `records with the same ${d.by.join(d.all ? ' and the same ' : ' or the same ')} depend on one another: changing one moves ${onColumn(d.column)} ${strengthWords(d.oddsRatio)}.${
      d.hidden ? ' Members are alike only through what their group is like.' : ''
    }${d.maxSize === undefined ? ' Who shares a group is taken as public.' : ` No group has more than ${d.maxSize} members.`}${
      d.maxUsed === undefined
        ? ''
        : ` At most ${d.maxUsed} of each group are used in answers: the others are left out, by a rule that looks at the groups only, and stay protected.`
    }`,
  words: (d) =>
    `Records in one group (${d.by.join(d.all ? ' and ' : ', ')}) are tied with an odds ratio of at most ${oddsText(d.oddsRatio)}${d.hidden ? ' to a hidden type of the group' : ''}${d.maxSize ? `; no group has more than ${d.maxSize} members` : '; who is in which group is known to the attacker'}.${pullWords(d)}`,
  records: {
    // Members of a hidden type are tied to it, and it is not declared to have two values.
    pull: (d) => (d.hidden ? undefined : d.pull && d.column),
    graph: (d, { records, room }) => groupsGraph(d, records, room),
    groupLimits: (d, { policy, records }) => {
      const { maxUsed: most } = d;
      if (most === undefined) return [];
      if (policy.protect.unit === undefined)
        throw new Fault(
          'POLICY_INVALID',
          'maxUsed leaves records out by their names, but no column says how the records are named.',
          'Add unit: COLUMN under protect:.',
        );
      return groupings(d).map((names) => ({ group: groupOf(records, names).group, most }));
    },
    // A public bound on group sizes stands for unobserved groups: how other ties would cross them is unknown.
    alone: (d) =>
      d.maxSize === undefined
        ? undefined
        : {
            message: 'maxSize hides who is in which group, so it cannot be combined with other ties.',
            hint: 'Leave maxSize out (the groups are then taken as known to the attacker), or declare nothing else between records.',
          },
    actual: ({ maxSize: _allowed, ...actual }) => actual,
  },
};

/** The tie between all records that agree in one column, whatever else is declared. */
export const groupsBy = (dependence: readonly { readonly kind: string }[], column: string): GroupsDependence | undefined =>
  dependence.find((d): d is GroupsDependence => {
    const own = d as GroupsDependence;
    return d.kind === groupsTie.kind && own.by.includes(column) && !own.all;
  });

/** Each column of `by` is a grouping of its own; records are tied when any of them puts them together. */
export function groupsGraph(
  dependence: GroupsDependence,
  records: RecordTable,
  room: MemoryLimit = unlimitedMemory,
): FactorGraph {
  if (dependence.maxSize !== undefined) return boundedGroups(dependence, records, dependence.maxSize);
  const withRecords: MemoryLimit = { require: (bytes) => room.require(records.bytes + bytes) };
  const graphs: FactorGraph[] = [];
  for (const names of groupings(dependence)) {
    const { group, each } = groupOf(records, names);
    // Joined groups have one hidden type, the list of their types; a member of several is tied to as many of them.
    const odds = strength(dependence.oddsRatio);
    const own = dependence.hidden && odds > 0 ? mulUp(each, odds) : odds;
    graphs.push(fromGroups(group, own, tieOf(dependence), memoryAfter(graphs, withRecords)));
  }
  if (graphs.length > 1) memoryAfter(graphs, withRecords).require(combinedBytes(graphs));
  return combine(graphs);
}

/** Each of these lists puts records together by all of its columns. */
const groupings = ({ by, all }: GroupsDependence): readonly (readonly string[])[] => (all ? [by] : by.map((name) => [name]));

/** With a public bound on the size the graph is one group of the largest size allowed, so the noise reveals nothing about the groups there are. */
function boundedGroups(dependence: GroupsDependence, records: RecordTable, maxSize: number): FactorGraph {
  if (groupings(dependence).length > 1)
    throw new Fault(
      'POLICY_INVALID',
      'maxSize bounds one grouping, but several columns are listed.',
      'Declare one groups entry per column.',
    );
  const { group: groups, each, names } = groupOf(records, groupings(dependence)[0]!);
  if (dependence.hidden && each > 1)
    throw new Fault(
      'DOMAIN_EXCEEDED',
      `Some records are in several groups of "${dependence.by[0]}", but their number is not bounded.`,
      'Leave hidden or maxSize out.',
    );
  const sizes = new Uint32Array(names);
  for (const group of groups)
    if (group !== noGroup && ++sizes[group]! > maxSize)
      throw new Fault(
        'DOMAIN_EXCEEDED',
        `Some groups of "${dependence.by[0]}" are larger than the declared maxSize ${maxSize}.`,
        'Raise maxSize, or leave it out to take the groups themselves as public knowledge.',
      );
  return fromGroups(new Uint32Array(maxSize), strength(dependence.oddsRatio), tieOf(dependence));
}

/** "pairs": the declared ratio holds between any two members, everything else fixed. Copies make one joint factor. */
function tieOf({ hidden, oddsRatio }: GroupsDependence) {
  if (hidden) return 'hidden';
  return oddsRatio === Number.POSITIVE_INFINITY ? 'together' : 'pairs';
}

interface GroupOf {
  readonly group: Uint32Array;
  /** The most groups one record names. */
  readonly each: number;
  /** Groups are numbers below this. */
  readonly names: number;
}

/** A person whose rows name several groups joins them: more ties than there are, never fewer. */
function groupOf(records: RecordTable, by: readonly string[]): GroupOf {
  const names = by.map((name) => records.namesIn(name)).reduce(together);
  const parent = Uint32Array.from({ length: namesBelow(names) }, (_, g) => g);
  const find = (g: number): number => {
    let root = g;
    while (parent[root]! !== root) root = parent[root] = parent[parent[root]!]!;
    return root;
  };
  const group = new Uint32Array(records.count).fill(noGroup);
  const several = new Map<number, Set<number>>();
  for (let r = 0; r < names.length; r++) {
    const id = names[r]!;
    if (id === noName) continue;
    const record = records.recordOf[r]!;
    if (group[record] === noGroup) group[record] = id;
    else if (group[record] !== id) {
      several.set(record, (several.get(record) ?? new Set([group[record]!])).add(id));
      parent[find(group[record]!)] = find(id);
    }
  }
  let each = 1;
  for (const named of several.values()) each = Math.max(each, named.size);
  for (let record = 0; record < group.length; record++) if (group[record] !== noGroup) group[record] = find(group[record]!);
  return { group, each, names: parent.length };
}

/** One name for every two that occur together; none where one is missing. */
function together(first: Uint32Array, second: Uint32Array): Uint32Array {
  const width = namesBelow(second);
  const known = new Map<number, number>();
  return first.map((a, r) => {
    const b = second[r]!;
    if (a === noName || b === noName) return noName;
    const both = a * width + b;
    const name = known.get(both) ?? known.size;
    known.set(both, name);
    return name;
  });
}
