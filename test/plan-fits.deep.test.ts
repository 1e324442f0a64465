import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { planClassify, releaseClassify } from '../src/analysis/learn/classify/classify.js';
import { planKmeans, releaseKmeans } from '../src/analysis/learn/kmeans/kmeans.js';
import { planClustering, releaseClustering } from '../src/analysis/pattern/clustering.js';
import { planDegrees, releaseDegrees } from '../src/analysis/pattern/degrees/release.js';
import { planPattern, releasePattern } from '../src/analysis/pattern/release.js';
import { registerPlanCommand } from '../src/app/cli/plan.js';
import type { Plan } from '../src/release/session/plan.js';
import type { PrivacySession, ReleaseOptions } from '../src/release/session/session.js';
import { releaseContextOf } from '../src/release/session/session.js';
import { runCommand } from './command.js';
import { now } from './now.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

/** A plan's statement about the budget matches the ledger's decision for every kind of question. */
let shop: Workshop;
afterEach(() => shop?.remove());

interface Kind {
  readonly plan: (session: PrivacySession, options: ReleaseOptions) => Promise<Plan>;
  readonly release: (session: PrivacySession, options: ReleaseOptions) => Promise<unknown>;
  readonly protect?: string;
}
const query = (request: unknown): Kind => ({
  plan: (s, o) => s.plan(request, o),
  release: (s, o) => s.release(request, o),
});
const kmeans = (request: unknown): Kind => ({
  plan: (s, o) => planKmeans(s, request, o),
  release: (s, o) => releaseKmeans(s, request, o),
});
const classify = (more: object): Kind => {
  const request = { label: 'party', positive: ['dem'], features: ['age', 'home'], ...more };
  return { plan: (s, o) => planClassify(s, request, o), release: (s, o) => releaseClassify(s, request, o) };
};
const pattern = (text: string, protect: string): Kind => ({
  plan: (s, o) => planPattern(s, text, o),
  release: (s, o) => releasePattern(s, text, o),
  protect,
});
const edge = '{ secret: edge }';
const person = '{ secret: person, unit: id, maxRows: 1 }';
const kinds: Readonly<Record<string, Kind>> = {
  'a count': query({ kind: 'count' }),
  'a batch': query({ queries: [{ kind: 'histogram', column: 'party' }, { kind: 'quantile', column: 'age', at: [0.5] }] }), // biome-ignore format: one line
  'k-means over a grid': kmeans({ columns: ['age'], clusters: 2, variant: 'grid' }),
  'k-means by halving': kmeans({ columns: ['age'], clusters: 2, variant: 'halving' }),
  'k-means by Lloyd': kmeans({ columns: ['age'], clusters: 2, variant: 'lloyd' }),
  'a classifier by its output': classify({ method: 'output' }),
  'a classifier by a linear term, with selection': classify({ method: 'tilt', select: { keep: 1 } }),
  'a classifier by steps, with selection': classify({ method: 'sgd', select: { keep: 1 } }),
  'a pattern with single ties secret': pattern('triangles of friend', edge),
  'a pattern with persons secret': pattern('triangles of friend', person),
  'degrees with single ties secret': { plan: planDegrees, release: releaseDegrees, protect: edge },
  'degrees with persons secret': { plan: planDegrees, release: releaseDegrees, protect: person },
  'a clustering coefficient': {
    plan: (s, o) => planClustering(s, 'clustering coefficient of friend', o),
    release: (s, o) => releaseClustering(s, 'clustering coefficient of friend', o),
    protect: edge,
  },
};
const people = 60;
const friends = `a,b\n${Array.from({ length: people - 2 }, (_, k) => `p${k},p${k + 1}\np${k},p${k + 2}`).join('\n')}\n`;
const relations = 'relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 100, symmetric: true }\n';

type FitOutcome = readonly [epsilon: string, fits: boolean, released: boolean, entries: number];
/** Requests above the whole budget, within it, above the remaining budget, all of it, and anything more. */
const request = ['5', '0.5', '0.75', '0.5', '0.125'];

async function refusals(kind: Kind, budget: string, plan: Kind['plan'] = kind.plan): Promise<readonly FitOutcome[]> {
  const yaml = policyYaml({ budget, extra: relations, ...(kind.protect && { protect: kind.protect }) });
  shop = openWorkshop(yaml.replace('columns:\n', 'columns:\n  home: { type: category, values: [h0, h1] }\n'), people);
  shop.write('friends.csv', friends);
  const session = await shop.session();
  const outcomes: FitOutcome[] = [];
  for (const epsilon of request) {
    const { fits } = await plan(session, { epsilon });
    const released = await kind.release(session, { epsilon, fresh: true }).then(
      () => true,
      (error: { code?: string }) => {
        expect(error.code).toBe('BUDGET_EXCEEDED');
        return false;
      },
    );
    outcomes.push([epsilon, fits, released, (await releaseContextOf(session).ledger.entries('town')).length]);
  }
  await session.close();
  shop.remove();
  return outcomes;
}
const right: readonly FitOutcome[] = [
  ['5', false, false, 0],
  ['0.5', true, true, 1],
  ['0.75', false, false, 1],
  ['0.5', true, true, 2],
  ['0.125', false, false, 2],
];

describe('a plan and the admission of its release', () => {
  for (const [what, kind] of Object.entries(kinds)) {
    it(what, async () => {
      expect(await refusals(kind, '{ epsilon: 1 }')).toEqual(right);
    });
    if (!kind.protect)
      it(`the plan fits exactly if the release is admitted: ${what}, with a delta`, async () => {
        expect(await refusals(kind, '{ epsilon: 1, delta: 1e-6 }')).toEqual(right);
      });
  }

  it('the test detects a plan that always fits', async () => {
    const kind = kinds['k-means over a grid']!;
    const sure: Kind['plan'] = async (s, o) => ({ ...(await kind.plan(s, o)), fits: true });
    expect(await refusals(kind, '{ epsilon: 1 }', sure)).not.toEqual(right);
  });
});

describe('a plan for a release that is refused independent of its cost', () => {
  for (const [what, kind] of Object.entries(kinds))
    it(`the plan is refused under other terms, and with the account of moved data: ${what}`, async () => {
      const yaml = policyYaml({ extra: relations, ...(kind.protect && { protect: kind.protect }) }).replace(
        'columns:\n',
        'columns:\n  home: { type: category, values: [h0, h1] }\n',
      );
      const edges = kind.protect === edge;
      shop = openWorkshop(yaml, people);
      shop.write('friends.csv', friends);
      const outcomes = async (file: string) => {
        const session = await shop.session(shop.write('asked.yaml', file));
        const code = (work: Promise<unknown>) =>
          work.then(
            () => 'none',
            (error: { code?: string }) => error.code,
          );
        const codes = [
          await code(kind.plan(session, { epsilon: '0.125' })),
          await code(kind.release(session, { epsilon: '0.125', fresh: true })),
        ];
        await session.close();
        return codes;
      };
      expect(await outcomes(yaml)).toEqual(['none', 'none']);
      expect(await outcomes(yaml.replace('epsilon: 1 }', 'epsilon: 2 }'))).toEqual(['LEDGER_MISMATCH', 'LEDGER_MISMATCH']);
      const usual = yaml.replace('population: town\n', '');
      expect(await outcomes(usual)).toEqual(['none', 'none']);
      const [from, to] = edges ? ['friends.csv', 'ties.csv'] : ['people.csv', 'rows.csv'];
      renameSync(join(shop.folder, from), join(shop.folder, to));
      expect(await outcomes(usual.replace(from, to))).toEqual(['LEDGER_MISMATCH', 'LEDGER_MISMATCH']);
    });
});

describe('records that are left out', () => {
  const yaml = policyYaml({
    dependence: '[{ kind: ties, relation: friend, oddsRatio: 2, maxTies: 3 }]',
    extra: relations,
  });
  const hub = (known: number) => `a,b\n${Array.from({ length: known }, (_, k) => `p0,p${k + 1}`).join('\n')}\n`;

  it('every plan that reads rows reports records left out, even if another bound applies after the ties were edited', async () => {
    shop = openWorkshop(yaml, people);
    shop.write('friends.csv', hub(40));
    const first = await shop.session();
    await first.release({ kind: 'count' }, { epsilon: '0.02' });
    const before = (await first.plan({ kind: 'count' })).records;
    await first.close();
    shop.write('friends.csv', hub(30));
    const later = await shop.session();
    const left = (await (await now(releaseContextOf(later).engine)).rows({ sql: 'SELECT id FROM fugu_data', values: [] })).open()
      .length;
    expect(left).toBeLessThan(people);
    const plans = [
      await later.plan({ kind: 'count' }, { epsilon: '0.02' }),
      await planKmeans(later, { columns: ['age'], clusters: 2 }, { epsilon: '0.02' }),
    ];
    for (const plan of plans) expect(plan.records).toEqual({ used: left, leftOut: people - left });
    expect(plans[0]!.records).not.toEqual(before);
    expect(plans[0]!.route).not.toMatch(/used records/);
    const { receipt } = await later.release({ kind: 'count' }, { epsilon: '0.02', fresh: true });
    expect(receipt.records).toEqual(plans[0]!.records);
    await later.close();
    const outcomes = await runCommand(
      registerPlanCommand,
      'plan',
      shop.policyFile,
      '--query',
      '{"kind":"count"}',
      '--epsilon',
      '0.02',
    );
    expect(outcomes).toContain(`About ${left} of ${people} records: ${people - left} are left out`);
  });
});
