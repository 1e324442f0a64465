import * as z from 'zod';
import { Fault } from '../errors.js';
import { nextUp } from '../exact/rational.js';
import type { TableOrigin } from './pairwise-amplifier.js';
import type { PairwiseSpread } from './pairwise-leakage.js';

/** What the pairwise bound needs to know of a survey, and nothing more: three numbers, who vouches for them, and for which columns. */
export const spreadFormat = 'fugu-pairwise/1';

const document = z.strictObject({
  format: z.literal(spreadFormat),
  origin: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('public'), from: z.string().min(1) }),
    z.strictObject({ kind: z.literal('unpaid') }),
    z.strictObject({ kind: z.literal('paid') }),
  ]),
  columns: z.array(z.string().min(1)).min(1),
  confidence: z.number().gt(0).max(1),
  tilts: z.array(z.strictObject({ tilt: z.number().positive(), spread: z.number().nonnegative() })).min(1),
  worst: z.strictObject({ column: z.string(), a: z.number(), b: z.number() }),
});

export interface DeclaredSpread {
  readonly spread: PairwiseSpread;
  readonly origin: TableOrigin;
}

/** Undefined when the text is some other kind of file (a network). */
export function readSpread(text: string, file: string): DeclaredSpread | undefined {
  if (!text.includes(spreadFormat)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const result = document.safeParse(parsed);
  if (!result.success)
    throw new Fault(
      'MODEL_INVALID',
      'The pairwise file is not in the expected form.',
      'Write it with "fugu learn columns --pairwise".',
      {
        place: { file },
      },
    );
  const { columns, confidence, tilts, worst, origin } = result.data;
  const others = columns.length - 1;
  // the value for disjoint laws is the most there is, so a larger number is a mistake and a bound at the same time
  const capped = tilts.map((t) => ({ tilt: t.tilt, spread: Math.min(t.spread, nextUp(t.tilt * others)) }));
  return { spread: { columns: columns.length, names: columns, confidence, tilts: capped, worst }, origin };
}

export const writeSpread = ({ spread, origin }: DeclaredSpread): string =>
  `${JSON.stringify(
    {
      format: spreadFormat,
      origin,
      columns: spread.names,
      confidence: spread.confidence,
      tilts: spread.tilts,
      worst: spread.worst,
    },
    null,
    1,
  )}\n`;
