import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { readDeclaredJson } from '../../privacy/dependence/model/declared-file.js';

export type Transition = readonly (readonly number[])[];

const matrix = z.array(z.array(z.number().min(0).max(1)).min(1)).min(1);
const some = z.union([matrix.transform((m) => [m]), z.array(matrix).min(1)]);
/** Data from which a matrix was learned: private rows, paid for or not, or public ones. */
const learnedFrom = z.union([
  z.strictObject({ learned: z.literal('unpaid') }),
  z.strictObject({ learned: z.literal('paid'), epsilon: z.string(), delta: z.string() }),
  z.strictObject({ learned: z.literal('public'), from: z.string() }),
]);
export type LearnedFrom = z.output<typeof learnedFrom>;

/** One known transition matrix, or a set of which one is the true one; forward alone, or with where one came from. */
const transitionFile = z.union([
  z.strictObject({ transition: matrix, states: z.array(z.string()).optional(), origin: learnedFrom.optional() }).transform(
    ({ transition, states, origin }): Transitions => ({
      forward: [transition],
      ...(states && { states }),
      ...(origin && { origin }),
    }),
  ),
  z.strictObject({ transitions: z.array(matrix).min(1) }).transform((f): Transitions => ({ forward: f.transitions })),
  z.strictObject({ forward: some, backward: some }).transform((f): Transitions => f),
  matrix.transform((m): Transitions => ({ forward: [m] })),
]);

export interface Transitions {
  /** P(state after | state now), one per distribution of which one is the true one. */
  readonly forward: readonly Transition[];
  /** P(state before | state now) under the same distributions, if declared. */
  readonly backward?: readonly Transition[];
  /** Names of the states in row order, if the file has them. */
  readonly states?: readonly string[];
  readonly origin?: LearnedFrom;
}

/** A matrix that was learned, as a file that a policy can declare. */
export interface TransitionFile {
  readonly states: readonly string[];
  readonly transition: readonly (readonly number[])[];
  readonly origin: LearnedFrom;
}

export const writeTransitions = ({ states, transition, origin }: TransitionFile): string =>
  `${JSON.stringify({ states, transition, origin }, null, 2)}\n`;

/** Origin of what was learned, as a reader of a release must know it. */
export function learnedWords(subject: string, revealing: string, origin: LearnedFrom): string {
  if (origin.learned === 'unpaid')
    return `${subject} LEARNED FROM THE DATA AND NOT PAID FOR: the guarantee does not cover what ${revealing} reveals.`;
  return origin.learned === 'paid'
    ? `${subject} learned from the data and paid for (epsilon ${origin.epsilon}, delta ${origin.delta}).`
    : `${subject} learned from public data (${origin.from}).`;
}

export const originWords = ({ origin }: Transitions): string =>
  origin ? ` ${learnedWords('They were', 'the matrix', origin)}` : '';

export function readTransitions(file: string): Transitions {
  const parsed = transitionFile.safeParse(readDeclaredJson(file));
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The transition file ${what}.`,
      'Write {"transition": [[0.9, 0.1], [0.2, 0.8]]}, {"transitions": [...]} for a set, or {"forward": ..., "backward": ...}.',
      { place: { file } },
    );
  if (!parsed.success) throw wrong('has no usable transition matrix');
  const { forward, backward } = parsed.data;
  const all = everyTransition(parsed.data);
  for (const m of all) {
    if (m.length !== all[0]!.length) throw wrong('has matrices over different numbers of states');
    if (m.some((row) => row.length !== m.length)) throw wrong('has a matrix that is not square');
    if (m.some((row) => Math.abs(row.reduce((a, b) => a + b, 0) - 1) > 1e-9)) throw wrong('has a row that does not sum to 1');
  }
  if (parsed.data.states && parsed.data.states.length !== all[0]!.length)
    throw wrong('names another number of states than it has');
  if (new Set(parsed.data.states).size !== (parsed.data.states?.length ?? 0)) throw wrong('names a state twice');
  if (backward && backward.length !== forward.length) throw wrong('has not as many backward as forward matrices');
  if (backward?.some((back, k) => !lookBack(back, forward[k]!)))
    throw wrong('has a backward matrix that no chain with the forward one has');
  return parsed.data;
}

/**
 * Looking back from state x one sees y with P(y) forward[y][x] / P(x): the quotients of both are products of a number for each x and one for each y. Found along
 * the entries that are not zero, which are the same in both.
 */
function lookBack(back: Transition, forward: Transition): boolean {
  const size = back.length;
  const ratio = (x: number, y: number): number => Math.log(back[x]![y]! / forward[y]![x]!);
  const [own, other] = [new Array<number>(size), new Array<number>(size)];
  for (let start = 0; start < size; start++) {
    if (own[start] !== undefined) continue;
    own[start] = 0;
    for (const queue = [start]; queue.length > 0; ) {
      const x = queue.pop()!;
      for (let y = 0; y < size; y++) {
        if (back[x]![y]! > 0 !== forward[y]![x]! > 0) return false;
        if (!(back[x]![y]! > 0) || other[y] !== undefined) continue;
        other[y] = ratio(x, y) - own[x]!;
        for (let z = 0; z < size; z++)
          if (own[z] === undefined && back[z]![y]! > 0 && forward[y]![z]! > 0) {
            own[z] = ratio(z, y) - other[y]!;
            queue.push(z);
          }
      }
    }
  }
  return back.every((row, x) => row.every((p, y) => !(p > 0) || Math.abs(ratio(x, y) - own[x]! - other[y]!) < 1e-4));
}

/** Whichever way they look. */
export const everyTransition = ({ forward, backward }: Transitions): readonly Transition[] => [...forward, ...(backward ?? [])];
