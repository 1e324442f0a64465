import type { RandomBelow } from './pairs.js';

/** A target table of two household members. */
export interface TargetTable {
  /** Everybody's answers in the column of the first, and in that of the second. */
  readonly first: Uint16Array;
  readonly second: Uint16Array;
  readonly width: number;
  /** Cells of one household size, if the table is by size. */
  readonly block?: number;
  readonly counts: Float64Array;
  /** Weight of a squared difference. */
  readonly weight: number;
}

/**
 * Positions of people: members of one household are adjacent, and households of one kind (equal size and shared columns) follow each
 * other.
 */
export interface HouseholdKind {
  readonly from: number;
  readonly households: number;
  readonly members: number;
}

/** Most sweeps over all people; stops when few swaps help. */
const maxSweeps = 60;
const minProgress = 1 / 500;

/**
 * Assignment of people to positions: two people of one kind of household swap whenever that brings the tables of pairs nearer to
 * their targets. Their answers do not change; depends on released numbers and coins only.
 */
export function arrangeMembers(
  kinds: readonly HouseholdKind[],
  people: number,
  wanted: readonly TargetTable[],
  below: RandomBelow,
): Uint32Array {
  const at = Uint32Array.from({ length: people }, (_, place) => place);
  const movable = kinds.filter(({ households, members }) => households > 1 && members > 1);
  const places = movable.reduce((n, { households, members }) => n + households * members, 0);
  if (places === 0 || wanted.length === 0) return at;
  const tables: PairTables = { wanted, now: wanted.map(({ counts }) => new Float64Array(counts.length)), at };
  for (const { from, households, members } of kinds)
    for (let h = 0; h < households; h++) {
      const first = from + h * members;
      for (let i = 1; i < members; i++) updatePairs(tables, { from: first, to: first + i, members }, first + i, 1);
    }
  const kindOf = new Uint32Array(people);
  const open = new Uint32Array(places);
  let count = 0;
  for (const [k, { from, households, members }] of movable.entries())
    for (let p = from; p < from + households * members; p++) {
      kindOf[p] = k;
      open[count++] = p;
    }
  for (let sweep = 0; sweep < maxSweeps; sweep++) {
    let helped = 0;
    for (let tries = 0; tries < places; tries++) {
      const a = open[below(places)]!;
      const { from, households, members } = movable[kindOf[a]!]!;
      const home = Math.floor((a - from) / members);
      const other = (home + 1 + below(households - 1)) % households;
      const b = from + other * members + below(members);
      const [homeOfA, homeOfB] = [home, other].map((h) => rangeOf(from + h * members, members)) as [MemberRange, MemberRange];
      if (swapMembers(tables, { place: a, home: homeOfA }, { place: b, home: homeOfB })) helped++;
    }
    if (helped < minProgress * places) break;
  }
  return at;
}

/** Tables that are wanted, tables as they are, and who is at every position. */
interface PairTables {
  readonly wanted: readonly TargetTable[];
  readonly now: readonly Float64Array[];
  readonly at: Uint32Array;
}

/** Positions in a household of so many members. */
interface MemberRange {
  readonly from: number;
  readonly to: number;
  readonly members: number;
}
const rangeOf = (from: number, members: number): MemberRange => ({ from, to: from + members, members });

/** Swaps two people if that brings the tables nearer to their targets; true if it did. */
function swapMembers(
  tables: PairTables,
  a: { readonly place: number; readonly home: MemberRange },
  b: { readonly place: number; readonly home: MemberRange },
): boolean {
  const { at } = tables;
  const swap = () => {
    [at[a.place], at[b.place]] = [at[b.place]!, at[a.place]!];
  };
  const all = (sign: number) => updatePairs(tables, a.home, a.place, sign) + updatePairs(tables, b.home, b.place, sign);
  let worse = all(-1);
  swap();
  worse += all(1);
  if (worse < 0) return true;
  all(-1);
  swap();
  all(1);
  return false;
}

/** Adds (or removes) the pairs of one person with those in a range of positions; returns the increase of the distance. */
function updatePairs({ wanted, now, at }: PairTables, { from, to, members }: MemberRange, place: number, sign: number): number {
  // Pairs of a household have a total weight of floor(members / 2); either member may be first.
  const step = (sign * Math.floor(members / 2)) / (members * (members - 1));
  const one = at[place]!;
  let worse = 0;
  for (let t = 0; t < wanted.length; t++) {
    const { first, second, width, block, counts, weight } = wanted[t]!;
    const table = now[t]!;
    const base = block === undefined ? 0 : Math.min(members - 1, counts.length / block - 1) * block;
    for (let p = from; p < to; p++) {
      if (p === place) continue;
      const other = at[p]!;
      let cell = base + first[one]! * width + second[other]!;
      worse += weight * step * (2 * (table[cell]! - counts[cell]!) + step);
      table[cell]! += step;
      cell = base + first[other]! * width + second[one]!;
      worse += weight * step * (2 * (table[cell]! - counts[cell]!) + step);
      table[cell]! += step;
    }
  }
  return worse;
}
