import * as z from 'zod';
import { readDeclaredJson } from '../dependence/model/file.js';
import { Fault } from '../errors.js';

export type Transition = readonly (readonly number[])[];

const matrix = z.array(z.array(z.number().min(0).max(1)).min(1)).min(1);
/** One known transition matrix, or a set of which one is the true one. */
const transitionFile = z.union([
  z.strictObject({ transition: matrix }).transform((f) => [f.transition]),
  z.strictObject({ transitions: z.array(matrix).min(1) }).transform((f) => f.transitions),
  matrix.transform((m) => [m]),
]);

export function readTransitions(file: string): readonly Transition[] {
  const parsed = transitionFile.safeParse(readDeclaredJson(file));
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The transition file ${what}.`,
      'Write {"transition": [[0.9, 0.1], [0.2, 0.8]]}, or {"transitions": [...]} for a set.',
      { place: { file } },
    );
  if (!parsed.success) throw wrong('has no usable transition matrix');
  for (const m of parsed.data) {
    if (m.length !== parsed.data[0]!.length) throw wrong('has matrices over different numbers of states');
    if (m.some((row) => row.length !== m.length)) throw wrong('has a matrix that is not square');
    if (m.some((row) => Math.abs(row.reduce((a, b) => a + b, 0) - 1) > 1e-9)) throw wrong('has a row that does not sum to 1');
  }
  return parsed.data;
}
