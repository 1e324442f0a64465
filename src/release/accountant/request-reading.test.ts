import { describe, expect, it } from 'vitest';
import { onlySums, type ReleaseCondition, wholeLevels } from '../../privacy/dependence/condition.js';
import { resolutionOf } from '../../privacy/dependence/model/resolution.js';
import { usedMark } from '../../privacy/mechanism/record-class.js';
import { meets, type RequestReading } from './request-reading.js';

const rows: ReleaseCondition = { mark: usedMark('0'), need: { kind: 'rows' } };
/** Two codes that the tables do not distinguish. */
const coarse = wholeLevels(
  resolutionOf(
    [
      {
        column: 'vote',
        domain: 'green red blue',
        values: {
          kind: 'codes',
          levelOf: new Map([
            ['green', 0],
            ['red', 0],
            ['blue', 1],
          ]),
        },
      },
    ],
    (message) => {
      throw new Error(message);
    },
  ),
);

describe('a request of which only the cost is known', () => {
  const silent: RequestReading = {};

  it('a request without measures meets no condition on levels, with any noise', () => {
    for (const noise of ['pure', 'zcdp'] as const) {
      expect(meets(coarse, noise, silent)).toBe(false);
      expect(meets(coarse, noise, { sums: true })).toBe(false);
      expect(meets(coarse, noise, { measures: [] })).toBe(true);
    }
  });

  it('a request without measures meets the condition on sums only if it declares sums', () => {
    expect(meets(onlySums, 'zcdp', silent)).toBe(false);
    expect(meets(onlySums, 'zcdp', { sums: true })).toBe(true);
    expect(meets(onlySums, 'pure', silent)).toBe(true);
  });

  it('a request meets the condition on usable rows unless it reads relations', () => {
    for (const noise of ['pure', 'zcdp'] as const) {
      expect(meets(rows, noise, silent)).toBe(true);
      expect(meets(rows, noise, { allRows: true })).toBe(false);
      expect(meets(rows, noise, { allRows: true, sums: true, measures: [] })).toBe(false);
    }
  });
});
