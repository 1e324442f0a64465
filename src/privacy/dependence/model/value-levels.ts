import * as z from 'zod';
import type { Fault } from '../../../base/errors.js';
import { divide, floor, parseRational, type Rational, subtract, toText } from '../../../base/exact/rational.js';
import { codesOf, codeText, missingLabel } from '../../../policy/code.js';
import type { CategoryColumn, Column, NumberColumn, WeightColumn } from '../../../policy/policy.js';
import type { CodeLevels, ColumnLevels, GridLevels } from './resolution.js';

/** Levels as in model files: the list of values in each. null is no answer, {from, to} a range of numbers, both ends included. */
export type ValueLevels = readonly (readonly LevelValue[])[];
export type LevelValue = string | null | { readonly from: string; readonly to: string };
export const valueLevels = z
  .array(z.array(z.union([z.string(), z.null(), z.strictObject({ from: z.string(), to: z.string() })])).min(1))
  .min(1);

type Refuse = (message: string, hint: string) => Fault;
const learnAgain =
  'Levels must hold each declared value of the column exactly once; what "fugu learn columns" writes does, until the column is declared anew.';

/** Levels of a column, checked against its declared values: each in exactly one level, and no others. */
export function columnLevels(column: Column, levels: ValueLevels, refuse: Refuse): ColumnLevels {
  if (column.type === 'multi')
    throw refuse(
      `The model gives the multi-select column "${column.name}" single values; its answers are sets of options.`,
      'Tie it by an odds ratio (kind: factors), mark it public: true, or leave it out of the policy.',
    );
  const missing = placeOfMissing(column, levels, refuse);
  const common = { column: column.name, ...(missing !== undefined && { missing }) };
  if (column.type === 'category')
    return { ...common, domain: JSON.stringify([...codesOf(column)].sort()), values: codeLevels(column, levels, refuse) };
  const { bounds, step } = column;
  const domain = JSON.stringify([toText(bounds[0]), toText(bounds[1]), toText(step), [...column.missing].sort()]);
  return { ...common, domain, values: gridLevels(column, levels, refuse) };
}

/** Levels named after their values: every declared value by itself, in any order. */
export const namedLevels = (column: Column, names: readonly string[]): ValueLevels => {
  const isCode = (name: string): boolean => column.type === 'category' && codesOf(column).includes(codeText(name));
  return names.map((name) => [name === missingLabel && !isCode(name) ? null : name]);
};

function placeOfMissing(column: Column, levels: ValueLevels, refuse: Refuse): number | undefined {
  const places = levels.flatMap((level, k) => level.filter((value) => value === null).map(() => k));
  if (places.length > 1) throw refuse(`The model puts "no answer" of "${column.name}" into two levels.`, learnAgain);
  return places[0];
}

function codeLevels(column: CategoryColumn, levels: ValueLevels, refuse: Refuse): CodeLevels {
  const codes = codesOf(column);
  const levelOf = new Map<string, number>();
  for (const [k, level] of levels.entries())
    for (const value of level) {
      if (value === null) continue;
      const code = typeof value === 'string' ? codeText(value) : undefined;
      if (code === undefined || !codes.includes(code))
        throw refuse(
          code === undefined
            ? `The model gives the column "${column.name}" a range of numbers; it holds codes.`
            : `The model gives the column "${column.name}" the value "${code}", which it does not have.`,
          learnAgain,
        );
      if (levelOf.has(code)) throw refuse(`The model lists the value "${code}" of "${column.name}" twice.`, learnAgain);
      levelOf.set(code, k);
    }
  const left = codes.find((code) => !levelOf.has(code));
  if (left !== undefined)
    throw refuse(`The model says nothing about the value "${left}" of the column "${column.name}".`, learnAgain);
  return { kind: 'codes', levelOf };
}

function gridLevels(column: NumberColumn | WeightColumn, levels: ValueLevels, refuse: Refuse): GridLevels {
  const [low, high] = column.bounds;
  const last = Number(floor(divide(subtract(high, low), column.step)));
  const none = (): Fault =>
    refuse(
      `The model gives the column "${column.name}" a value that is none of its numbers (bounds ${toText(low)} to ${toText(high)}, step ${toText(column.step)}).`,
      learnAgain,
    );
  const position = (text: string): number => {
    const at = divide(subtract(number(text, none), low), column.step);
    if (at.den !== 1n || at.num < 0n || at.num > BigInt(last)) throw none();
    return Number(at.num);
  };
  const runs = levels
    .flatMap((level, k) =>
      level.flatMap((value) => {
        if (value === null) return [];
        const [from, to] = typeof value === 'string' ? [value, value] : [value.from, value.to];
        return [{ from: position(from), to: position(to), level: k }];
      }),
    )
    .sort((a, b) => a.from - b.from);
  let next = 0;
  const merged: { readonly from: number; readonly level: number }[] = [];
  for (const { from, to, level } of runs) {
    if (from !== next || to < from)
      throw refuse(`The model's levels of the column "${column.name}" leave a gap or overlap.`, learnAgain);
    if (merged.at(-1)?.level !== level) merged.push({ from, level });
    next = to + 1;
  }
  if (next !== last + 1) throw refuse(`The model says nothing about some numbers of the column "${column.name}".`, learnAgain);
  return { kind: 'grid', last, runs: merged };
}

function number(text: string, none: () => Fault): Rational {
  try {
    return parseRational(text);
  } catch {
    throw none();
  }
}

/** Every declared value of a column by itself. */
export const singleValueLevels = (column: CategoryColumn): ValueLevels => [...codesOf(column).map((code) => [code]), [null]];
