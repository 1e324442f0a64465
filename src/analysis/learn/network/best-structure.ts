import { Fault } from '../../../base/errors.js';
import type { CodedTable } from './coded.js';
import { type FamilyScores, familyScores, members } from './family-scores.js';

/** The network of highest BIC over all directed acyclic graphs on the columns. */
export interface Structure {
  /** Parents of each column, ascending. */
  readonly parents: readonly (readonly number[])[];
  /** Natural-log likelihood minus log(n)/2 per free parameter. */
  readonly score: number;
}

/** 2^k subsets are held in memory: 20 columns need about 30 MB. */
export const largestChunk = 20;

/**
 * The dynamic programme of Silander and Myllymaki 2006: the best network on a set S has a sink X whose parents are the best within S
 * - X. `maxParents` restricts the families (exact within the restriction).
 */
export function bestStructure(table: CodedTable, maxParents: number = largestChunk): Structure {
  const k = table.columns.length;
  if (k > largestChunk)
    throw new Fault(
      'MODEL_TOO_LARGE',
      `An exact network over ${k} columns needs 2^${k} subsets.`,
      `Learn in chunks of at most ${largestChunk} columns.`,
      { details: { size: k, limit: largestChunk } },
    );
  const sets = familyScores(table, maxParents);
  const weight = Math.log(Math.max(table.rows, 2)) / 2;
  const scratch = new Float64Array(1 << k);
  const choices = table.levels.map((levels, x) => bestParents(undominated(sets, x, weight * (levels - 1), scratch)));
  const sinks = bestSinks(choices, k);

  const parents: (readonly number[])[] = new Array(k);
  let score = 0;
  for (let rest = (1 << k) - 1; rest !== 0; ) {
    const x = sinks[rest]!;
    rest ^= 1 << x;
    const choice = choices[x]!;
    const at = project(choice, rest);
    score += choice.best[at]!;
    parents[x] = members(choice.parents[at]!);
  }
  return { parents, score };
}

/**
 * For one child, the best family score within every set of candidates that are in an undominated family; other candidates never
 * matter, so the table has 2^useful entries.
 */
interface ParentChoice {
  readonly best: Float64Array;
  readonly parents: Int32Array;
  /** Index of a set into `best` = low[set & 1023] + high[set >> 10]. */
  readonly low: Int32Array;
  readonly high: Int32Array;
}

const project = ({ low, high }: Pick<ParentChoice, 'low' | 'high'>, set: number): number => low[set & 1023]! | high[set >> 10]!;

function bestParents(families: readonly Family[]): ParentChoice {
  let useful = 0;
  for (const f of families) useful |= f.set;
  const { low, high } = compressTables(useful);
  const size = 1 << bitCount(useful);
  const best = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  const parents = new Int32Array(size);
  for (const f of families) {
    const at = project({ low, high }, f.set);
    best[at] = f.score;
    parents[at] = f.set;
  }
  spreadMaximum(best, parents);
  return { best, parents, low, high };
}

/** Max-zeta transform: afterwards entry S holds the maximum over all subsets of S. */
function spreadMaximum(best: Float64Array, argument: Int32Array): void {
  for (let step = 1; step < best.length; step <<= 1)
    for (let block = 0; block < best.length; block += step << 1)
      for (let s = block; s < block + step; s++)
        if (best[s]! > best[s + step]!) {
          best[s + step] = best[s]!;
          argument[s + step] = argument[s]!;
        }
}

interface Family {
  readonly set: number;
  readonly score: number;
}

/**
 * Families that no proper subset equals or beats. `cost` is the penalty per cell of
 * the parents; `within` is scratch: the best score over subsets of each set visited so far.
 */
function undominated(sets: FamilyScores, x: number, cost: number, within: Float64Array): readonly Family[] {
  const self = 1 << x;
  const kept: Family[] = [];
  for (let i = 0; i < sets.sets.length; i++) {
    const set = sets.sets[i]!;
    if ((sets.candidates[set]! & self) === 0) continue;
    let subset = Number.NEGATIVE_INFINITY;
    for (let left = set; left !== 0; left &= left - 1) {
      const below = within[set ^ (left & -left)]!;
      if (below > subset) subset = below;
    }
    const score = sets.value[set | self]! - sets.value[set]! - cost * sets.cells[i]!;
    if (score > subset) kept.push({ set, score });
    within[set] = Math.max(score, subset);
  }
  return kept;
}

/** sink[S]: the last column of the best network on S. */
function bestSinks(choices: readonly ParentChoice[], k: number): Uint8Array {
  const best = new Float64Array(1 << k);
  const sink = new Uint8Array(1 << k);
  for (let s = 1; s < 1 << k; s++) {
    let top = Number.NEGATIVE_INFINITY;
    let who = 0;
    for (let left = s; left !== 0; left &= left - 1) {
      const x = 31 - Math.clz32(left & -left);
      const rest = s ^ (1 << x);
      const choice = choices[x]!;
      const score = best[rest]! + choice.best[project(choice, rest)]!;
      if (score > top) {
        top = score;
        who = x;
      }
    }
    best[s] = top;
    sink[s] = who;
  }
  return sink;
}

/** Two tables that gather the bits of a set selected by `mask` into the low bits of an index. */
function compressTables(mask: number): { low: Int32Array; high: Int32Array } {
  const half = (part: number, shift: number): Int32Array => {
    const table = new Int32Array(1024);
    for (let s = 0; s < 1024; s++) {
      let index = 0;
      let at = shift;
      for (let b = 0; b < 10; b++)
        if ((part >> b) & 1) {
          if ((s >> b) & 1) index |= 1 << at;
          at++;
        }
      table[s] = index;
    }
    return table;
  };
  return { low: half(mask & 1023, 0), high: half(mask >> 10, bitCount(mask & 1023)) };
}

function bitCount(set: number): number {
  let count = 0;
  for (let s = set; s !== 0; s &= s - 1) count++;
  return count;
}
