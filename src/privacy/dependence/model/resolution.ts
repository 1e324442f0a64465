import type { Fault } from '../../../base/errors.js';
import { sha256 } from '../../../base/platform/hash.js';

/**
 * Levels of each column's declared values (codes, grid positions, no answer) that tables distinguish. Proofs from tables hold for
 * secrets and releases that are constant on these levels, and for no others (resolution.proof.md).
 */
export interface Resolution {
  readonly columns: ReadonlyMap<string, ColumnLevels>;
  /** Of the declared values and their levels: another domain or another partition is another resolution. */
  readonly digest: string;
}

export interface ColumnLevels {
  readonly column: string;
  /** The column's declared values, as text for the digest. */
  readonly domain: string;
  readonly values: CodeLevels | GridLevels;
  /** The level of no answer; absent where the tables say that everybody answers. */
  readonly missing?: number;
}
export interface CodeLevels {
  readonly kind: 'codes';
  readonly levelOf: ReadonlyMap<string, number>;
}
/** Runs of grid positions, from 0 to `last` without a gap. */
export interface GridLevels {
  readonly kind: 'grid';
  readonly last: number;
  readonly runs: readonly { readonly from: number; readonly level: number }[];
}

type Refuse = (message: string, hint: string) => Fault;

/** Numbered by first appearance, so that the order in which a file lists levels does not matter. */
function partition({ values, missing }: ColumnLevels): unknown {
  const numbers = new Map<number, number>();
  const numbered = (level: number): number => {
    if (!numbers.has(level)) numbers.set(level, numbers.size);
    return numbers.get(level)!;
  };
  const placed =
    values.kind === 'codes'
      ? [...values.levelOf].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, level]) => [code, numbered(level)])
      : values.runs.map(({ from, level }) => [from, numbered(level)]);
  return [placed, missing === undefined ? null : numbered(missing)];
}
const textOf = (levels: ColumnLevels): string => JSON.stringify([levels.column, levels.domain, partition(levels)]);

/** Common resolution of several models; those about the same column must distinguish the same levels. */
export function resolutionOf(list: readonly ColumnLevels[], refuse: Refuse): Resolution {
  const columns = new Map<string, ColumnLevels>();
  for (const levels of list) {
    const known = columns.get(levels.column);
    if (known && textOf(known) !== textOf(levels))
      throw refuse(
        `Two models speak about different levels of the column "${levels.column}".`,
        'Give both the same levels: what one holds apart the other knows nothing about.',
      );
    columns.set(levels.column, levels);
  }
  const text = [...columns.values()].map(textOf).sort();
  return { columns, digest: sha256(JSON.stringify(text)) };
}

/** True if every declared value is a level of its own. */
export function isFinest({ values, missing }: ColumnLevels): boolean {
  const levels = values.kind === 'codes' ? [...values.levelOf.values()] : values.runs.map(({ level }) => level);
  const alone = new Set(levels).size === levels.length && (missing === undefined || !levels.includes(missing));
  return alone && (values.kind === 'codes' || values.runs.length === values.last + 1);
}

/** Columns in which some level holds several declared values. */
export const coarseColumns = ({ columns }: Resolution): readonly string[] =>
  [...columns.values()].filter((levels) => !isFinest(levels)).map(({ column }) => column);

export function columnList(names: readonly string[]): string {
  const shown = names.slice(0, 6).map((name) => `"${name}"`);
  return `${shown.join(', ')}${names.length > shown.length ? ` and ${names.length - shown.length} more columns` : ''}`;
}

/** Sentences that a reader needs to know about the resolution. */
export function resolutionWords(resolution: Resolution): readonly string[] {
  const coarse = coarseColumns(resolution);
  const answered = [...resolution.columns.values()].filter((c) => c.missing === undefined).map(({ column }) => column);
  return [
    ...(coarse.length > 0
      ? [
          `The tables know ${columnList(coarse)} by levels only (ranges of numbers, pooled answers): what is protected by them is the level an answer lies in; which value of its level it is, is protected by composition only. They hold while every release reads whole levels.`,
        ]
      : []),
    ...(answered.length > 0 ? [`Everybody answers ${columnList(answered)}: the tables know no missing answer there.`] : []),
  ];
}
