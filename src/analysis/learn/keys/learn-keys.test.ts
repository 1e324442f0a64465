import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { category, samplePolicy } from '../../../../test/sample-policy.js';
import { smallDatabase, type Tables } from '../../../../test/tables-of-persons.js';
import { rational } from '../../../base/exact/rational.js';
import type { Cell } from '../../../data/engine/engine.js';
import type { Policy } from '../../../policy/policy.js';
import { additiveMechanism } from '../../../privacy/mechanism/additive.js';
import { pure } from '../../../privacy/mechanism/budget-share.js';
import { Payment } from '../../../privacy/mechanism/payment.js';
import { everyRecord } from '../../../privacy/mechanism/record-class.js';
import { growPrefixes, keySensitivity } from './learn-keys.js';
import { continuationsOf, countContinuations } from './prefixes.js';

let database: Awaited<ReturnType<typeof smallDatabase>>;
beforeAll(async () => {
  database = await smallDatabase();
});
afterAll(() => database.close());

const texts: readonly Cell[] = ['a', 'ab', 'abc', ' ab ', 'ß', 'ba', '', null, 'much too long'];
const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');
const prefixSets = [[''], [hex('a')], [hex('a'), hex('b')], [hex('ab'), hex('ba')]];
const longest = 3;

const persons = (maxRows: number): Policy => samplePolicy([], { secret: 'person', unit: 'person', maxRows });
const visits = (maxRows: number): Policy => ({
  ...persons(1),
  tables: new Map([
    [
      'visits',
      {
        name: 'visits',
        unit: 'person',
        links: [],
        maxRows,
        public: false,
        columns: new Map([['kind', category('kind', ['x'])]]),
      },
    ],
  ]),
});
const tablesOf = (data: readonly (readonly Cell[])[], sideRows?: readonly (readonly Cell[])[]): Tables =>
  new Map([
    [
      'data',
      {
        columns: [
          { name: 'person', type: 'text' },
          { name: 'city', type: 'text' },
        ],
        rows: data,
      },
    ],
    ...(sideRows
      ? [
          [
            'visits',
            { columns: ['person', 'kind', 'city'].map((name) => ({ name, type: 'text' as const })), rows: sideRows },
          ] as const,
        ]
      : []),
  ]);

/** All multisets of so many texts, as lists. */
function* lists(size: number): Iterable<readonly Cell[]> {
  if (size === 0) yield [];
  else for (const rest of lists(size - 1)) for (const text of texts) yield [...rest, text];
}

async function farthest(
  policy: Policy,
  table: string | undefined,
  worlds: readonly Tables[],
): Promise<{ l1: bigint; l2: bigint }> {
  let [l1, l2] = [0n, 0n];
  for (const prefixes of prefixSets) {
    const request = { column: 'city', longest, ...(table !== undefined && { table }) };
    const counts = await Promise.all(
      worlds.map(async (world) => (await countContinuations(database.pinned(world), policy, request, prefixes)).open()),
    );
    expect(counts[0]).toHaveLength(prefixes.flatMap(continuationsOf).length);
    for (const a of counts)
      for (const b of counts) {
        const moved = a.map((x, i) => x - b[i]!);
        const one = moved.reduce((sum, x) => sum + (x < 0n ? -x : x), 0n);
        const two = moved.reduce((sum, x) => sum + x * x, 0n);
        if (one > l1) l1 = one;
        if (two > l2) l2 = two;
      }
  }
  return { l1, l2 };
}

describe('the release of undeclared values', () => {
  it('a replaced row moves every step by at most two, and some by two', async () => {
    const policy = samplePolicy([]);
    const others: readonly Cell[][] = [
      ['p', 'ab'],
      ['q', 'a'],
      ['r', null],
    ];
    const found = await farthest(
      policy,
      undefined,
      texts.map((text) => tablesOf([...others, ['me', text]])),
    );
    const { l1, l2squared } = keySensitivity(policy, {}).get(everyRecord)!;
    expect([found.l1, found.l2]).toEqual([l1, l2squared]);
  });

  it.each([1, 2])(
    'a person with %d kept rows, of however many, moves every step by twice as many',
    async (maxRows) => {
      const others: readonly Cell[][] = [
        ['p', 'ab'],
        ['p', 'a'],
        ['q', 'ba'],
        [null, 'ab'],
      ];
      const mine = [...lists(1), ...[...lists(2)].filter((_, i) => i % 3 === 0), ['ab', 'ab', 'a'], ['ba', 'ba', 'ba']];
      for (const table of [undefined, 'visits']) {
        const policy = table === undefined ? persons(maxRows) : visits(maxRows);
        const worlds = mine.map((own) =>
          table === undefined
            ? tablesOf([...others, ...own.map((text) => ['me', text])])
            : tablesOf(
                [
                  ['me', null],
                  ['p', null],
                  ['q', null],
                ],
                [...others, ['nobody', 'ab']]
                  .map(([who, text]): Cell[] => [who!, 'x', text!])
                  .concat(own.map((text) => ['me', 'x', text])),
              ),
        );
        const found = await farthest(policy, table, worlds);
        const { l1, l2squared } = keySensitivity(policy, table === undefined ? {} : { table }).get(everyRecord)!;
        expect([table, found.l1, found.l2]).toEqual([table, l1, l2squared]);
      }
    },
    60_000,
  );

  it('the search extends prefixes above the noise, and draws noise for every continuation', async () => {
    const request = { column: 'city', longest: 4, most: 3 };
    const noise = additiveMechanism(
      { name: 'keys', cells: 3 * 257, sensitivity: keySensitivity(samplePolicy([]), {}), times: 4 },
      pure(rational(8)),
    );
    const rows = new Map([
      ['ulm', 900],
      ['bonn', 800],
      ['rom', 700],
      ['köln', 5000],
      ['oslo', 600],
      ['x', 1],
    ]);
    const requested: number[] = [];
    const payment = new Payment([noise]);
    const keys = await growPrefixes(noise, request, payment, async (prefixes) => {
      const branches = prefixes.flatMap((prefix) => continuationsOf(prefix).map((next) => prefix + next));
      requested.push(branches.length);
      const known = prefixes[0]!.length;
      return branches.map((branch) => {
        let count = 0;
        for (const [text, n] of rows) {
          const own = hex(text);
          if (own.length <= 8 && prefixes.includes(own.slice(0, known)) && own.slice(0, known + 2) === branch) count += n;
        }
        return BigInt(count);
      });
    });
    // Köln has five bytes; the three most frequent of the others are extended.
    expect(keys.map(({ key }) => key)).toEqual(['ulm', 'bonn', 'rom']);
    expect(requested[0]).toBe(256);
    expect(requested.slice(1)).toEqual([3 * 257, 3 * 257, 3 * 257]);
  });

  it('undeclared values cannot be learned when answers are the secrets', () => {
    const policy = samplePolicy([], { secret: 'answer', maxRows: 1 });
    expect(() => keySensitivity(policy, {})).toThrow('Keys can be learned where a row, a step or a person is the secret');
  });
});
