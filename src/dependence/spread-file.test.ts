import { describe, expect, it } from 'vitest';
import { pairTablesOfJoint } from './pair-tables.js';
import { pairwiseLeakage, pairwiseSpread } from './pairwise-leakage.js';
import { readSpread, writeSpread } from './spread-file.js';

describe('a pairwise file', () => {
  const spread = pairwiseSpread([pairTablesOfJoint(['a', 'b', 'c'], [2, 2, 2], [9, 1, 2, 8, 3, 7, 4, 6])], { confidence: 0.95 });
  const text = writeSpread({ spread, origin: { kind: 'unpaid' } });

  it('is read back with the same leakage and the same voucher', () => {
    const again = readSpread(text, 'p.json')!;
    expect(again).toEqual({ spread, origin: { kind: 'unpaid' } });
    expect(pairwiseLeakage(again.spread, 0.3)).toBe(pairwiseLeakage(spread, 0.3));
  });

  it('holds no count', () => {
    expect(Object.keys(JSON.parse(text))).toEqual(['format', 'origin', 'columns', 'confidence', 'tilts']);
  });

  it('is told apart from a network, and refused when damaged', () => {
    expect(readSpread('{"format":"fugu-network/1"}', 'n.json')).toBeUndefined();
    expect(() => readSpread(text.replace('"spread"', '"sprawl"'), 'p.json')).toThrow(/not in the expected form/);
    expect(() => readSpread(`${text}}`, 'p.json')).toThrow(/not in the expected form/);
  });
});
