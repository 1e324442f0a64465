import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { add, parseRational, type Rational, rational, toNumber, toText, zero } from '../src/base/exact/rational.js';
import { amendTerms, declareSameData, open } from '../src/index.js';
import type { Policy } from '../src/policy/policy.js';
import { fromStored, type PrivacyCost } from '../src/privacy/mechanism/privacy-cost.js';
import { everyRecord } from '../src/privacy/mechanism/record-class.js';
import { reservedCostOf } from '../src/release/accountant/account.js';
import { termsOf } from '../src/release/accountant/open-account.js';
import { type AccountSource, accountSource, coversSources, spentElsewhere } from '../src/release/accountant/sources.js';
import type { Ledger } from '../src/release/ledger/ledger.js';
import { recordSameData as declareIn } from '../src/release/session/same-data.js';
import { faultOf } from './fault.js';
import { openLedger, readPolicy } from './inside.js';

/** Declarations that everything was spent on one file: no sequence of them hides a cost on another file. */
let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fugu-same-data-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const noTies = 'none';
const tiesBy = (relation: string) => ({
  dependence: `[{ kind: ties, relation: ${relation}, oddsRatio: inf }]`,
  more: `relations: { ${relation}: { table: ${relation}.csv, columns: [x, y], domain: 90, symmetric: true } }\n`,
});
interface Written {
  readonly data: string;
  readonly dependence?: string;
  readonly more?: string;
  readonly population?: string;
  readonly protect?: string;
}
function policy(name: string, { data, dependence = noTies, more = '', ...written }: Written): string {
  const { population = 'population: town\n', protect = '{ secret: row, unit: id }' } = written;
  const file = at(`${name}.yaml`);
  writeFileSync(
    file,
    `data: { source: ${data}.csv }\nprotect: ${protect}\nbudget: { epsilon: 1 }\n${population}ledger: ledger.db\ndependence: ${dependence}\n${more}columns: { party: { type: category, values: [dem, rep] } }\n`,
  );
  return file;
}

const homes = 10;
const idsOf = (copies: number) =>
  `id,party\n${Array.from({ length: homes }, (_, h) => Array.from({ length: copies }, (_, k) => `p${h}-${k},${h % 2 === 0 ? 'dem' : 'rep'}`).join('\n')).join('\n')}\n`;
/** Homes of two, tied by r.csv; B holds eighteen more records of each home. */
function threePolicies() {
  writeFileSync(at('A.csv'), idsOf(2));
  writeFileSync(at('B.csv'), idsOf(20));
  writeFileSync(at('r.csv'), `x,y\n${Array.from({ length: homes }, (_, h) => `p${h}-0,p${h}-1`).join('\n')}\n`);
  return {
    tied: policy('R', { data: 'A', ...tiesBy('r') }),
    untied: policy('N', { data: 'A' }),
    other: policy('B', { data: 'B' }),
  };
}
/** Privacy loss of a whole home in one release: each record changes two cells by one. */
async function lossOf(file: string, members: number, epsilon: string): Promise<number> {
  await using fugu = await open(file);
  const { receipt } = await fugu.release({ kind: 'histogram', column: 'party' }, { epsilon, fresh: true });
  const { noise } = receipt.measures[0]!;
  if (noise.kind !== 'laplace') throw new Error(noise.kind);
  return (2 * members) / toNumber(parseRational(noise.scale));
}

describe('a declaration under terms without tie relations', () => {
  it('the declaration leaves costs on another file visible to terms with tie relations', async () => {
    const { tied, untied, other } = threePolicies();
    let lost = await lossOf(tied, 2, '0.5');
    await amendTerms(untied, { reason: 'no ties' });
    await declareSameData(untied, { reason: 'one file' });
    lost += await lossOf(other, 20, '0.245');
    expect(lost).toBeGreaterThan(5);
    const fault = await faultOf(amendTerms(tied, { reason: 'ties again' }));
    expect(fault).toMatchObject({ code: 'BUDGET_EXCEEDED', message: expect.stringMatching(/another file or table/) });
    await using fugu = await open(tied);
    expect((await fugu.spent()).gained).toBe(Number.POSITIVE_INFINITY);
  });

  it('the declaration keeps costs on the same file, so that ties can be declared again', async () => {
    const { tied, untied } = threePolicies();
    const lost = await lossOf(tied, 2, '0.5');
    await amendTerms(untied, { reason: 'no ties' });
    await declareSameData(untied, { reason: 'one file' });
    const more = 2 * (await lossOf(untied, 1, '0.1'));
    const { privacyLoss } = await amendTerms(tied, { reason: 'ties again' });
    expect(privacyLoss).toBeCloseTo(lost + more);
  });
});

describe('one cost under two marks, as an unreleased version declared', () => {
  it('the cost is read as spent on unknown data, and cannot be declared away', async () => {
    const { tied, untied } = threePolicies();
    const [read, plain] = [await readPolicy(tied), await readPolicy(untied)];
    const [source, whole] = [accountSource(read), accountSource(plain)];
    const ledger = await openLedger(at('ledger.db'));
    const cost = rational(1, 4);
    await book(ledger, { policy: read, profile: reservedCostOf(read, [], source)(costOf('pure', cost), {}), key: 'a' });
    await book(ledger, { policy: read, profile: fromStored({ noise: 'pure', perRecord: { [whole.mark]: '1/4' } }), key: 'b' });
    expect(coversSources(source, await ledger.spent('town'))).toBe(false);
    expect((await faultOf(declareIn(ledger, read, 'one file'))).message).toMatch(/unreleased version/);
    await ledger.close();
  });
});

describe('two declarations at once', () => {
  /** A ledger on which another process works after the account was read and before the first reservation. */
  function interrupted(ledger: Ledger, work: () => Promise<unknown>): Ledger {
    let isFirst = true;
    const reserve: Ledger['reserve'] = async (reservation) => {
      if (isFirst) {
        isFirst = false;
        await work();
      }
      return ledger.reserve(reservation);
    };
    return { ...ledger, reserve };
  }
  async function unmarkedAccount() {
    const read = await readPolicy(threePolicies().tied);
    const ledger = await openLedger(at('ledger.db'));
    await book(ledger, { policy: read, profile: costOf('pure', rational(1, 10)), key: 'old' });
    return { read, ledger, source: accountSource(read) };
  }

  it('two concurrent declarations count once', async () => {
    const { read, ledger, source } = await unmarkedAccount();
    const made = await declareIn(
      interrupted(ledger, () => declareIn(ledger, read, 'the first')),
      read,
      'the second',
    );
    expect(made).toEqual([]);
    expect((await ledger.keyed('town', 'same-data:')).length).toBe(1);
    // Declaring twice does not declare later costs.
    await book(ledger, { policy: read, profile: costOf('pure', rational(1, 20)), key: 'later' });
    expect(coversSources(source, await ledger.spent('town'))).toBe(false);
    await ledger.close();
  });

  it('a declaration uses the account as it stands when it is reserved', async () => {
    const { read, ledger, source } = await unmarkedAccount();
    const spend = () => book(ledger, { policy: read, profile: costOf('pure', rational(1, 20)), key: 'between' });
    expect((await declareIn(interrupted(ledger, spend), read, 'one file')).length).toBe(1);
    expect(coversSources(source, await ledger.spent('town'))).toBe(true);
    await ledger.close();
  });

  it('a declaration goes on if the terms were amended in between', async () => {
    const { read, ledger } = await unmarkedAccount();
    const amend = async () => ledger.amend('town', { digest: 'other', summary: 'other terms' }, 'changed');
    expect((await declareIn(interrupted(ledger, amend), read, 'one file')).length).toBe(1);
    await ledger.close();
  });
});

const costOf = (noise: 'pure' | 'zcdp', cost: Rational): PrivacyCost =>
  fromStored({ noise, perRecord: { [everyRecord]: toText(cost) } });
interface Booked {
  readonly policy: Policy;
  readonly profile: PrivacyCost;
  readonly key: string;
}
async function book(ledger: Ledger, { policy: { population }, profile, key }: Booked): Promise<void> {
  const known = await ledger.account(population);
  const terms = known?.terms ?? { digest: 'first', summary: 'first terms' };
  await ledger.reserve({ population, terms, analyst: 'somebody', key, label: key, profile, admit: () => undefined });
}

/** A policy as the enumeration sees it: by file and relation, without marks. */
interface Seen {
  readonly file: string;
  readonly relation: string;
  readonly ownsUnmarked: boolean;
  readonly policy: Policy;
  readonly source: AccountSource;
}
type Step =
  | { readonly kind: 'spend'; readonly who: number; readonly noise: 'pure' | 'zcdp'; readonly cost: number }
  | { readonly kind: 'spend before'; readonly noise: 'pure' | 'zcdp'; readonly cost: number }
  | { readonly kind: 'same data'; readonly who: number }
  | { readonly kind: 'amend'; readonly who: number };
const noises = fc.constantFrom('pure' as const, 'zcdp' as const);
const who = fc.nat({ max: 7 });
const cost = fc.integer({ min: 1, max: 4 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('spend' as const), who, noise: noises, cost }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('spend before' as const), noise: noises, cost }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('same data' as const), who }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('amend' as const), who }) },
  ),
  { minLength: 3, maxLength: 12 },
);

/** Everything that was done, as a list. */
interface Done {
  readonly step: Step;
  readonly by?: Seen;
}
/** Costs on other data, from the list alone: not on this file, and not declared by these very terms since. */
function elsewhereBy(list: readonly Done[], seen: Seen, noise: 'pure' | 'zcdp'): Rational {
  let sum = zero;
  for (const [k, { step, by }] of list.entries()) {
    if ((step.kind !== 'spend' && step.kind !== 'spend before') || step.noise !== noise) continue;
    const isUnmarked = by === undefined || (by.ownsUnmarked && by.relation === '');
    const isOwn = isUnmarked ? seen.ownsUnmarked : by.file === seen.file && (by.relation === seen.relation || by.relation === '');
    const isDeclared = list.slice(k).some(
      ({ step: { kind }, by: other }) =>
        kind === 'same data' &&
        other!.file === seen.file &&
        other!.relation === seen.relation &&
        // The owner of unmarked costs has nothing to declare about them.
        !(isUnmarked && other!.ownsUnmarked),
    );
    if (!isOwn && !isDeclared) sum = add(sum, rational(step.cost, 100));
  }
  return sum;
}

describe('random sequences of releases, amendments and declarations', () => {
  let run = 0;
  async function policies(): Promise<readonly Seen[]> {
    for (const name of ['A', 'B', 'C']) writeFileSync(at(`${name}.csv`), idsOf(2));
    for (const name of ['r', 'q']) writeFileSync(at(`${name}.csv`), 'x,y\np0-0,p0-1\n');
    // Named after A.csv: policies without tables own unmarked costs.
    const { population } = await readPolicy(policy('A', { data: 'A', population: '' }));
    const kinds = [
      { file: 'A', relation: '' },
      { file: 'A', relation: 'r' },
      { file: 'A', relation: 'q' },
      { file: 'A', relation: '', tables: true },
      { file: 'A', relation: 'r', tables: true },
      { file: 'B', relation: '' },
      { file: 'B', relation: 'r' },
      { file: 'C', relation: '' },
    ];
    return Promise.all(
      kinds.map(async ({ file, relation, tables }, k): Promise<Seen> => {
        const written =
          relation === '' ? { dependence: '[{ kind: groups, by: party, oddsRatio: 2 }]', more: '' } : tiesBy(relation);
        const visits =
          'tables: { visits: { source: B.csv, unit: id, maxRows: 2, columns: { y: { type: integer, bounds: [0, 1] } } } }\n';
        const shape = tables
          ? { ...written, more: `${written.more}${visits}`, protect: '{ secret: person, unit: id, maxRows: 1 }' }
          : written;
        const named = file === 'A' && !tables ? '' : `population: ${JSON.stringify(population)}\n`;
        const read = await readPolicy(policy(`p${k}`, { data: file, ...shape, population: named }));
        expect(read.population).toBe(population);
        return { file, relation, ownsUnmarked: file === 'A' && !tables, policy: read, source: accountSource(read) };
      }),
    );
  }

  it('costs on other files are never below those in the list of entries', async () => {
    const known = await policies();
    const counts = { covered: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        mkdirSync(at(`run${run}`));
        const ledger = await openLedger(at(`run${run++}`, 'ledger.db'));
        const list: Done[] = [];
        const { population } = known[0]!.policy;
        for (const [k, step] of sequence.entries()) {
          const by = 'who' in step ? known[step.who]! : undefined;
          if (step.kind === 'spend') {
            const profile = reservedCostOf(by!.policy, [], by!.source)(costOf(step.noise, rational(step.cost, 100)), {});
            await book(ledger, { policy: by!.policy, profile, key: `${k}` });
          } else if (step.kind === 'spend before') {
            const profile = costOf(step.noise, rational(step.cost, 100));
            await book(ledger, { policy: known[0]!.policy, profile, key: `${k}` });
          } else if (await ledger.account(population)) {
            if (step.kind === 'same data') await declareIn(ledger, by!.policy, 'declared');
            else await ledger.amend(population, termsOf(by!.policy), 'amended');
          }
          list.push({ step, ...(by && { by }) });
          const spent = await ledger.spent(population);
          for (const seen of known) {
            const found = (['pure', 'zcdp'] as const).map((noise) => {
              const all = [...spentElsewhere(spent[noise], seen.source).values()].reduce(add, zero);
              expect(toText(all)).toBe(toText(elsewhereBy(list, seen, noise)));
              return all;
            });
            const isCovered = found.every((sum) => sum.num === 0n);
            expect(coversSources(seen.source, spent)).toBe(isCovered);
            counts[isCovered ? 'covered' : 'refused']++;
          }
        }
        await ledger.close();
      }),
      { numRuns: 60 },
    );
    expect(counts.covered).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(100);
  });
});
