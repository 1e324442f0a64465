import { afterEach, describe, expect, it } from 'vitest';
import { toText } from '../src/base/exact/rational.js';
import { readRecords } from '../src/data/ties/records.js';
import { type FactorGraph, fromPairs } from '../src/privacy/dependence/graph/factor-graph.js';
import { graphAmplifier } from '../src/privacy/dependence/graph-amplifier.js';
import { openAccount } from '../src/release/accountant/open-account.js';
import { releaseContextOf } from '../src/release/session/session.js';
import type { PrivacySession } from './inside.js';
import { now } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** An open session behaves the same after a changed value or another row order as for an unchanged file. */
let shop: Workshop;
afterEach(() => shop?.remove());

const people = 60;
/** Fewer where one takes seconds. */
const triesOf = (kind: string) => (kind.startsWith('ties') ? 2 : 1);
const random = (seed: number) => {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
};
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const pick = random(seed);
  const left = [...list];
  return list.map(() => left.splice(pick(left.length), 1)[0]!);
}
const numbers = Array.from({ length: people }, (_, i) => i);
const pick = random(5);
const pairs = Array.from({ length: 90 }, () => [pick(people), pick(people)] as const).filter(([a, b]) => a !== b);
const friends = (list = pairs) => `a,b\n${list.map(([a, b]) => `p${a},p${b}`).join('\n')}\n`;
const csv = (order: readonly number[], changed = -1, home = 20) =>
  `id,home,party,age,weight,media,week\n${order.map((i) => `p${i},h${i % home},${i === changed ? 'rep' : 'dem'},30,1,tv,${i}\n`).join('')}`;

const ties = (more: string) => `{ kind: ties, relation: friend, oddsRatio: 2${more} }`;
const groups = '{ kind: groups, by: home, oddsRatio: 1.5 }';
const sequence = '{ kind: sequence, by: home, order: week, state: party, transition: weekly.json }';
const kinds: Readonly<Record<string, string>> = {
  'ties with maxTies': `[${ties(', maxTies: 3')}]`,
  'groups, ties with maxTies, and sequences': `[${groups}, ${ties(', maxTies: 3')}, ${sequence}]`,
};
const yaml = (dependence: string) =>
  policyYaml({
    budget: '{ epsilon: 2, delta: 1e-6 }',
    dependence,
    extra: 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n',
  });
function prepare(dependence: string): void {
  shop = openWorkshop(yaml(dependence));
  shop.write('weekly.json', JSON.stringify({ transition: [0, 1, 2].map((a) => [0, 1, 2].map((b) => (a === b ? 0.5 : 0.25))) }));
  shop.write('friends.csv', friends());
  shop.write('people.csv', csv(numbers));
}
const outcome = (session: PrivacySession): Promise<string> =>
  session.release({ kind: 'histogram', column: 'party' }, { epsilon: '0.001', fresh: true }).then(
    () => 'answered',
    (error: Error) => error.message,
  );
const figures = ({ account }: Pick<PrivacySession, 'account'>): string =>
  JSON.stringify(
    account.routes.map((r) => [
      toText(r.pureCapacity),
      r.amplifier.leakage(r.pureCapacity),
      r.gaussian && toText(r.gaussian.capacity),
    ]),
  );

const stories: Readonly<Record<string, (t: number) => void>> = {
  unchanged: () => {},
  rewritten: () => shop.write('people.csv', csv(numbers)),
  'one value changed': (t) => shop.write('people.csv', csv(numbers, t)),
  'rows in another order': (t) => shop.write('people.csv', csv(shuffled(numbers, t))),
  'ties in another order': (t) => shop.write('friends.csv', friends(shuffled(pairs, t).map(([a, b]) => [b, a] as const))),
};

describe('an open session on data that changes', () => {
  for (const [kind, dependence] of Object.entries(kinds))
    it(`the session answers after any change of values and orders, and stops when the ties differ: ${kind}`, async () => {
      prepare(dependence);
      const seen = new Set<string>();
      const tries = triesOf(kind);
      for (let t = 0; t < tries; t++) {
        const session = await shop.session();
        seen.add(figures(session));
        for (const [story, happen] of Object.entries(stories)) {
          happen(t);
          expect([story, await outcome(session)]).toEqual([story, 'answered']);
        }
        if (t === tries - 1) {
          shop.write('friends.csv', friends(pairs.slice(9)));
          expect(await outcome(session)).toMatch(/ties in the data have changed/);
        }
        await session.close();
      }
      expect([...seen]).toHaveLength(1);
    });

  it('the session numbers rows without a name by their other cells', async () => {
    prepare('[{ kind: groups, by: home }]');
    const homes = async (order: readonly number[]) => {
      shop.write('people.csv', csv(order));
      const session = await shop.session();
      const { policy, engine } = releaseContextOf(session);
      const { unit: _, ...protect } = policy.protect;
      const records = await readRecords({ ...policy, protect }, await now(engine), { names: ['home'], cells: ['week'] });
      await session.close();
      return { read: [records.namesIn('home'), records.cellsOf('week'), records.recordOf], places: records.placeOf };
    };
    const [one, other] = [await homes(numbers), await homes(shuffled(numbers, 3))];
    expect(other.read).toEqual(one.read);
    expect(other.places).not.toEqual(one.places);
  });

  it('the test detects records numbered by their rows: the last digits of the bounds differ', async () => {
    prepare(kinds['ties with maxTies']!);
    const session = await shop.session();
    const { policy } = releaseContextOf(session);
    await session.close();
    const bounds = (numberOf: readonly number[]) => {
      const end = (k: 0 | 1) => Uint32Array.from(pairs, (p) => numberOf[p[k]]!);
      const graph: FactorGraph = fromPairs(people, end(0), end(1), Math.log(2));
      const used = new Uint8Array(people).fill(1);
      for (const i of [3, 14, 15, 35]) used[numberOf[i]!] = 0;
      const route = {
        name: 'twin',
        graph,
        used,
        scope: () => true,
        adversary: 'informed',
        reach: 'any',
        assumptions: [],
        method: '',
      } as const;
      return figures({ account: openAccount(policy, [graphAmplifier(route)]) });
    };
    expect(new Set(Array.from({ length: 6 }, (_, t) => bounds(shuffled(numbers, t)))).size).toBeGreaterThan(1);
    expect(new Set(Array.from({ length: 2 }, () => bounds(numbers))).size).toBe(1);
  });
});
