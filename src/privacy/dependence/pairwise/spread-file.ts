import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { nextUp } from '../../../base/exact/rational.js';
import { parseJson } from '../../../base/input/json.js';
import { type ValueLevels, valueLevels } from '../model/value-levels.js';
import type { TableOrigin } from './amplifier.js';
import type { PairwiseSpread } from './leakage.js';

/**
 * Everything that the pairwise bound needs about a survey: three numbers, their origin, and the columns and values they apply to.
 */
const spreadFormat = 'fugu-pairwise/2';
const anyFormat = 'fugu-pairwise/';

const document = z.strictObject({
  format: z.literal(spreadFormat),
  origin: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('public'), from: z.string().min(1) }),
    z.strictObject({ kind: z.literal('unpaid') }),
    z.strictObject({ kind: z.literal('paid') }),
  ]),
  columns: z.array(z.string().min(1)).min(1),
  /** Declared values in the levels of each column; secrets refer to levels by position. */
  levels: z.array(valueLevels),
  resolution: z.string(),
  /** The public columns within whose answers the tables were counted. */
  known: z.array(z.string()),
  confidence: z.number().gt(0).max(1),
  tilts: z.array(z.strictObject({ tilt: z.number().positive(), spread: z.number().nonnegative() })).min(1),
  /** Positions of the levels that are one secret together, per column. */
  secrets: z.array(z.array(z.array(z.number().int().nonnegative()))).optional(),
  forms: z.literal(true).optional(),
  /** Only answers that at least this many sampled rows gave are covered. */
  least: z.number().int().positive().optional(),
  /**
   * Privacy loss that the strongest known attack reached on the rows the file was learned from, as a share of epsilon. For
   * readers, not used in bounds.
   */
  attack: z.strictObject({ epsilon: z.number(), inSample: z.number(), heldOut: z.number() }).optional(),
});

/** Spread with the columns and levels of its tables. */
export interface SpreadTables {
  readonly spread: PairwiseSpread;
  readonly levels: readonly ValueLevels[];
  readonly resolution: string;
  readonly known: readonly string[];
}
export interface DeclaredSpread extends SpreadTables {
  readonly origin: TableOrigin;
  readonly attack?: AttackFigure;
}
/** loss / epsilon of the whole-survey attack against a release at this epsilon. */
export interface AttackFigure {
  readonly epsilon: number;
  readonly inSample: number;
  readonly heldOut: number;
}

/** Undefined when the text is some other kind of file (a network). */
export function readSpread(text: string, file: string): DeclaredSpread | undefined {
  if (!text.includes(anyFormat)) return undefined;
  if (!text.includes(spreadFormat))
    throw new Fault(
      'MODEL_INVALID',
      'The pairwise file is of an earlier form, which does not say what values its tables held apart.',
      'Learn it again with "fugu learn columns --pairwise".',
      { place: { file } },
    );
  let parsed: unknown;
  try {
    parsed = parseJson(text, { file });
  } catch (error) {
    if (error instanceof Fault) throw error;
    parsed = undefined;
  }
  const result = document.safeParse(parsed);
  if (!result.success || !isWhole(result.data))
    throw new Fault(
      'MODEL_INVALID',
      'The pairwise file is not in the expected form.',
      'Write it with "fugu learn columns --pairwise".',
      {
        place: { file },
      },
    );
  const { columns, confidence, tilts, secrets, forms, least, origin, attack, levels, resolution, known } = result.data;
  const others = columns.length - 1;
  // A value above that of disjoint distributions is a mistake, though still a bound.
  const capped = tilts.map((t) => ({ tilt: t.tilt, spread: Math.min(t.spread, nextUp(t.tilt * others)) }));
  return {
    spread: {
      columns: columns.length,
      names: columns,
      confidence,
      tilts: capped,
      ...(secrets && { secrets }),
      ...(forms && { forms }),
      ...(least !== undefined && { least }),
    },
    levels,
    resolution,
    known,
    origin,
    ...(attack && { attack }),
  };
}

/** Levels for every column, and every level in one secret. */
const isWhole = ({ columns, levels, secrets }: z.infer<typeof document>): boolean =>
  levels.length === columns.length &&
  new Set(columns).size === columns.length &&
  (secrets === undefined ||
    (secrets.length === columns.length &&
      secrets.every((groups, c) => {
        const places = groups.flat();
        return (
          places.length === levels[c]!.length && new Set(places).size === places.length && Math.max(...places) < places.length
        );
      })));

export const writeSpread = ({ spread, levels, resolution, known, origin, attack }: DeclaredSpread): string =>
  `${JSON.stringify(
    {
      format: spreadFormat,
      origin,
      columns: spread.names,
      levels,
      resolution,
      known,
      confidence: spread.confidence,
      tilts: spread.tilts,
      ...(spread.secrets && { secrets: spread.secrets }),
      ...(spread.forms && { forms: true }),
      ...(spread.least !== undefined && { least: spread.least }),
      ...(attack && { attack }),
    },
    null,
    1,
  )}\n`;
