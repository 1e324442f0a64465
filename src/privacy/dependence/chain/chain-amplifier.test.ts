import { describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../../../base/exact/rational.js';
import { slicingOf } from '../../mechanism/record-class.js';
import { chainAmplifier } from './chain-amplifier.js';
import { oddsRatioTransitions } from './chain-transitions.js';

const logOdds = Math.log(9);
const over = (window: number) =>
  chainAmplifier({
    name: 'chain',
    first: 0,
    last: 30,
    transitions: [oddsRatioTransitions(logOdds)],
    gaps: false,
    window,
    order: slicingOf('week', 'w'),
    logOdds,
    alone: true,
    assumptions: [],
    method: '',
  });
const full = parseRational('0.05');

describe.each([1, 2, 5])('a chain whose secret is a window of %s steps', (window) => {
  const { leakage, along } = over(window);

  it('the leakage along pairs of one step is the general one less the saving at that step', () => {
    for (const own of ['0', '0.01', '0.05'].map((text) => parseRational(text)))
      expect(along!(full, own)).toBeCloseTo(leakage(full) - toNumber(full) + toNumber(own), 12);
  });

  it('the leakage along pairs exceeds the cost of that step alone, however small that is', () => {
    const carried = along!(full, parseRational('0'));
    expect(carried).toBeGreaterThan((window - 1) * toNumber(full) + 0.01);
  });
});
