import { columnsRead } from '../../src/count/measure.js';
import { numbersToNoise } from '../../src/count/noisy-cells.js';
import { rowCounter } from '../../src/count/rows.js';
import type { Cell } from '../../src/engine/engine.js';
import type { AdditiveLaw } from '../../src/mechanism/law.js';
import { everyRecord } from '../../src/mechanism/record-class.js';
import type { Policy } from '../../src/policy/policy.js';
import { bindBatch } from '../../src/query/bind.js';
import type { AnswerTable, BoundBatch } from '../../src/query/bound.js';
import { parseBatch } from '../../src/query/parse.js';
import { withSampling } from '../../src/query/sampling.js';

/** Numbers that are the same in every run. */
export function seeded(seed: number): () => number {
  let a = (seed * 2654435761) >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
export const normalFrom = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Rows column by column. */
export type Data = Readonly<Record<string, readonly Cell[]>>;
export interface Budget {
  readonly noise: 'laplace' | 'gaussian';
  /** Pure epsilon, or rho. */
  readonly amount: number;
}

/** A batch, bound, with the noise that a budget shared evenly among its measures leaves each. */
export interface Asked {
  readonly bound: BoundBatch;
  readonly laws: readonly AdditiveLaw<number>[];
}
export function asked(policy: Policy, queries: unknown, { noise, amount }: Budget): Asked {
  const bound = bindBatch(parseBatch(queries), policy);
  const moving = bound.measures.filter(({ effects }) => effects.size > 0).length;
  const laws = bound.measures.map((measure): AdditiveLaw<number> => {
    const effect = measure.effects.get(everyRecord);
    if (!effect) return { kind: 'none' };
    return noise === 'laplace'
      ? { kind: 'laplace', scale: (Number(effect.l1) * moving) / amount }
      : { kind: 'gaussian', variance: (Number(effect.l2squared) * moving) / (2 * amount) };
  });
  return { bound, laws };
}

/** The columns that are read for it. */
export const columnsOf = ({ bound }: Pick<Asked, 'bound'>): readonly string[] => columnsRead(bound.measures);

export function counted(policy: Policy, { bound }: Asked, data: Data): readonly (readonly bigint[])[] {
  const names = columnsOf({ bound });
  const counter = rowCounter(bound.measures, names, policy);
  counter.add({ columns: names.map((name) => data[name]!), rows: data[names[0]!]!.length });
  return counter.totals().map((cells, k) => {
    const measure = bound.measures[k]!;
    return measure.mechanism === 'ordered' ? numbersToNoise(measure, cells) : cells;
  });
}

const drawn = (law: AdditiveLaw<number>, random: () => number): number => {
  if (law.kind === 'none') return 0;
  if (law.kind === 'gaussian') return Math.sqrt(law.variance) * normalFrom(random);
  const u = random() - 0.5;
  return -Math.sign(u) * law.scale * Math.log(1 - 2 * Math.abs(u));
};

/** The tables of one release: whole numbers with whole noise. */
export const released = (
  policy: Policy,
  { bound, laws }: Asked,
  exact: readonly (readonly bigint[])[],
  random: () => number,
): readonly AnswerTable[] =>
  bound
    .finish(
      exact.map((cells, k) => ({
        noise: laws[k]!,
        values: cells.map((x) => x + BigInt(Math.round(drawn(laws[k]!, random)))),
      })),
    )
    .map((table) => withSampling(table, policy));

/** What would be told without noise. */
export const truthOf = ({ bound }: Asked, exact: readonly (readonly bigint[])[]): readonly AnswerTable[] =>
  bound.finish(exact.map((values) => ({ noise: { kind: 'none' }, values })));
