import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pattern } from '../src/app/api/kinds/pattern.js';
import { survey } from '../src/app/api/kinds/survey.js';
import { workload } from '../src/app/api/kinds/workload.js';
import { spendingOf } from '../src/app/api/ledger.js';
import { slicingsOf } from '../src/data/ties/slicings.js';
import { publicSteps } from '../src/query/count/public-steps.js';
import { budgetState } from '../src/release/accountant/budget-state.js';
import { requestedParts } from '../src/release/session/parts.js';
import type { Plan } from '../src/release/session/plan.js';
import { quotaUses } from '../src/release/session/quota.js';
import type { Receipt } from '../src/release/session/receipt.js';
import { openTotals } from '../src/release/session/running.js';
import { prepareTotals } from '../src/release/session/running-plan.js';
import { atMost } from './fixtures/new-mechanism.js';
import { createSession, Fault, type Ledger, openEngine, openLedger, type PrivacySession, readPolicy } from './inside.js';

/** Random sequences of mixed questions on real ledgers: remaining before, minus the share, compared with remaining after. */
export interface Sequences {
  readonly sequences: number;
  readonly seed: number;
  /** Names of policies; all of them when absent. */
  readonly only?: readonly string[];
}
export interface SequenceFigures {
  readonly sequences: number;
  readonly releases: number;
  readonly refused: number;
  /** Releases by policy and kind of question. */
  readonly by: ReadonlyMap<string, number>;
  readonly noises: ReadonlyMap<string, number>;
  /** Largest |before - share - after|; with a public column, the largest loss above the share, for everybody or one of its values. */
  readonly worst: number;
  /** Releases, with a public column, after which each of them has more left than that. */
  readonly spared: number;
  /** By policy, the most that left before - left after exceeds the share, over all these accounts. */
  readonly excess: ReadonlyMap<string, number>;
  /** The same of an analyst's quota. With a public column, how much more than the share it loses, or any that of another analyst. */
  readonly worstQuota: number;
  /** Largest difference between plan, receipt and ledger. */
  readonly figures: number;
  /** Totals beyond the promise, by arithmetic of our own. */
  readonly broken: readonly string[];
  readonly where: string;
}

type StepOptions = { readonly epsilon?: string; readonly all?: boolean; readonly fresh: true };
interface Ask {
  readonly kind: string;
  plan(session: PrivacySession, options: StepOptions): Promise<Plan>;
  release(session: PrivacySession, options: StepOptions): Promise<Receipt | undefined>;
}

const batch = (kind: string, query: object): Ask => ({
  kind,
  plan: (session, options) => session.plan(query, options),
  release: async (session, options) => (await session.release(query, options)).receipt,
});
const askKind = <Q>(
  name: string,
  kind: {
    plan(s: PrivacySession, q: Q, o: StepOptions): Promise<Plan>;
    release(s: PrivacySession, q: Q, o: StepOptions): Promise<{ receipt: Receipt }>;
  },
  question: Q,
): Ask => ({
  kind: name,
  plan: (session, options) => kind.plan(session, question, options),
  release: async (session, options) => (await kind.release(session, question, options)).receipt,
});
const totals: Ask = {
  kind: 'totals',
  plan: async (session, options) => (await prepareTotals(session, totalsOf(session), options)).plan,
  release: async (session, options) => {
    await openTotals(session, totalsOf(session), options);
    return undefined;
  },
};
const totalsOf = (session: PrivacySession) => ({
  query: { kind: 'count' },
  steps: publicSteps(session.policy, 'week', 1),
  horizon: 4,
});

const plain: readonly Ask[] = [
  batch('count', { kind: 'count', where: [{ column: 'party', op: '=', value: 'dem' }] }),
  batch('histogram', { kind: 'histogram', column: 'party' }),
  batch('histogram', { kind: 'histogram', column: 'media' }),
  batch('mean', { kind: 'mean', column: 'age' }),
  batch('quantile', { kind: 'quantile', column: 'age', at: [0.5] }),
  batch('batch', {
    queries: [
      { kind: 'count', by: ['party'] },
      { kind: 'sum', column: 'age' },
      { kind: 'histogram', column: 'web' },
    ],
  }),
  askKind('survey', survey as never, { survey: true }),
  askKind('workload', workload as never, { workload: { tables: [{ all: 2, of: ['party', 'web', 'media'] }] } }),
  askKind('pure only', atMost as never, { atMost: { column: 'party', value: 'dem', most: 500 } }),
];
const byWeek = (week: number): readonly Ask[] => [
  batch('count of a week', {
    kind: 'count',
    where: [
      { column: 'week', op: '=', value: week },
      { column: 'party', op: '=', value: 'dem' },
    ],
  }),
  batch('histogram of a week', { kind: 'histogram', column: 'party', where: [{ column: 'week', op: '=', value: week }] }),
];
const ofTuples: readonly Ask[] = [
  askKind('pattern', pattern as never, { pattern: 'triangles of friend' }),
  askKind('pattern', pattern as never, { pattern: '2-paths of friend' }),
];

const week = '  week: { type: integer, bounds: [0, 3], public: true }\n';
const inWeeks = [...plain, ...byWeek(0), ...byWeek(2), ...byWeek(3), totals];
const withDelta = [
  '{ epsilon: 1, delta: 1e-6 }',
  '{ epsilon: 3, delta: 1e-7 }',
  '{ epsilon: 8, delta: 1e-5 }',
  '{ belief: { prior: 0.1, posterior: 0.3 }, delta: 1e-6 }',
];

/** Policies by name: protection, ties and possible questions. */
const policies: Readonly<
  Record<
    string,
    {
      readonly yaml: (budget: string) => string;
      readonly asks: readonly Ask[];
      readonly analysts?: readonly string[];
      readonly plain?: true;
      readonly budgets?: readonly string[];
    }
  >
> = {
  row: { yaml: (budget) => people({ budget }), asks: plain, plain: true },
  groups: {
    yaml: (budget) => people({ budget, dependence: '[{ kind: groups, by: home, column: party, oddsRatio: 3 }]' }),
    asks: plain,
  },
  week: { yaml: (budget) => people({ budget, week }), asks: inWeeks },
  'week, certain groups': {
    yaml: (budget) => people({ budget, week, dependence: '[{ kind: groups, by: home, oddsRatio: inf }]' }),
    asks: inWeeks,
    budgets: withDelta,
  },
  'week, groups': {
    yaml: (budget) => people({ budget, week, dependence: '[{ kind: groups, by: home, oddsRatio: 3 }]' }),
    asks: inWeeks,
    budgets: withDelta,
  },
  'week, relation': {
    yaml: (budget) =>
      people({
        budget,
        week: `${week}relations:\n  knows: { table: knows.csv, columns: [a, b], domain: 60 }\n`,
        dependence: '[{ kind: ties, relation: knows, oddsRatio: 4 }]',
        pairs: ', unit: id',
      }),
    asks: inWeeks,
    budgets: withDelta,
  },
  'week, groups and quotas': {
    yaml: (budget) =>
      people({
        budget: budget.replace(/ }$/, ', analysts: { ann: 0.6, bob: 0.5 } }'),
        week,
        dependence: '[{ kind: groups, by: home, oddsRatio: inf }]',
      }),
    asks: inWeeks,
    analysts: ['ann', 'bob'],
    budgets: withDelta,
  },
  pairs: {
    yaml: (budget) => people({ budget, pairs: ', pairs: { age: { within: 10 } }' }),
    asks: plain.filter((a) => a.kind !== 'workload'),
  },
  quota: {
    yaml: (budget) => people({ budget: budget.replace(/ }$/, ', analysts: { ann: 0.6, bob: 0.5 } }') }),
    asks: plain,
    analysts: ['ann', 'bob'],
  },
  tuples: { yaml: (budget) => ties(budget), asks: ofTuples },
  'tuples and quotas': {
    yaml: (budget) => ties(budget.replace(/ }$/, ', analysts: { ann: 0.6, bob: 0.5 } }')),
    asks: ofTuples,
    analysts: ['ann', 'bob'],
  },
};
const ties = (budget: string) => `data: { source: people.csv }
population: town
dependence: none
protect: { secret: edge }
budget: ${budget}
relations:
  friend: { table: friend.csv, columns: [a, b], domain: 12, symmetric: true }
`;
const people = ({
  budget,
  dependence = 'none',
  pairs = '',
  week = '',
}: {
  budget: string;
  dependence?: string;
  pairs?: string;
  week?: string;
}) => `data: { source: people.csv }
protect: { secret: row${pairs} }
budget: ${budget}
population: town
dependence: ${dependence}
columns:
  party: { type: category, values: [dem, rep, other] }
  age: { type: integer, bounds: [17, 90] }
  web: { type: category, values: [yes, no] }
  media: { type: category, values: [tv, paper, radio, none] }
${week}`;
const budgets = [
  '{ epsilon: 1 }',
  '{ epsilon: 1, delta: 1e-6 }',
  '{ epsilon: 1, delta: 1e-6 }',
  '{ epsilon: 3, delta: 1e-7 }',
  '{ belief: { prior: 0.1, posterior: 0.3 }, delta: 1e-6 }',
];

export async function runSequences({ sequences, seed, only = Object.keys(policies) }: Sequences): Promise<SequenceFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'fugu-remaining-'));
  const random = randomFrom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  writeFileSync(join(folder, 'people.csv'), peopleRows());
  writeFileSync(
    join(folder, 'knows.csv'),
    `a,b\n${[0, 1, 3, 4, 5, 8, 12, 13, 30, 31].map((i) => `p${i},p${i + 1}`).join('\n')}\n`,
  );
  writeFileSync(join(folder, 'friend.csv'), 'a,b\n0,1\n1,2\n2,0\n2,3\n3,4\n5,6\n');
  const opened = new Map<
    string,
    { policy: Awaited<ReturnType<typeof readPolicy>>; engine: Awaited<ReturnType<typeof openEngine>> }
  >();
  const open = async (name: string, budget: string) => {
    const key = `${name} ${budget}`;
    const known = opened.get(key);
    if (known) return known;
    const file = join(folder, `policy-${opened.size}.yaml`);
    writeFileSync(file, policies[name]!.yaml(budget));
    const policy = await readPolicy(file);
    const made = { policy, engine: await openEngine(policy) };
    opened.set(key, made);
    return made;
  };
  const found = { releases: 0, refused: 0, spared: 0, worst: 0, worstQuota: 0, figures: 0, where: '' };
  const [by, noises] = [new Map<string, number>(), new Map<string, number>()];
  const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);
  const [broken, excess] = [[] as string[], new Map<string, number>()];
  try {
    for (let s = 0; s < sequences; s++) {
      const name = pick(only);
      const { asks, analysts = ['ann'], plain: untied, budgets: possible = budgets } = policies[name]!;
      const budget = pick(possible);
      const { policy, engine } = await open(name, budget);
      const ledger = await openLedger(join(folder, `ledger-${s}.db`));
      const sessions = new Map<string, PrivacySession>();
      for (const analyst of analysts) sessions.set(analyst, await createSession({ policy, engine, ledger, analyst }));
      const receipts: Receipt[] = [];
      const done: string[] = [];
      const leftNow = async (session: PrivacySession) =>
        (await spendingOf({ policy, engine, ledger, session, close: async () => undefined })).budget.remaining;
      for (let k = 0; k < 3 + Math.floor(random() * 4); k++) {
        const analyst = pick(analysts);
        const session = sessions.get(analyst)!;
        const ask = pick(asks);
        const options: StepOptions = {
          fresh: true,
          ...pick<Partial<StepOptions>>([{}, { all: true }, ...shares.map((epsilon) => ({ epsilon }))]),
        };
        done.push(`${ask.kind} ${options.epsilon ?? (options.all ? 'all' : 'tenth')}`);
        const words = `${name} ${budget}: ${done.join(', ')}`;
        const note = (what: 'worst' | 'worstQuota' | 'figures', value: number, text: string) => {
          if (value > found[what]) {
            found[what] = value;
            found.where += `\n${what} ${value.toPrecision(3)} ${text} (${words})`;
          }
        };
        try {
          const before = await ask.plan(session, options);
          const accounts = await leftOfEach(session);
          const quotas = await quotasOf(session, ledger);
          const receipt = await ask.release(session, options);
          found.releases += 1;
          count(by, `${name}: ${ask.kind}`);
          count(noises, before.mechanism.split(',')[0]!);
          const tiny = { fresh: true, epsilon: '0.001' } as const;
          const after = await ask.plan(session, tiny).catch((error: unknown) => {
            if (error instanceof Fault && error.code === 'BUDGET_EXCEEDED') return undefined;
            throw error;
          });
          const ledgerLeft = await leftNow(session);
          // Everybody's figures are those of the ledger; a part of the data has its own.
          if (receipt) note('figures', Math.abs(receipt.epsilon - before.epsilon), 'receipt');
          if (after) note('figures', Math.abs(after.budget.remaining - ledgerLeft), 'plan and ledger');
          const [left, now] = [leftOf(before), after ? leftOf(after) : ledgerLeft];
          const moved = (await leftOfEach(session)).map((x, i) => accounts[i]! - x);
          const most = moved.length > 1 ? Math.max(...moved) : left - now;
          excess.set(name, Math.max(excess.get(name) ?? 0, most - before.epsilon));
          const words = `${left} - ${before.epsilon} -> ${now}; accounts ${moved.join(' ')}`;
          if (moved.length === 1) note('worst', Math.abs(most - before.epsilon), words);
          else if (before.epsilon - most > 1e-6) found.spared += 1;
          if (most - before.epsilon > 1e-6) note('worst', most - before.epsilon, words);
          const lost = (await quotasOf(session, ledger)).map((x, i) => quotas[i]! - x);
          lost.forEach((x, i) => {
            const most = analysts[i] === analyst ? before.epsilon : 0;
            if (quotas.length > 1)
              note('worstQuota', moved.length > 1 ? x - most : Math.abs(x - most), `quota of ${analysts[i]}`);
          });
          if (before.quota && after?.quota && moved.length === 1)
            note('worstQuota', Math.abs(before.quota.remaining - before.epsilon - after.quota.remaining), 'quota');
          if (receipt) receipts.push(receipt);
        } catch (error) {
          if (!(error instanceof Fault) || error.code !== 'BUDGET_EXCEEDED')
            throw new Error(`${words}: ${String(error)}`, { cause: error });
          found.refused += 1;
        }
      }
      if (untied && !holdsPromise(receipts)) broken.push(`${name} ${budget}: ${done.join(', ')}`);
      await ledger.close();
    }
  } finally {
    for (const { engine } of opened.values()) await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return { sequences, by, noises, broken, excess, ...found };
}

const shares = ['0.01', '0.02', '0.05', '0.1', '0.1', '0.2', '0.3'];
const leftOf = ({ parts, budget }: Plan): number => parts?.at(-1)?.remaining ?? budget.remaining;

/** Remaining budget of every quota, in the order of the analysts' names. */
const quotasOf = async ({ policy, account }: PrivacySession, ledger: Ledger): Promise<readonly number[]> =>
  (await quotaUses(policy, account, ledger)).map(({ remaining }) => remaining);

/** Remaining budget for everybody, and for each week where weeks are public. */
async function leftOfEach(session: PrivacySession): Promise<readonly number[]> {
  const { policy, account } = session;
  const spent = await session.balance();
  const parts = slicingsOf(policy).flatMap(({ slicing, first, last }) =>
    Array.from({ length: last - first + 1 }, (_, k) => {
      const values = { ranges: [{ from: first + k, to: first + k }], missing: false };
      return requestedParts(policy, account, spent, new Map([[slicing, values]]))[0]!.remaining;
    }),
  );
  return [budgetState(account, spent).remaining, ...parts];
}

/**
 * Independent arithmetic from the scales in receipts: pure epsilons added,
 * or zCDP added per draw and converted at the best of many orders.
 */
function holdsPromise(receipts: readonly Receipt[]): boolean {
  if (receipts.length === 0) return true;
  const { epsilon, delta } = receipts[0]!.guarantee;
  const draws = receipts.flatMap(drawsOf);
  const pure = draws.reduce((sum, d) => sum + (d.epsilon ?? Number.POSITIVE_INFINITY), 0);
  if (pure <= epsilon * (1 + 1e-9)) return true;
  const rho = draws.reduce((sum, d) => sum + (d.rho ?? priceOf(d.epsilon!)), 0);
  return delta > 0 && leastDelta(rho, epsilon) <= delta * (1 + 1e-6);
}

interface Draw {
  readonly epsilon?: number;
  readonly rho?: number;
}
/**
 * Replacing a row changes a sum of ages by up to 73, one count by one, and two cells of a table by one each.
 * For all others the reserved cost is used.
 */
function drawsOf({ profile, measures, label }: Receipt): readonly Draw[] {
  const booked = fraction(profile.perRecord['*'] ?? '0');
  const known = measures.every(({ noise }) => noise.kind === 'laplace' || noise.kind === 'gaussian');
  if (!known || label.startsWith('workload') || label.startsWith('at most'))
    return [profile.noise === 'pure' ? { epsilon: booked } : { rho: booked }];
  return measures.map(({ name, cells, noise }): Draw => {
    const [l1, l2squared] = name.startsWith('sum of age') ? [73, 73 ** 2] : cells === 1 ? [1, 1] : [2, 2];
    if (noise.kind === 'laplace') return { epsilon: l1 / fraction(noise.scale) };
    return noise.kind === 'gaussian' ? { rho: l2squared / (2 * fraction(noise.variance)) } : {};
  });
}
const priceOf = (epsilon: number): number => epsilon * ((Math.exp(epsilon) - 1) / (Math.exp(epsilon) + 1));

function leastDelta(rho: number, epsilon: number): number {
  const logDelta = (t: number): number => {
    const a = 1 + Math.exp(t);
    return (a - 1) * (a * rho - epsilon) - Math.log(a - 1) + a * Math.log1p(-1 / a);
  };
  // The best of many orders, and of many about it.
  const best = (from: number, to: number): number =>
    Array.from({ length: 2001 }, (_, k) => from + ((to - from) * k) / 2000).reduce(
      (m, t) => (logDelta(t) < logDelta(m) ? t : m),
      from,
    );
  const near = best(-8, 12);
  return Math.exp(logDelta(best(near - 0.02, near + 0.02)));
}

const fraction = (text: string): number => {
  const [num, den = '1'] = text.split('/');
  return Number(num) / Number(den);
};

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

const peopleRows = (): string =>
  `id,home,party,age,web,media,week\n${Array.from({ length: 60 }, (_, i) =>
    [
      `p${i}`,
      `h${Math.floor(i / 3)}`,
      ['dem', 'rep', 'other', ''][i % 4],
      20 + (i % 60),
      i % 3 ? 'yes' : 'no',
      ['tv', 'paper', 'radio', 'none'][(i * 7) % 4],
      i % 4,
    ].join(','),
  ).join('\n')}\n`;
