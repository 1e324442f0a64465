import { codesOf } from '../../policy/code.js';
import { isCoded } from '../../policy/domain.js';
import { gridOf } from '../../policy/grid.js';
import type { Column } from '../../policy/policy.js';
import { isLeaf, type LeafTest, type RowTest } from '../count/row-test.js';
import { shortHash } from './short-hash.js';

/** Columns that tests name: the canonical reference of each (same/columns.ts) and its declaration. */
export interface CanonicalColumns {
  ref(name: string): string;
  declared(name: string): Column;
}

/** Value of a column: a code, a range of positions, or missing. */
type Atom = string | readonly [from: number, to: number];
const none = '-';
const isSpan = (atom: Atom): atom is readonly [number, number] => typeof atom !== 'string';

/** True, false, one variable within a set, or several of these. */
type Formula = boolean | BooleanVariable | { readonly all: boolean; readonly parts: readonly Formula[] };
interface BooleanVariable {
  readonly of: string;
  readonly within: (atom: Atom) => boolean;
  readonly text: string;
}

/** Most steps of the construction; beyond them, tests are compared as they are written, which is never wrong. */
const maxSteps = 20_000;

/**
 * Canonical text of tests: their reduced ordered decision diagram (Bryant 1986) over the columns in order of their names.
 * Equal texts mean equal functions; the converse holds where no column depends on another.
 */
export function testsText(tests: readonly RowTest[], columns: CanonicalColumns): string {
  const atoms = new Map<string, readonly Atom[]>();
  const formula = joined(
    true,
    tests.map((test) => formulaOf(test, columns, atoms)),
  );
  const order = [...atoms.keys()].sort();
  const alike = new Map(order.map((name) => [name, atomClasses(cut(atoms.get(name)!), literalsIn(formula, name))]));
  const known = new Map<string, string>();
  let steps = 0;
  const node = (f: Formula, at: number): string => {
    if (typeof f === 'boolean') return `${f}`;
    const text = `${at} ${formulaText(f)}`;
    const there = known.get(text);
    if (there !== undefined) return there;
    const name = order[at]!;
    const branches = new Map<string, Atom[]>();
    for (const same of alike.get(name)!) {
      if (++steps > maxSteps) throw new TooMany();
      const next = node(assigned(f, name, same[0]!), at + 1);
      branches.set(next, [...(branches.get(next) ?? []), ...same]);
    }
    const found =
      branches.size === 1
        ? [...branches.keys()][0]!
        : shortHash([name, [...branches].map(([to, own]) => [to, merged(own)]).sort(byText)]);
    known.set(text, found);
    return found;
  };
  try {
    return node(formula, 0);
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return shortHash(['as written', formulaText(formula)]);
  }
}
class TooMany extends Error {}
const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

function joined(all: boolean, parts: readonly Formula[]): Formula {
  const left = parts.filter((part) => part !== all);
  if (left.includes(!all)) return !all;
  if (left.length === 0) return all;
  return left.length === 1 ? left[0]! : { all, parts: left };
}
function assigned(f: Formula, name: string, atom: Atom): Formula {
  if (typeof f === 'boolean') return f;
  if ('of' in f) return f.of === name ? f.within(atom) : f;
  return joined(
    f.all,
    f.parts.map((part) => assigned(part, name, atom)),
  );
}
const formulaText = (f: Formula): string => {
  if (typeof f === 'boolean') return `${f}`;
  return 'of' in f ? f.text : JSON.stringify([f.all, f.parts.map(formulaText).sort()]);
};

function formulaOf(test: RowTest, columns: CanonicalColumns, atoms: Map<string, readonly Atom[]>): Formula {
  if (isLeaf(test)) return leafOf(test, columns, atoms);
  return joined(
    test.kind === 'all',
    test.tests.map((part) => formulaOf(part, columns, atoms)),
  );
}

function leafOf(test: LeafTest, columns: CanonicalColumns, atoms: Map<string, readonly Atom[]>): Formula {
  const [ref, column] = [columns.ref(test.column), columns.declared(test.column)];
  const variable = (of: string, own: readonly Atom[], within: (atom: Atom) => boolean, text: string): Formula => {
    atoms.set(of, [...(atoms.get(of) ?? []), ...own]);
    return { of, within, text: `${of} ${text}` };
  };
  if (column.type === 'multi') {
    // Each option of a multi-select column is a variable of its own; a row that names none has no answer.
    const names = (code: string, yes: boolean) =>
      variable(`${ref}=${code}`, [none, 'named'], (atom) => (atom !== none) === yes, `${yes}`);
    const each = (all: boolean, codes: readonly string[], yes: boolean) => joined(all, codes.map((code) => names(code, yes))); // biome-ignore format: one line
    const present = () => each(false, codesOf(column), true);
    if (test.kind !== 'code') return test.negate ? present() : each(true, codesOf(column), false);
    return test.negate ? joined(true, [present(), each(true, test.codes, false)]) : each(false, test.codes, true);
  }
  const whole: readonly Atom[] = isCoded(column) ? codesOf(column).map((code) => `=${code}`) : [[0, gridOf(column).last]];
  const all = [none, ...whole];
  if (test.kind === 'missing') return variable(ref, all, (atom) => (atom === none) !== test.negate, `missing ${test.negate}`);
  if (test.kind === 'code') {
    const named = new Set(test.codes.map((code) => `=${code}`));
    return variable(
      ref,
      all,
      (atom) => atom !== none && named.has(atom as string) !== test.negate,
      JSON.stringify([test.codes, test.negate]),
    );
  }
  const { from, to, negate } = test;
  const inside = (atom: Atom) => isSpan(atom) && (atom[0] >= from && atom[1] <= to) !== negate;
  const { last } = gridOf(column as Parameters<typeof gridOf>[0]);
  const ends = [[Math.max(0, from), Math.min(last, to)] as const].filter(([a, b]) => a <= b);
  return variable(ref, [...all, ...ends], inside, JSON.stringify([from, to, negate]));
}

function literalsIn(f: Formula, name: string): readonly BooleanVariable[] {
  if (typeof f === 'boolean') return [];
  if ('of' in f) return f.of === name ? [f] : [];
  return f.parts.flatMap((part) => literalsIn(part, name));
}

/** Classes of values that no test distinguishes, so that each is examined once. */
function atomClasses(list: readonly Atom[], literals: readonly BooleanVariable[]): readonly (readonly Atom[])[] {
  const classes = new Map<string, Atom[]>();
  for (const atom of list) {
    const sign = literals.map(({ within }) => (within(atom) ? '1' : '0')).join('');
    const own = classes.get(sign);
    if (own) own.push(atom);
    else classes.set(sign, [atom]);
  }
  return [...classes.values()];
}

/** Ranges are split where any of them begins or ends; all else is kept once. */
function cut(list: readonly Atom[]): readonly Atom[] {
  const spans = list.filter(isSpan);
  const starts = [...new Set(spans.flatMap(([from, to]) => [from, to + 1]))].sort((a, b) => a - b);
  return [
    ...new Set(list.filter((atom) => !isSpan(atom))),
    ...starts.slice(0, -1).map((from, i) => [from, starts[i + 1]! - 1] as const),
  ];
}
/** Spans that meet are one. */
function merged(list: readonly Atom[]): readonly Atom[] {
  const out: Atom[] = list.filter((atom) => !isSpan(atom)).sort();
  let last: [number, number] | undefined;
  for (const [from, to] of list.filter(isSpan).sort((a, b) => a[0] - b[0])) {
    if (last && last[1] + 1 === from) last[1] = to;
    else {
      last = [from, to];
      out.push(last);
    }
  }
  return out;
}
