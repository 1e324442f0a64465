import { describe, expect, it } from 'vitest';
import { fromFactors } from '../../privacy/dependence/graph/factor-graph.js';
import { leakageBounds } from '../../privacy/dependence/leakage.js';
import { type GroupsDependence, groupsGraph } from './groups.js';
import type { RecordTable } from './records.js';

/** One row per (person, home) pair. */
const table = (rows: readonly (readonly [person: number, home: string])[], count: number): RecordTable => ({
  count,
  recordOf: Uint32Array.from(rows, ([person]) => person),
  placeOf: Uint32Array.from(rows.keys()),
  namesIn: () => Uint32Array.from(rows, ([, home]) => home.charCodeAt(0) - 97),
  cellsOf: () => [],
  numbersIn: () => new Float64Array(0),
  firstNamed: () => undefined,
  namedAll: () => undefined,
  bytes: 0,
  named: () => undefined,
  nameOf: () => undefined,
  refuseSharedNames: () => undefined,
});
const homes = (more: Partial<GroupsDependence> = {}): GroupsDependence => ({
  kind: 'groups',
  by: ['home'],
  oddsRatio: 4,
  hidden: true,
  ...more,
});

describe('a person whose rows name several homes', () => {
  // Person 0 lives in both; 1 and 2 in the first, 3 and 4 in the second.
  const two = table([[0, 'a'], [0, 'b'], [1, 'a'], [2, 'a'], [3, 'b'], [4, 'b'], [0, 'a']], 5); // biome-ignore format: one line
  const d = Math.log(4);

  it('the person is tied to the hidden types of both homes', () => {
    const types = fromFactors(
      5,
      [[0, 5], [1, 5], [2, 5], [0, 6], [3, 6], [4, 6]].map((members) => ({ members, logOdds: d })), // biome-ignore format: one line
      2,
    );
    const exact = leakageBounds(types, 0.3, 'informed').perRecord;
    const bound = leakageBounds(groupsGraph(homes(), two), 0.3, 'informed').perRecord;
    bound.forEach((leak, person) => {
      expect(leak).toBeGreaterThanOrEqual(exact[person]!);
    });
  });

  it('people with one home, and pairwise ties, are unaffected', () => {
    const one = table([[0, 'a'], [1, 'a'], [2, 'b'], [2, 'b']], 3); // biome-ignore format: one line
    const star = fromFactors(3, [0, 1].map((u) => ({ members: [u, 3], logOdds: d })), 1); // biome-ignore format: one line
    expect(leakageBounds(groupsGraph(homes(), one), 0.3, 'informed').worst.leakage).toBeCloseTo(
      leakageBounds(star, 0.3, 'informed').worst.leakage,
      9,
    );
    expect(Math.max(...groupsGraph(homes({ hidden: false }), two).logOdds)).toBeCloseTo(d, 12);
  });

  it('a public bound on group sizes alone cannot hide such a person', () => {
    expect(() => groupsGraph(homes({ maxSize: 9 }), two)).toThrow(/several groups/);
  });
});
