import { describe, expect, it } from 'vitest';
import { processorTime } from '../../../../test/processor-time.js';
import { readVectors } from '../../../../test/vectors.js';
import { toText } from '../../../base/exact/rational.js';
import { analysePatternText, schemaFromText } from './analyse.js';
import { shortcut } from './shortcut.js';

const analyse = (text: string, m = 10_000, log: 'safe' | 'natural' = 'natural') =>
  analysePatternText(text, schemaFromText(text, m), { log, occurrences: false });
const written = (name: string) => shortcut(name, 'R')!.text;

/** The rows of the stability table: text, goals, variables, stable, least density, global sensitivity and lambda (natural) at m = 10,000. */
type Row = readonly [
  name: string,
  text: string,
  goals: number,
  variables: number,
  stable: boolean,
  density: string,
  sensitivity?: bigint | number,
  noise?: number,
];
const rows: readonly Row[] = [
  ['triangle', 'q(x,y,z):-R(x,y),R(y,z),R(z,x),all_distinct(x,y,z)', 3, 3, true, '2', 29_994n, 7.04e6],
  ['2-path', 'q(x,y,z):-R(x,y),R(y,z),all_distinct(x,y,z)', 2, 3, true, '1', 19_996n, 1.18e3],
  ['4-cycle', written('4-cycles'), 4, 4, true, '3/2', 4e8, 2.05e11],
  ['5-cycle', written('5-cycles'), 5, 5, true, '4/3', 5e12, 1.49e16],
  ['6-cycle without disequalities', 'q():-R(a,b),R(b,c),R(c,d),R(d,e),R(e,f),R(f,a)', 6, 6, true, '5/4'],
  ['2 steps from v', written("2-paths from 'v'"), 2, 2, true, '1', 10_000n, 884],
  ['3 steps from v', "q(z):-R('v',x),R(x,y),R(y,z)", 3, 3, true, '1', 10_000n, 7.04e6],
  ['6 steps from v', written("6-paths from 'v'"), 6, 6, true, '1', 10_000n],
  ['4-clique', written('4-cliques'), 6, 4, true, '5/2', 6e8, 4.1e20],
  ['diamond', written('2-triangles'), 5, 4, true, '2', 5e8, 7.2e15],
  ['3-star', 'q(c,x,y,z):-R(c,x),R(c,y),R(c,z),all_distinct(x,y,z)', 3, 4, true, '1', 3e8, 1.1e7],
  ['two triangles', 'q():-R(a,b),R(b,c),R(c,a),R(d,e),R(e,f),R(f,d)', 6, 6, true, '1'],
  ['cross product', 'q():-R(x,y),R(z,w)', 2, 4, false, '1/2'],
  ['triangle times edge', 'q():-R(a,b),R(b,c),R(c,a),R(d,e)', 4, 5, false, '1/2'],
  ['unary times ternary', 'q():-U(x),T(x,y,z)', 2, 3, false, '1/2'],
  ['edge of v times a free edge', "q():-R('v',x),R(y,z)", 2, 3, false, '1/2'],
  ['the paper’s stable query that is not dense', 'q():-T(x,y,z),T(x,z,y),T(x,y,y)', 3, 3, true, '2'],
];

describe('the analysis of a pattern', () => {
  it.each(rows.map((row) => ({ row, name: row[0] })))('the analysis of $name is as expected', ({ row }) => {
    const [, text, goals, variables, stable, density, sensitivity, noise] = row;
    const a = analyse(text);
    expect([a.pattern.goals.length, a.pattern.variables.length]).toEqual([goals, variables]);
    expect(a.stability.stable).toBe(stable);
    expect(toText(a.stability.density!)).toBe(density);
    expect(a.stability.witness === undefined).toBe(stable);
    if (typeof sensitivity === 'bigint') expect(a.bounds.globalSensitivity).toBe(sensitivity);
    else if (sensitivity !== undefined) expect(Number(a.bounds.globalSensitivity) / sensitivity).toBeCloseTo(1, 2);
    if (noise !== undefined) expect(a.lambda.shown / noise).toBeCloseTo(1, 1);
  });

  it('the analysis explains in words why a query is not stable', () => {
    expect(analyse('q():-U(x),T(x,y,z)').stability.witness).toBe(
      'adding U(x0) can add every (y, z) with T(x0, y, z): 1 goal, 2 free variables (density 1/2)',
    );
  });

  it('the analysis finds the triangle and the walk from v dense and the 2-path not', () => {
    expect(
      rows
        .filter((r) => ['triangle', '2-path', '2 steps from v', 'the paper’s stable query that is not dense'].includes(r[0]))
        .map((r) => analyse(r[1]).stability.dense),
    ).toEqual([true, false, true, false]);
  });

  it('the analysis decides six goals and six variables without disequalities at once', async () => {
    expect(await processorTime(() => analyse('q():-R(a,b),R(b,c),R(c,d),R(d,e),R(e,f),R(f,b)'))).toBeLessThan(50);
  });

  it('the analysis does not call a query stable that is too large to search', () => {
    const path = `q():-${Array.from({ length: 11 }, (_, i) => `R(x${i},x${i + 1})`).join()}`;
    expect(analyse(path).stability).toMatchObject({ stable: false, decided: false });
  });

  it('the analysis counts symmetries, and divides only when the division is exact', () => {
    expect(analyse(rows[0]![1]).automorphisms).toEqual({ count: 3, free: true });
    expect(analyse('q():-R(x,y),R(y,z),R(z,x)').automorphisms).toEqual({ count: 3, free: false });
    const undirected = analysePatternText('triangles', schemaFromText('triangles', 1000, { symmetric: true }));
    expect(undirected).toMatchObject({
      unit: 'occurrences',
      divisor: 6n,
      bounds: { globalSensitivity: 998n, most: (1000n * 999n * 998n) / 6n },
    });
  });

  it('the analysis rounds lambda up to a whole number under the safe reading, and never below the natural one', () => {
    for (const [, text] of rows) {
      const [safe, natural] = [analyse(text, 1000, 'safe'), analyse(text, 1000, 'natural')];
      expect(safe.lambda.used).toBeGreaterThanOrEqual(natural.lambda.used);
      expect(Number(natural.lambda.used)).toBeGreaterThanOrEqual(natural.lambda.shown * (1 - 1e-12));
    }
  });
});

describe('the algorithm21 vectors', () => {
  const texts: Readonly<Record<string, string>> = {
    triangle: written('triangles'),
    '2-path': written('2-paths'),
    '3-path': written('3-paths'),
    '4-cycle': written('4-cycles'),
    edge: written('edges'),
  };
  it('the test vectors are reproduced with the natural logarithm', () => {
    const list: { query: string; v: number; g: number; m: number; lambda: number; p: number }[] =
      readVectors('exact-loss').algorithm21;
    expect(list.length).toBeGreaterThan(0);
    for (const vector of list) {
      const a = analyse(texts[vector.query]!, vector.m);
      expect([a.pattern.goals.length, a.pattern.variables.length]).toEqual([vector.g, vector.v]);
      expect(a.lambda.shown / vector.lambda).toBeCloseTo(1, 9);
      expect(a.pattern.goals.length / vector.m).toBeCloseTo(vector.p, 12);
    }
  });
});
