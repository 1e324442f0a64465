import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { Fault } from '../errors.js';
import type { SequenceDependence } from '../policy/policy.js';
import { type FactorGraph, fromPairs } from './factor-graph.js';
import { logOddsRatio } from './odds.js';
import { type RecordTable, text } from './records.js';

const matrix = z.array(z.array(z.number().min(0).max(1)).min(1)).min(1);
/** One known transition matrix, or a set of which one is the true one. */
const transitionFile = z.union([
  z.strictObject({ transition: matrix }),
  z.strictObject({ transitions: z.array(matrix).min(1) }),
  matrix,
]);

export function readTransitions(file: string): readonly (readonly (readonly number[])[])[] {
  const parsed = transitionFile.safeParse(readJsonFile(file));
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The transition file ${what}.`,
      'Write {"transition": [[0.9, 0.1], [0.2, 0.8]]}, or {"transitions": [...]} for a set.',
      {
        place: { file },
      },
    );
  if (!parsed.success) throw wrong('has no usable transition matrix');
  const list = Array.isArray(parsed.data)
    ? [parsed.data]
    : 'transition' in parsed.data
      ? [parsed.data.transition]
      : parsed.data.transitions;
  for (const m of list) {
    if (m.some((row) => row.length !== m.length)) throw wrong('has a matrix that is not square');
    if (m.some((row) => Math.abs(row.reduce((a, b) => a + b, 0) - 1) > 1e-9)) throw wrong('has a row that does not sum to 1');
  }
  return list;
}

/** Steps of one person in order: each is tied to the next by the transition matrix (the strongest of the set). */
export function sequenceGraph(dependence: SequenceDependence, records: RecordTable): FactorGraph {
  const logOdds = readTransitions(dependence.transition).reduce(
    (worst, m) => Math.max(worst, logOddsRatio(Float64Array.from(m.flat()), [m.length, m.length], 0)),
    0,
  );
  const who = records.column(dependence.by);
  const when = records.column(dependence.order);
  const steps = new Map<string, number[]>();
  who.forEach((cell, r) => {
    if (cell === null) return;
    const list = steps.get(text(cell));
    if (list) list.push(r);
    else steps.set(text(cell), [r]);
  });
  const left: number[] = [];
  const right: number[] = [];
  for (const rows of steps.values()) {
    rows.sort((a, b) => inOrder(when[a], when[b]));
    for (let k = 1; k < rows.length; k++) {
      left.push(records.recordOf[rows[k - 1]!]!);
      right.push(records.recordOf[rows[k]!]!);
    }
  }
  return fromPairs(records.count, Uint32Array.from(left), Uint32Array.from(right), logOdds);
}

const inOrder = (a: unknown, b: unknown): number => {
  const x = Number(a);
  const y = Number(b);
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return `${a}` < `${b}` ? -1 : `${a}` > `${b}` ? 1 : 0;
};

export function readJsonFile(file: string): unknown {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch {
    throw new Fault(
      'DATA_NOT_FOUND',
      'A model file named in the policy cannot be read.',
      'Paths are taken relative to the policy file.',
      { place: { file } },
    );
  }
  try {
    return JSON.parse(source);
  } catch {
    throw new Fault('MODEL_INVALID', 'A model file named in the policy is not valid JSON.', 'Check it with any JSON tool.', {
      place: { file },
    });
  }
}
