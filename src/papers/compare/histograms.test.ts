import { describe, expect, it } from 'vitest';
import { readModel } from '../../dependence/model/model-file.js';
import { compareMechanisms } from './comparison.js';

const chain = (transition: readonly (readonly number[])[], length: number) =>
  readModel(JSON.stringify({ chain: { length, transition, initial: 'stationary' } }), 'chain.json');
const rows = (transition: readonly (readonly number[])[], length: number, epsilon = 1) => {
  const found = compareMechanisms(chain(transition, length), 'histogram', epsilon);
  return { ...found, by: new Map(found.mechanisms.map((m) => [m.name, m])) };
};
const p1 = [
  [0.9, 0.1],
  [0.4, 0.6],
];

describe('state frequencies of one long chain', () => {
  it('have every mechanism beside one another, two counts moved by a record', () => {
    const { by } = rows(p1, 100);
    expect([...by.keys()]).toEqual([
      'laplace',
      'markov-quilt',
      'markov-quilt-approximate',
      'zhao-robust',
      'group',
      'calculus',
      'calculus-informed',
      'wasserstein',
    ]);
    expect(by.get('markov-quilt')!.scale).toBeCloseTo(2 * 12.839964, 5);
    expect(by.get('zhao-robust')!.scale).toBeCloseTo(2 * 13.614535, 5);
    expect(by.get('group')!.scale).toBe(200);
    expect(by.get('wasserstein')!.scale).toBe(8);
    expect(by.get('calculus')!.scale).toBeLessThan(by.get('markov-quilt')!.scale);
    expect(by.get('calculus-informed')!.scale).toBeLessThan(by.get('zhao-robust')!.scale);
  });

  it('lose more than plain noise promises, and no more than the others do', () => {
    const { by, left } = rows(p1, 100);
    expect(by.get('laplace')!.holds).toBe(false);
    for (const m of by.values()) if (m.certified) expect(m.holds, m.name).toBe(true);
    expect(left.join(' ')).toContain('not applicable');
  });

  it('have inferential privacy where neighbours tell little, and more states than two', () => {
    const mild = [
      [0.4, 0.3, 0.3],
      [0.3, 0.4, 0.3],
      [0.3, 0.3, 0.4],
    ];
    const { by } = rows(mild, 60, 2);
    expect(by.get('inferential')!.scale).toBeGreaterThan(2);
    expect(by.get('inferential')!.certified).toBe(false);
    expect(by.has('wasserstein')).toBe(false);
  });

  it('need the noise of one chain for several people, and the bound for chains at any length', () => {
    const people = readModel(
      JSON.stringify({ chain: { length: 1000, people: 30, transition: p1, initial: 'stationary' } }),
      'people.json',
    );
    const several = compareMechanisms(people, 'histogram', 5).mechanisms;
    const one = rows(p1, 1000, 5).mechanisms;
    expect(several.map(({ name, scale }) => [name, scale])).toEqual(one.map(({ name, scale }) => [name, scale]));
    const scale = (name: string) => one.find((m) => m.name === name)!.scale;
    expect(scale('calculus')).toBeLessThan(scale('markov-quilt'));
    expect(scale('calculus-informed')).toBeLessThan(scale('zhao-robust'));
  });

  it('say what is not known of a chain too long for losses', () => {
    const { by, left } = rows(p1, 2000);
    expect(by.get('laplace')).toMatchObject({ lossUninformed: Number.NaN, holds: false });
    expect(by.get('calculus')!.holds).toBe(true);
    expect(left.join(' ')).toContain('On a chain this long losses are not worked out');
  });
});
