import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { problemOf } from '../../src/app/service/problem.js';
import { Fault } from '../../src/base/errors.js';
import { openTown, type ServedTown } from './served.js';

let opened: ServedTown[] = [];
let town: ServedTown;
const open = async () => {
  town = await openTown();
  opened.push(town);
};
afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
});

/** A policy that names neither a population nor a ledger, so that both follow from where its files lie. */
async function addUnnamed(): Promise<void> {
  const rows = Array.from({ length: 40 }, (_, k) => `${k},${['left', 'right'][k % 2]},${1 + (k % 5)}`);
  mkdirSync(join(town.folder, 'rows'));
  writeFileSync(join(town.folder, 'rows', 'people.csv'), `id,party,week\n${rows.join('\n')}\n`);
  writeFileSync(join(town.folder, 'rows', 'friends.csv'), 'a,b\n1,2\n3,4\n');
  writeFileSync(
    join(town.folder, 'unnamed.yaml'),
    `data: { source: rows/people.csv }
protect: { secret: row, unit: id }
budget: { epsilon: 4, analysts: { ann: 2, bob: 2 } }
relations: { friend: { table: rows/friends.csv, columns: [a, b], domain: 40, symmetric: true, private: false } }
columns:
  party: { type: category, values: [left, right] }
  week: { type: integer, bounds: [1, 5], public: true }
dependence: [{ kind: ties, relation: friend, column: party, oddsRatio: 4 }]
`,
  );
  await town.service.serve(join(town.folder, 'unnamed.yaml'));
}

describe('the answers to an analyst', () => {
  it('no answer shows an analyst where files lie', async () => {
    await open();
    await addUnnamed();
    for (const name of ['unnamed', 'village']) {
      const at = `/v1/policies/${name}`;
      for (const role of ['analyst', 'auditor'] as const) {
        const token = town.token('ann', role);
        const request = { question: { kind: 'count', by: ['party'] }, epsilon: '1/4' };
        const { body } = await town.ask(town.token('ann', 'analyst'), `${at}/release`, request);
        const entry = body.receipt.ledger.entry;
        const paths = ['', '/check', '/belief', '/budget', '/ledger', '/time', '/leakage', '/ties', '/ledger/verify'];
        const own = ['receipts', 'answers', 'reports'].map((what) => `/${what}/${entry}`);
        const posted = ['/plan', '/release', '/jobs', '/what-if', '/attack'];
        const leaked = [
          body,
          ...(await Promise.all([...paths, ...own].map(async (path) => (await town.ask(token, `${at}${path}`)).body))),
          ...(await Promise.all(posted.map(async (path) => (await town.ask(token, `${at}${path}`, request)).body))),
          ...(await Promise.all(posted.map(async (path) => (await town.ask(token, `${at}${path}`, { question: {} })).body))),
        ];
        for (const answer of leaked) expect(JSON.stringify(answer)).not.toContain(town.folder);
      }
    }
    expect(JSON.stringify((await town.ask(town.token('ann', 'analyst'), '/v1/policies/unnamed/check')).body)).toContain(
      'spending is recorded for people in the ledger of this service',
    );
  });

  it('no fault shows an analyst a folder: those texts are for the person at the machine', () => {
    const texts = (message: string, hint: string, file?: string) => {
      const {
        title,
        hint: leaked,
        path,
      } = problemOf(
        new Fault('DISK_FULL', message, hint, {
          details: { path: '/srv/fugu/a.csv' },
          ...(file !== undefined && { place: { file } }),
        }),
        'x',
      );
      return [title, leaked, path];
    };
    expect(texts('The file /srv/fugu/log/1.jsonl could not be written: full.', 'Use "fugu confirm /srv/p.yaml --all".')).toEqual([
      'The file 1.jsonl could not be written: full.',
      'Use "fugu confirm p.yaml --all".',
      'a.csv',
    ]);
    expect(texts('See /srv/my data/x.csv.', 'GET /v1/policies/{policy}/ledger lists 1/2 and a/b.', '/srv/my data/x.csv')).toEqual(
      ['See x.csv.', 'GET /v1/policies/{policy}/ledger lists 1/2 and a/b.', 'a.csv'],
    );
  });

  it('no answer shows an analyst the names others gave their requests, even if others paid for it', async () => {
    await open();
    const [ann, bob] = [town.token('ann', 'analyst'), town.token('bob', 'analyst')];
    const request = { question: { kind: 'count', by: ['party'] }, epsilon: '1/4' };
    const first = await town.ask(ann, '/v1/policies/town/release', { ...request, label: 'about my thesis' });
    expect(first.body.receipt.label).toBe('about my thesis');
    const second = await town.ask(bob, '/v1/policies/town/release', request);
    expect(second.body.tables).toEqual(first.body.tables);
    expect(JSON.stringify(second.body)).not.toMatch(/thesis|"ann"/);
    expect((await town.ask(bob, '/v1/policies/town/release', { ...request, label: 'mine' })).body.receipt.label).toBe('mine');
    expect((await town.ask(ann, '/v1/policies/town/release', request)).body.receipt.label).toBe('about my thesis');
  });
});

describe('the answers to an auditor', () => {
  it('an auditor sees exact figures about ties only if everybody may know them', async () => {
    await open();
    const [otto, root] = [town.token('otto', 'auditor'), town.token('root', 'steward')];
    const textOf = (name: string) => readFileSync(join(town.folder, `${name}.yaml`), 'utf8').replace(/population: .*/, '');
    const hidden = {
      sizes: textOf('village').replace('oddsRatio: 4', 'oddsRatio: 4, maxSize: 5'),
      counts: textOf('town').replace('unit: id', 'unit: id, neighbours: add-remove'),
    };
    expect((await town.ask(otto, '/v1/policies/village/leakage')).status).toBe(200);
    for (const [name, text] of Object.entries(hidden)) {
      writeFileSync(join(town.folder, `${name}.yaml`), `${text}population: ${name}\n`);
      await town.service.serve(join(town.folder, `${name}.yaml`));
      expect([name, (await town.ask(otto, `/v1/policies/${name}/leakage`)).status]).toEqual([name, 403]);
      expect([name, (await town.ask(root, `/v1/policies/${name}/leakage`)).status]).toEqual([name, 200]);
    }
  });
});

describe('an Idempotency-Key', () => {
  it('an Idempotency-Key pays for new totals of a stream once, wherever the request marks them as new', async () => {
    await open();
    await addUnnamed();
    const ann = town.token('ann', 'analyst');
    const spent = async () => (await town.ask(ann, '/v1/policies/unnamed/budget')).body.budget.spent;
    const stream = { query: { kind: 'count', by: ['party'] }, order: 'week', totals: true, through: 3 };
    for (const [k, body] of [
      { question: { stream }, epsilon: '1/4', fresh: true },
      { question: { stream: { ...stream, fresh: true } }, epsilon: '1/4' },
    ].entries()) {
      const once = () => town.ask(ann, '/v1/policies/unnamed/release', body, { 'idempotency-key': `k${k}` });
      const before = await spent();
      const first = await once();
      expect(first.status).toBe(200);
      const after = await spent();
      expect(after).toBeGreaterThan(before);
      expect((await once()).body.steps.map((s: { totals: unknown }) => s.totals)).toEqual(
        first.body.steps.map((s: { totals: unknown }) => s.totals),
      );
      expect(await spent()).toBe(after);
    }
  });
});
