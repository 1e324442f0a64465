import { describe, expect, it } from 'vitest';
import { pairTablesOfJoint } from '../../../../test/pair-tables-of-joint.js';
import { pairwiseLeakage, pairwiseSpread } from './leakage.js';
import { readSpread, writeSpread } from './spread-file.js';

describe('a pairwise file', () => {
  const spread = pairwiseSpread([pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], [9, 1, 2, 8, 3, 7, 4, 6])], { confidence: 0.95 });
  const levels = ['a', 'b', 'c'].map(() => [['yes'], ['no', null]]);
  const declared = { spread, levels, resolution: 'digest', known: ['form'], origin: { kind: 'unpaid' } as const };
  const text = writeSpread(declared);

  it('a pairwise file is read back with the same leakage and the same origin', () => {
    const again = readSpread(text, 'p.json')!;
    expect(again).toEqual(declared);
    expect(pairwiseLeakage(again.spread, 0.3)).toBe(pairwiseLeakage(spread, 0.3));
  });

  it('a pairwise file contains no counts', () => {
    expect(Object.keys(JSON.parse(text))).toEqual([
      'format',
      'origin',
      'columns',
      'levels',
      'resolution',
      'known',
      'confidence',
      'tilts',
    ]);
  });

  it('a pairwise file is distinguished from a network, and refused if damaged', () => {
    expect(readSpread('{"format":"fugu-network/1"}', 'n.json')).toBeUndefined();
    expect(() => readSpread(text.replace('"spread"', '"sprawl"'), 'p.json')).toThrow(/not in the expected form/);
    expect(() => readSpread(`${text}}`, 'p.json')).toThrow(/not in the expected form/);
  });

  it.each([
    ['fewer levels than columns', { levels: levels.slice(1) }],
    ['a column twice', { columns: ['a', 'a', 'b'] }],
    ['a secret that is no level', { secrets: [[[0], [2]], [[0, 1]], [[0, 1]]] }],
    ['a level in two secrets', { secrets: [[[0], [0, 1]], [[0, 1]], [[0, 1]]] }],
    ['a level in no secret', { secrets: [[[0]], [[0, 1]], [[0, 1]]] }],
  ])('the reader refuses a pairwise file with %s', (_, more) => {
    expect(() => readSpread(JSON.stringify({ ...JSON.parse(text), ...more }), 'p.json')).toThrow(/not in the expected form/);
    expect(
      readSpread(JSON.stringify({ ...JSON.parse(text), secrets: [[[1], [0]], [[0, 1]], [[0, 1]]] }), 'p.json'),
    ).toBeDefined();
  });

  it('the reader refuses a pairwise file without the levels of its tables', () => {
    expect(() => readSpread('{"format":"fugu-pairwise/1"}', 'p.json')).toThrow(/does not say what values/);
  });
});
