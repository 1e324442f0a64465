import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compare, rational } from '../../../base/exact/rational.js';
import { schemaFromText } from './analyse.js';
import { type BoundPattern, bindPattern } from './bind.js';
import { parsePattern } from './parse.js';
import { stability } from './stability.js';

/** The definition as printed, without any shortcut: derivatives of every order, each tested over all its homomorphic images. */
interface Query {
  readonly goals: readonly (readonly string[])[];
  readonly unequal: readonly (readonly [string, string])[];
}
const isVariable = (s: string) => /^[a-z]$/.test(s);
const symbols = (q: Query) => [...new Set(q.goals.flatMap((g) => g.slice(1)))];
const asSet = (goals: readonly (readonly string[])[]) => [...new Map(goals.map((g) => [g.join(' '), g])).values()].sort();

function substitute(q: Query, map: ReadonlyMap<string, string>): Query | undefined {
  const to = (s: string) => map.get(s) ?? s;
  const unequal = q.unequal.map(([a, b]) => [to(a), to(b)] as const);
  if (unequal.some(([a, b]) => a === b)) return undefined;
  return { goals: asSet(q.goals.map(([r, ...args]) => [r!, ...args.map(to)])), unequal };
}

function* maps(from: readonly string[], to: readonly string[]): Generator<Map<string, string>> {
  if (from.length === 0) {
    yield new Map();
    return;
  }
  for (const rest of maps(from.slice(1), to)) for (const target of to) yield new Map(rest).set(from[0]!, target);
}

/** Least density over the images of one query; infinite without variables. */
function leastImage(q: Query, constants: readonly string[]): number {
  const variables = symbols(q).filter(isVariable);
  let least = Number.POSITIVE_INFINITY;
  for (const h of maps(variables, [...variables, ...constants])) {
    const image = substitute(q, h);
    const free = image && symbols(image).filter(isVariable).length;
    if (image && free) least = Math.min(least, image.goals.length / free);
  }
  return least;
}

function literalDensity(q: Query, constants: readonly string[]): number {
  const seen = new Set<string>();
  let least = Number.POSITIVE_INFINITY;
  const derive = (current: Query, known: readonly string[], order: number): void => {
    const dummies = symbols(q)
      .filter(isVariable)
      .map((_, i) => `D${order}_${i}`);
    for (const goal of current.goals) {
      const variables = [...new Set(goal.slice(1).filter(isVariable))];
      for (const map of maps(variables, [...dummies.slice(0, Math.max(1, variables.length)), ...known])) {
        const placed = substitute(current, map);
        if (!placed) continue;
        const removed = goal.map((s, i) => (i === 0 ? s : (map.get(s) ?? s))).join(' ');
        const derivative = { goals: placed.goals.filter((g) => g.join(' ') !== removed), unequal: placed.unequal };
        const key = JSON.stringify(derivative);
        if (seen.has(key)) continue;
        seen.add(key);
        const named = symbols(derivative).filter((s) => !isVariable(s));
        least = Math.min(least, leastImage(derivative, named));
        derive(derivative, [...new Set([...known, ...named])], order + 1);
      }
    }
  };
  derive(q, constants, 1);
  return least;
}

const parse = (text: string): BoundPattern => bindPattern(parsePattern(text), schemaFromText(text, 100));

describe('the stability criterion', () => {
  it('the criterion agrees with the literal definition on random small queries', () => {
    const term = fc.constantFrom('x', 'y', 'z', 'x', 'y', 'z', "'A'");
    const atom = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.constant('R'), term, term).map(([r, a, b]) => [r, a, b]) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('U'), term).map(([r, a]) => [r, a]) },
    );
    let unstable = 0;
    fc.assert(
      fc.property(
        fc.array(atom, { minLength: 1, maxLength: 3 }),
        fc.subarray([
          ['x', 'y'],
          ['y', 'z'],
          ['x', 'z'],
        ] as [string, string][]),
        (atoms, wanted) => {
          const used = new Set<string>(atoms.flatMap((a) => a.slice(1)));
          const unequal = wanted.filter(([a, b]) => used.has(a) && used.has(b));
          const text = `q() :- ${[...atoms.map(([r, ...a]) => `${r}(${a.join(',')})`), ...unequal.map((u) => u.join(' != '))].join(', ')}`;
          const bare = atoms.map((a) => a.map((s) => s!.replaceAll("'", '')));
          const fast = stability(parse(text));
          const slow = literalDensity({ goals: asSet(bare), unequal }, bare.flat().includes('A') ? ['A'] : []);
          if (slow < 1) unstable++;
          expect(fast.stable, text).toBe(slow >= 1);
          const density = fast.density ? Number(fast.density.num) / Number(fast.density.den) : Number.POSITIVE_INFINITY;
          expect(density, text).toBeCloseTo(slow, 9);
        },
      ),
      { numRuns: 1000 },
    );
    expect(unstable).toBeGreaterThan(5);
  });

  it('every connected pattern of binary goals without constants is stable', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(1000), { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(4), fc.nat(4)), { maxLength: 2 }),
        (parents, extra) => {
          const v = (i: number) => `x${i}`;
          const edges = parents.map((p, i) => [i + 1, p % (i + 1)]);
          const more = extra.map(([a, b]) => [a % (parents.length + 1), b % (parents.length + 1)]);
          const text = `q() :- ${[...edges, ...more].map(([a, b]) => `R(${v(a!)}, ${v(b!)})`).join(', ')}`;
          const { density } = stability(parse(text));
          expect(density === undefined || compare(density, rational(1)) >= 0, text).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});
