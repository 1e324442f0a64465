import { shuffle } from '../../graphical/draw.js';
import type { NoisyMarginal } from '../../graphical/fit.js';
import type { GraphicalModel } from '../../graphical/graphical-model.js';
import { arrangeMembers, type HouseholdKind, type TargetTable } from './arrange-members.js';
import type { Household } from './measure-pairs.js';
import type { RandomBelow } from './pairs.js';

export interface DrawnHouseholds {
  /** Values of everybody by column of the model; members of one household are adjacent. */
  readonly columns: readonly Uint16Array[];
  /** The household of everybody, numbered from 0. */
  readonly homes: Uint32Array;
}

/** Models of people and of pairs of household members, and the measured pairs. */
export interface HouseholdModels {
  readonly people: GraphicalModel;
  readonly pairs: GraphicalModel;
  readonly measured: readonly NoisyMarginal[];
  readonly household: Household;
}

/**
 * Whole households, about so many people: household kinds (size and shared values) first, then people from the model given these,
 * then their assignment to households. Postprocessing only.
 */
export function drawHouseholds(
  { people, pairs, measured, household }: HouseholdModels,
  rows: number,
  { uniform, below }: { readonly uniform: () => number; readonly below: RandomBelow },
): DrawnHouseholds {
  const { members, shared, own } = household;
  const held = [...shared, members].sort((a, b) => a - b);
  const shares = people.table(held).map((n) => (n * rows) / people.total);
  const draw = () =>
    householdKinds(
      shares,
      held.map((column) => people.sizes[column]!),
      held.indexOf(members),
      uniform(),
    );
  let kinds = draw();
  // So few rows may be less than one household.
  while (kinds.length === 0) kinds = draw();
  const count = kinds.reduce((n, kind) => n + kind.members * kind.households, 0);
  const given = new Map(held.map((column) => [column, new Uint16Array(count)]));
  const homes = new Uint32Array(count);
  let home = 0;
  for (const { from, households, members: size, places } of kinds) {
    for (const [k, column] of held.entries()) given.get(column)!.fill(places[k]!, from, from + households * size);
    for (let h = 0; h < households; h++, home++) homes.fill(home, from + h * size, from + (h + 1) * size);
  }
  const drawn = people.rows(count, uniform, given);
  const wanted = pairTargets(household, measured).map(({ columns, sd }): TargetTable => {
    const [x, y] = columns.slice(-2) as [number, number];
    const [width, high] = [pairs.sizes[y]!, pairs.sizes[x]!];
    const counts = pairs.table(columns).map((n) => (n * count) / people.total);
    return {
      first: drawn[own[x - 1]!]!,
      second: drawn[own[y - 1 - own.length]!]!,
      width,
      ...(columns.length > 2 && { block: high * width }),
      counts: x + own.length === y ? symmetrised(counts, width) : counts,
      weight: 1 / (sd * sd),
    };
  });
  const at = arrangeMembers(kinds, count, wanted, below);
  const order = shuffled(homes, home, below);
  const isOwn = new Set(own);
  return {
    homes: renumbered(order, homes),
    columns: drawn.map((column, c) => Uint16Array.from(order, (place) => column[isOwn.has(c) ? at[place]! : place]!)),
  };
}

/** Row positions household by household, households in random order. */
function shuffled(homes: Uint32Array, count: number, below: RandomBelow): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (const home of homes) starts[home + 1]!++;
  for (let home = 0; home < count; home++) starts[home + 1]! += starts[home]!;
  const list = Uint32Array.from({ length: count }, (_, home) => home);
  shuffle(list, below);
  const order = new Uint32Array(homes.length);
  let place = 0;
  for (const home of list) for (let p = starts[home]!; p < starts[home + 1]!; p++) order[place++] = p;
  return order;
}

/** Renumbers households from 0 in this order. */
function renumbered(order: Uint32Array, homes: Uint32Array): Uint32Array {
  const out = new Uint32Array(order.length);
  for (let p = 1; p < order.length; p++) out[p] = out[p - 1]! + (homes[order[p]!] === homes[order[p - 1]!] ? 0 : 1);
  return out;
}

/** Marginals of two members that cover all measurements, each once; a distance is covered by the table of both answers. */
function pairTargets(
  { own, distances }: Household,
  measured: readonly NoisyMarginal[],
): readonly Pick<NoisyMarginal, 'columns' | 'sd'>[] {
  const found = new Map<string, Pick<NoisyMarginal, 'columns' | 'sd'>>();
  for (const { columns, sd } of measured) {
    const of = distances[columns.at(-1)! - 1 - 2 * own.length]?.of;
    const both = of === undefined ? columns.slice(-2) : [1 + of, 1 + own.length + of];
    const target = columns[0] === 0 ? [0, ...both] : both;
    const known = found.get(target.join());
    if (!known || sd < known.sd) found.set(target.join(), { columns: target, sd });
  }
  return [...found.values()];
}

/** Either of two household members may be first: the mean of both orders. */
function symmetrised(counts: Float64Array, width: number): Float64Array {
  const block = width * width;
  return counts.map((n, cell) => {
    const [base, inside] = [cell - (cell % block), cell % block];
    return (n + counts[base + (inside % width) * width + Math.floor(inside / width)]!) / 2;
  });
}

/**
 * Number of households of every kind, from the people in every cell; `members` is the position of the household size in it. Each kind gets its share, and one draw
 * decides the fractional remainders.
 */
function householdKinds(
  shares: Float64Array,
  sizes: readonly number[],
  members: number,
  offset: number,
): readonly (HouseholdKind & { readonly places: readonly number[] })[] {
  const kinds: (HouseholdKind & { readonly places: readonly number[] })[] = [];
  let [before, from] = [offset, 0];
  for (const [cell, share] of shares.entries()) {
    let rest = cell;
    const places = sizes.map(() => 0);
    for (let k = sizes.length - 1; k >= 0; k--) {
      places[k] = rest % sizes[k]!;
      rest = Math.floor(rest / sizes[k]!);
    }
    const size = places[members]! + 1;
    const after = before + share / size;
    const households = Math.floor(after) - Math.floor(before);
    before = after;
    if (households === 0) continue;
    kinds.push({ from, households, members: size, places });
    from += households * size;
  }
  return kinds;
}
