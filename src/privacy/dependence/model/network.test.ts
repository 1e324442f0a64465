import { describe, expect, it } from 'vitest';
import { Fault } from '../../../base/errors.js';
import { readBif, writeBif } from './bif.js';
import { enumerate } from './joint.js';
import { makeNetwork, networkModel } from './network.js';
import { readNetworkJson, writeNetworkJson } from './network-json.js';

/** The prize and the first choice are free; the host opens a door that is neither. */
const montyHall = makeNetwork('monty hall', [
  { name: 'prize', values: ['1', '2', '3'], parents: [], table: Float64Array.of(1 / 3, 1 / 3, 1 / 3) },
  { name: 'choice', values: ['1', '2', '3'], parents: [], table: Float64Array.of(1 / 3, 1 / 3, 1 / 3) },
  {
    name: 'opened',
    values: ['1', '2', '3'],
    parents: [0, 1],
    table: Float64Array.of(0, 0.5, 0.5, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0.5, 0, 0.5, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0.5, 0.5, 0),
  },
]);
const json = (change: (d: Record<string, unknown>) => void): string => {
  const document = JSON.parse(writeNetworkJson(montyHall));
  change(document);
  return JSON.stringify(document);
};

describe('a network', () => {
  it('a network survives a round trip through our JSON and BIF', () => {
    expect(readNetworkJson(writeNetworkJson(montyHall), 'n.json')).toEqual(montyHall);
    expect(readBif(writeBif(montyHall), 'n.bif')).toEqual(montyHall);
  });

  it('a network keeps the record of its privacy accounting', () => {
    const unpaid = { ...montyHall, origin: { learned: 'unpaid' } as const };
    expect(readNetworkJson(writeNetworkJson(unpaid), 'n.json').origin).toEqual({ learned: 'unpaid' });
    expect(readBif(writeBif(unpaid), 'n.bif').origin).toEqual({ learned: 'unpaid' });
  });

  it('a network keeps the levels of its values', () => {
    const levels = [['left', null], [{ from: '2', to: '3' }], ['right']];
    const withLevels = {
      ...montyHall,
      resolution: 'digest',
      variables: montyHall.variables.map((v, x) => (x === 1 ? { ...v, levels } : v)),
    };
    expect(readNetworkJson(writeNetworkJson(withLevels), 'n.json')).toEqual(withLevels);
    expect(readBif(writeBif(withLevels), 'n.bif')).toEqual(withLevels);
    expect(() => readBif(writeBif(withLevels).replace('"left"', 'left'), 'n.bif')).toThrow(
      /levels of the network are not readable/,
    );
    expect(() => readNetworkJson(writeNetworkJson(withLevels).replace(/,\s*\[\s*"right"\s*\]/, ''), 'n.json')).toThrow(
      /not as many levels as values/,
    );
  });

  it('the joint table of the network sums to one and excludes impossible games', () => {
    const joint = enumerate(networkModel(montyHall)).probabilities;
    expect(joint.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
    expect(joint[0]).toBe(0);
  });

  it('a network becomes one factor per table, never pairwise ties', () => {
    expect(networkModel(montyHall).factors.map((f) => f.records)).toEqual([[0], [1], [0, 1, 2]]);
  });

  it.each([
    [
      'an unknown parent',
      json((d) => ((d.columns as { parents: string[] }[])[0]!.parents = ['nobody'])),
      /parent that is not in/,
    ],
    [
      'a cycle',
      json((d) => {
        const first = (d.columns as { parents: string[]; table: number[] }[])[0]!;
        first.parents = ['opened'];
        first.table = new Array(9).fill(1 / 3);
      }),
      /cycle/,
    ],
    ['a table that is too short', json((d) => (d.columns as { table: number[] }[])[2]!.table.pop()), /26 entries instead of 27/],
    [
      'a row that does not sum to one',
      json((d) => ((d.columns as { table: number[] }[])[0]!.table = [0.5, 0.1, 0.1])),
      /sums to 0.7/,
    ],
    ['a name twice', json((d) => ((d.columns as { name: string }[])[2]!.name = 'prize')), /declared twice/],
    ['something that is not JSON', '{', /not JSON/],
  ])('the reader refuses %s', (_, text, message) => {
    expect(() => readNetworkJson(text, 'n.json')).toThrow(message);
  });

  it('the BIF reader accepts comments, properties, quotes and defaults, and reports the line of a mistake', () => {
    const text = `network "two words" { property author nobody ; }
// a comment
variable a { type discrete [ 2 ] { yes, no }; property p = 1 ; }
variable b { type discrete [ 2 ] { "x y", z }; }
probability ( a ) { table 0.25, 0.75; }
probability ( b | a ) { (yes) 0.5, 0.5; default 0.1, 0.9; }
`;
    const network = readBif(text, 'a.bif');
    expect(network.name).toBe('two words');
    expect([...network.variables[1]!.table]).toEqual([0.5, 0.5, 0.1, 0.9]);
    try {
      readBif(text.replace('0.75', 'three'), 'a.bif');
      expect.unreachable();
    } catch (fault) {
      expect((fault as Fault).place?.line).toBe(5);
    }
    expect(() => readBif(text.replace('(yes)', '(maybe)'), 'a.bif')).toThrow(/does not fit/);
    expect(() => readBif(text.replace('( b | a ) { (yes) 0.5, 0.5; default', '( b | a ) { table 0.5, 0.5,'), 'a.bif')).toThrow(
      /bare table/,
    );
    expect(() => readBif(`${text}"`, 'a.bif')).toThrow(Fault);
  });
});
