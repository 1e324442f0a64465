import { describe, expect, it } from 'vitest';
import { parseRational, toNumber } from '../../../base/exact/rational.js';
import { slicingOf } from '../../mechanism/record-class.js';
import { chainAmplifier } from './chain-amplifier.js';
import { oddsLaw } from './chain-law.js';

const logOdds = Math.log(9);
const over = (window: number) =>
  chainAmplifier({
    name: 'chain',
    first: 0,
    last: 30,
    laws: [oddsLaw(logOdds)],
    gaps: false,
    window,
    order: slicingOf('week', 'w'),
    logOdds,
    alone: true,
    assumptions: [],
    how: '',
  });
const full = parseRational('0.05');

describe.each([1, 2, 5])('a chain whose secret is a window of %s steps', (window) => {
  const { leakage, along } = over(window);

  it('tells along pairs of one step what it tells otherwise, less what that step saves', () => {
    for (const own of ['0', '0.01', '0.05'].map((text) => parseRational(text)))
      expect(along!(full, own)).toBeCloseTo(leakage(full) - toNumber(full) + toNumber(own), 12);
  });

  it('tells more along pairs than a stranger’s step would, however little that costs', () => {
    const carried = along!(full, parseRational('0'));
    expect(carried).toBeGreaterThan((window - 1) * toNumber(full) + 0.01);
  });
});
