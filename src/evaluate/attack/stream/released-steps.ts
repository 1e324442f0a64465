import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { parseRational, toNumberUp } from '../../../base/exact/rational.js';
import { parseJson } from '../../../base/input/json.js';
import {
  type AdditiveDistribution,
  distributionFromText,
  inDoubles,
  type NoiseDistribution,
} from '../../../privacy/mechanism/distribution.js';

const line = z.object({
  step: z.number().int().min(1),
  units: z.tuple([z.number(), z.number()]),
  tables: z
    .array(
      z.object({
        columns: z.array(z.string()),
        rows: z.array(z.object({ keys: z.array(z.string()), value: z.number().nullable() })),
      }),
    )
    .length(1),
  receipt: z.object({
    measures: z
      .array(z.object({ noise: z.custom<NoiseDistribution<string>>((x) => typeof x === 'object' && x !== null) }))
      .length(1),
    guarantee: z.object({ epsilon: z.number().positive(), delta: z.number(), adversary: z.string(), certified: z.boolean() }),
    profile: z.object({ noise: z.enum(['pure', 'zcdp']), perRecord: z.record(z.string(), z.string()) }),
  }),
});

/** Release about one step: a histogram of the states of everybody who has a row there. */
export interface ReleasedStep {
  readonly units: readonly [first: number, last: number];
  readonly noisy: ReadonlyMap<string, number>;
  readonly noise: AdditiveDistribution<number>;
  readonly promised: z.output<typeof line>['receipt']['guarantee'];
  /** Pure epsilon that one record spent on it; absent for other noise. */
  readonly epsilon?: number;
}

/** The lines of `fugu stream --json`, for counts by one column. */
export function releasedSteps(text: string, column: string): readonly ReleasedStep[] {
  const lines = text.split('\n').filter((l) => l.trim() !== '');
  if (lines.length === 0) throw unreadable('The file of the stream is empty.');
  return lines.map((each) => {
    const parsed = line.safeParse(parseJson(each));
    if (!parsed.success) throw unreadable('The file is not what "fugu stream --json" writes of a histogram.');
    const { units, tables, receipt } = parsed.data;
    const { noise, perRecord } = receipt.profile;
    const distribution = inDoubles(distributionFromText(receipt.measures[0]!.noise));
    const rows = tables[0]!.rows;
    if (
      tables[0]!.columns[0] !== column ||
      (distribution.kind !== 'laplace' && distribution.kind !== 'gaussian') ||
      rows.some((r) => r.value === null)
    )
      throw unreadable(`The stream tells no histogram of "${column}".`);
    return {
      units,
      noisy: new Map(rows.map(({ keys, value }) => [keys[0]!, value!])),
      noise: distribution,
      promised: receipt.guarantee,
      ...(noise === 'pure' && perRecord['*'] !== undefined && { epsilon: toNumberUp(parseRational(perRecord['*'])) }),
    };
  });
}

const unreadable = (message: string) =>
  new Fault(
    'DATA_MALFORMED',
    message,
    'Write one with: fugu stream POLICY --every 1 --query \'{"kind":"histogram","column":"place"}\' --json > stream.jsonl',
  );
