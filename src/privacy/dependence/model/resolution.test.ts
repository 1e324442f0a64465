import { describe, expect, it } from 'vitest';
import { category, multi, number } from '../../../../test/sample-policy.js';
import { Fault } from '../../../base/errors.js';
import type { Column } from '../../../policy/policy.js';
import { isFinest, resolutionOf, resolutionWords } from './resolution.js';
import { columnLevels, namedLevels, type ValueLevels } from './value-levels.js';

const refuse = (message: string, hint: string) => new Fault('MODEL_INVALID', message, hint);
const read = (column: Column, levels: ValueLevels) => columnLevels(column, levels, refuse);
const digest = (...list: readonly (readonly [Column, ValueLevels])[]) =>
  resolutionOf(
    list.map(([column, levels]) => read(column, levels)),
    refuse,
  ).digest;

const party = category('party', ['dem', 'rep', 'green']);
const age = number('age', '0', '99');
const pooled: ValueLevels = [['dem'], ['rep', 'green'], [null]];
const decades = (...edges: readonly number[]): ValueLevels => {
  const firsts = [0, ...edges];
  return [...firsts.map((from, i) => [{ from: `${from}`, to: `${(firsts[i + 1] ?? 100) - 1}` }]), [null]];
};

describe('the resolution of a model', () => {
  it('the resolution is independent of the order and spelling of its levels', () => {
    const first = digest([party, pooled], [age, decades(50)]);
    expect(digest([age, [...decades(50)].reverse()], [party, [[null], ['green', 'rep'], ['dem']]])).toBe(first);
    const pieces: ValueLevels = [
      [
        { from: '0', to: '9' },
        { from: '10', to: '49' },
      ],
      [{ from: '50', to: '99' }],
      [null],
    ];
    expect(digest([party, pooled], [age, pieces])).toBe(first);
    expect(digest([category('party', ['green', 'rep', 'dem']), pooled], [age, decades(50)])).toBe(first);
  });

  it('the resolution changes with the levels, the declared values, or the place of no answer', () => {
    const all = [
      digest([party, pooled]),
      digest([party, [['dem', 'rep'], ['green'], [null]]]),
      digest([party, [['dem'], ['rep'], ['green'], [null]]]),
      digest([party, [['dem'], ['rep', 'green', null]]]),
      digest([party, [['dem'], ['rep', 'green']]]),
      digest([category('other', ['dem', 'rep', 'green']), pooled]),
      digest([category('party', ['dem', 'rep', 'green', 'lib']), [['dem'], ['rep', 'green'], ['lib'], [null]]]),
      digest([age, decades(50)]),
      digest([age, decades(51)]),
      digest([number('age', '0', '99', '1', { missing: ['99'] }), decades(50)]),
      digest([number('age', '0', '109'), [[{ from: '0', to: '49' }], [{ from: '50', to: '109' }], [null]]]),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('a resolution is finest if every declared value is a level of its own', () => {
    expect(isFinest(read(party, namedLevels(party, ['(missing)', 'green', 'dem', 'rep'])))).toBe(true);
    expect(isFinest(read(party, namedLevels(party, ['green', 'dem', 'rep'])))).toBe(true);
    expect(isFinest(read(party, pooled))).toBe(false);
    expect(isFinest(read(party, [['dem'], ['rep'], ['green', null]]))).toBe(false);
    const few = number('few', '0', '2');
    expect(isFinest(read(few, namedLevels(few, ['2', '0', '1', '(missing)'])))).toBe(true);
    expect(isFinest(read(few, [['0'], ['1', '2'], [null]]))).toBe(false);
    expect(isFinest(read(few, [['0', '2'], ['1'], [null]]))).toBe(false);
  });

  it('the reader matches numbers and codes to the declared values in any spelling', () => {
    const tenths = number('x', '0', '0.3', '0.1');
    expect(isFinest(read(tenths, namedLevels(tenths, ['0', '0.1', '0.20', '3/10'])))).toBe(true);
    const codes = category('c', ['1', '2', '(missing)']);
    expect(read(codes, namedLevels(codes, ['1.0', ' 2', '(missing)'])).missing).toBeUndefined();
  });

  it.each<[string, Column, ValueLevels, RegExp]>([
    ['a code that is not declared', party, [['dem'], ['rep'], ['green'], ['lib']], /"lib", which it does not have/],
    ['a code that is left out', party, [['dem'], ['rep'], [null]], /nothing about the value "green"/],
    [
      'a code twice',
      party,
      [
        ['dem', 'rep'],
        ['rep', 'green'],
      ],
      /"rep" of "party" twice/,
    ],
    ['a range of codes', party, [[{ from: 'dem', to: 'rep' }], ['green']], /it holds codes/],
    [
      'two places of no answer',
      party,
      [
        ['dem', null],
        ['rep', 'green', null],
      ],
      /two levels/,
    ],
    ['a number between the steps', age, [[{ from: '0', to: '49.5' }], [{ from: '50', to: '99' }]], /none of its numbers/],
    ['a number outside the bounds', age, [[{ from: '-1', to: '99' }]], /none of its numbers/],
    ['no number', age, [[{ from: '0', to: 'old' }]], /none of its numbers/],
    ['a gap', age, [[{ from: '0', to: '49' }], [{ from: '51', to: '99' }]], /gap or overlap/],
    ['an overlap', age, [[{ from: '0', to: '50' }], [{ from: '50', to: '99' }]], /gap or overlap/],
    [
      'a range backwards',
      age,
      [
        [
          { from: '0', to: '99' },
          { from: '99', to: '98' },
        ],
      ],
      /gap or overlap/,
    ],
    ['numbers left out', age, [[{ from: '0', to: '98' }], [null]], /nothing about some numbers/],
    ['options', multi('media', ['tv', 'web']), [['tv'], ['web']], /sets of options/],
  ])('the reader refuses %s', (_, column, levels, message) => {
    expect(() => read(column, levels)).toThrow(message);
  });

  it('the models about one column share one resolution', () => {
    expect(() => digest([party, pooled], [party, [['dem', 'rep'], ['green'], [null]]])).toThrow(/different levels/);
    expect(digest([party, pooled], [party, [...pooled].reverse()])).toBe(digest([party, pooled]));
  });

  it('the resolution text names coarse columns, and columns that everybody answers', () => {
    const words = (levels: ValueLevels) => resolutionWords(resolutionOf([read(party, levels)], refuse)).join(' ');
    expect(words(pooled)).toMatch(/know "party" by levels only.*while every release reads whole levels/);
    expect(words(namedLevels(party, party.type === 'category' ? party.values : []))).toMatch(/Everybody answers "party"/);
    expect(words([['dem'], ['rep'], ['green'], [null]])).toBe('');
  });
});

/** Why coarse tables say so little, in worlds of fair bits; each histogram costs e, so a bit that decides another costs it again. */
describe('limits of independence between levels', () => {
  const cost = 0.5;
  type World = readonly { readonly level: readonly number[]; readonly inside: number }[];
  /** Largest log-likelihood ratio of histograms of all levels between two events, given what else is known. */
  const loss = (world: World, a: (w: World[number]) => boolean, b: (w: World[number]) => boolean): number => {
    const columns = world[0]!.level.length;
    let worst = 0;
    for (let seen = 0; seen < 2 ** columns; seen++) {
      const mean = (event: typeof a) => {
        const who = world.filter(event);
        const likelihood = (w: World[number]) => Math.exp(cost * w.level.filter((v, j) => v === ((seen >> j) & 1)).length);
        return who.reduce((sum, w) => sum + likelihood(w), 0) / who.length;
      };
      worst = Math.max(worst, Math.log(mean(a) / mean(b)));
    }
    return worst;
  };
  const bits = (n: number) => Array.from({ length: 2 ** n }, (_, k) => Array.from({ length: n }, (_, j) => (k >> j) & 1));

  it('independent levels can be dependent to somebody who knows a value inside one of them: two bits and their exclusive or', () => {
    const world: World = bits(2).map(([x, y]) => ({ level: [x!, y!], inside: x! ^ y! }));
    const about = (bit: number, known?: number) => (w: World[number]) =>
      w.level[0] === bit && (known === undefined || w.inside === known);
    expect(loss(world, about(1), about(0))).toBeCloseTo(cost, 9);
    expect(loss(world, about(1, 0), about(0, 0))).toBeCloseTo(2 * cost, 9);
  });

  it('independent levels can depend on the value inside one of them: a number and its bits', () => {
    const world: World = bits(5).map((level, inside) => ({ level, inside }));
    expect(
      loss(
        world,
        (w) => w.level[0] === 1,
        (w) => w.level[0] === 0,
      ),
    ).toBeCloseTo(cost, 9);
    expect(
      loss(
        world,
        (w) => w.inside === 31,
        (w) => w.inside === 0,
      ),
    ).toBeCloseTo(5 * cost, 9);
  });
});
