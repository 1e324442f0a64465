import * as z from 'zod';
import { readDeclaredJson } from '../dependence/model/file.js';
import { Fault } from '../errors.js';

export type Transition = readonly (readonly number[])[];

const matrix = z.array(z.array(z.number().min(0).max(1)).min(1)).min(1);
const some = z.union([matrix.transform((m) => [m]), z.array(matrix).min(1)]);
/** One known transition matrix, or a set of which one is the true one; forward alone, or with where one came from. */
const transitionFile = z.union([
  z.strictObject({ transition: matrix }).transform((f): Transitions => ({ forward: [f.transition] })),
  z.strictObject({ transitions: z.array(matrix).min(1) }).transform((f): Transitions => ({ forward: f.transitions })),
  z.strictObject({ forward: some, backward: some }).transform((f): Transitions => f),
  matrix.transform((m): Transitions => ({ forward: [m] })),
]);

export interface Transitions {
  /** P(state after | state now), one for each law of which one is the true one. */
  readonly forward: readonly Transition[];
  /** P(state before | state now) under the same laws, where it is declared. */
  readonly backward?: readonly Transition[];
}

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
  if (backward && backward.length !== forward.length) throw wrong('has not as many backward as forward matrices');
  return parsed.data;
}

/** Whichever way they look. */
export const everyTransition = ({ forward, backward }: Transitions): readonly Transition[] => [...forward, ...(backward ?? [])];
