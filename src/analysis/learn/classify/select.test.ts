import { describe, expect, it } from 'vitest';
import { RecordingPayment, usedParts } from '../../../../test/transcript.js';
import { rational } from '../../../base/exact/rational.js';
import { pure, zcdp } from '../../../privacy/mechanism/budget-share.js';
import { scoreGrid } from '../network/score-grid.js';
import { choiceMechanisms, pickFeatures, scoresOf, tallyPairs } from './select.js';

/** Rows of (label, feature, feature, feature), two levels each. */
type Row = readonly [number, number, number, number];
const run = (rows: readonly Row[], steps: ReturnType<typeof choiceMechanisms>, mode?: 'exact') => {
  const transcript = new RecordingPayment([...new Set(steps)], mode);
  const tally = tallyPairs([2, 2, 2, 2]);
  for (const row of rows) tally.add(row);
  return { transcript, kept: pickFeatures(3, steps, transcript, scoresOf(tally, rows.length)) };
};
const n = 300;
const same = Array.from({ length: n - 1 }, (): Row => [0, 0, 0, 0]);
const world = (row: Row): Row[] => [row, ...same];

describe('feature selection', () => {
  it('the selection keeps features that are informative about the label and not redundant', () => {
    // The label depends on both halves; the second feature is a copy of the first.
    const rows = Array.from({ length: n }, (_, i): Row => {
      const [a, b] = [i & 1, (i >> 1) & 1];
      return [a & b, a, a, b];
    });
    expect(run(rows, choiceMechanisms(2, n, pure(rational(1))), 'exact').kept).toEqual([0, 2]);
  });

  it('a score moves by no more than its stated sensitivity when any row is replaced, later choices by more than the first', () => {
    for (const within of [pure(rational(1)), zcdp(rational(1, 50))]) {
      const steps = choiceMechanisms(2, n, within);
      const all = Array.from({ length: 16 }, (_, k): Row => [k & 1, (k >> 1) & 1, (k >> 2) & 1, (k >> 3) & 1]);
      const transcripts = all.map((row) => run(world(row), steps).transcript);
      for (const a of transcripts)
        for (const b of transcripts) for (const part of usedParts(a, b)) expect(part).toBeLessThanOrEqual(1);
    }
  });

  it('a score moves by up to twice the sensitivity of the first choice once a feature is kept', () => {
    const { reach } = scoreGrid(n);
    const penalty = (row: Row, choice: number) =>
      run(world(row), choiceMechanisms(2, n, pure(rational(1)))).transcript.seen[choice]!.exact[0]!;
    const size = (x: bigint) => (x < 0n ? -x : x);
    // One row differs in the second feature, and also in the label or in the feature that is kept.
    const [dependent, independent]: [Row, Row] = [
      [1, 0, 1, 0],
      [0, 1, 1, 0],
    ];
    const second = size(penalty(dependent, 1) - penalty(independent, 1));
    expect(second).toBeGreaterThan(reach);
    expect(second).toBeLessThanOrEqual(2n * reach + 1n);
    const label = size(penalty([1, 1, 0, 0], 0) - penalty([0, 1, 0, 0], 0));
    expect(label).toBeLessThanOrEqual(reach);
    expect(2n * label).toBeGreaterThan(reach);
  });

  it('every choice reserves the same part of the budget, and all choices together reserve all of it', () => {
    const [first, later] = choiceMechanisms(3, n, pure(rational(3)));
    expect([first!.cost, later!.cost].map(({ perRecord }) => [...perRecord.values()])).toEqual([[rational(1)], [rational(2)]]);
    const { reach } = scoreGrid(n);
    expect(first!.distribution).toEqual({ kind: 'selection', sharpness: rational(1n, 2n * reach) });
    expect(later!.distribution).toEqual({ kind: 'selection', sharpness: rational(1n, 2n * (2n * reach + 1n)) });
  });

  it('the selection is refused for another number of rows than it was planned for', () => {
    expect(() => scoresOf(tallyPairs([2, 2]), 1)).toThrow('has changed');
  });
});
