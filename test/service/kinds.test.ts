import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

describe('questions of every kind', () => {
  it('every kind is planned and released over HTTP like any other', async () => {
    town = await openTown('{ epsilon: 16 }');
    const ann = town.token('ann', 'analyst');
    const questions: readonly (readonly [object, string])[] = [
      [
        {
          queries: [
            { kind: 'count', by: ['party'] },
            { kind: 'mean', column: 'age' },
          ],
        },
        'tables',
      ],
      [{ sql: 'SELECT party, count(*) FROM data GROUP BY party ORDER BY party LIMIT 2' }, 'tables'],
      [{ survey: true }, 'tables'],
      [{ workload: { tables: [{ all: 1, of: ['party'] }] } }, 'tables'],
      [{ synth: { columns: ['party', 'age'], rows: 50 } }, 'result'],
      [{ classify: { label: 'party', positive: ['left'], features: ['age'] } }, 'result'],
      [{ kmeans: { columns: ['age'], clusters: 2 } }, 'result'],
    ];
    for (const [question, field] of questions) {
      const body = { question, epsilon: '1' };
      const plan = await town.ask(ann, '/v1/policies/town/plan', body);
      expect([question, plan.status, plan.status === 200 ? '' : plan.body]).toEqual([question, 200, '']);
      const release = await town.ask(ann, '/v1/policies/town/release', body);
      expect([question, release.status, release.status === 200 ? '' : release.body]).toEqual([question, 200, '']);
      expect(release.body).toHaveProperty(field);
      const { entry } = release.body.receipt.ledger;
      const recorded = await town.ask(ann, `/v1/policies/town/answers/${entry}`);
      // Rows are drawn again from the paid measurements.
      const of = (body: { [field: string]: unknown; result?: { measured?: unknown } }) => body.result?.measured ?? body[field];
      expect([question, of(recorded.body)]).toEqual([question, of(release.body)]);
      const report = await town.ask(ann, `/v1/policies/town/reports/${entry}`);
      expect(report.headers.get('content-type')).toContain('text/html');
      if ('classify' in question) {
        const { body: predicted } = await town.ask(ann, `/v1/policies/town/answers/${entry}/predict`, {
          rows: [{ age: 30 }, { age: 90 }],
        });
        expect(predicted.predictions).toHaveLength(2);
        expect((await town.ask(town.token('bob', 'analyst'), `/v1/policies/town/answers/${entry}`)).status).toBe(404);
      }
    }
  });

  it('every kind runs for every step of a stream, which pays for no step twice; the payer is not theirs to choose', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const stream = { query: { kind: 'count', by: ['party'] }, order: 'week', through: 3 };
    const body = { question: { stream }, epsilon: '1/4' };
    expect((await town.ask(ann, '/v1/policies/village/plan', body)).body.fits).toBe(true);
    const first = await town.ask(ann, '/v1/policies/village/release', body);
    expect(first.body.steps?.map((s: { replayed: boolean }) => s.replayed)).toEqual([false, false, false]);
    const again = await town.ask(ann, '/v1/policies/village/jobs', body);
    await town.service.jobs.ended();
    const { answer } = (await town.ask(ann, `/v1/jobs/${again.body.job}`)).body;
    expect(answer.steps.map((s: { replayed: boolean }) => s.replayed)).toEqual([true, true, true]);
    for (const more of [{ analyst: 'bob' }, { acceptNoProtection: true }])
      expect((await town.ask(ann, '/v1/policies/village/release', { question: { stream: { ...stream, ...more } } })).status).toBe(
        422,
      );
  });

  it('the service reports the spending at each step if the policy has steps', async () => {
    town = await openTown();
    const file = join(town.folder, 'walks.yaml');
    copyFileSync(join(import.meta.dirname, '../../examples/visits/visits.csv'), join(town.folder, 'visits.csv'));
    copyFileSync(join(import.meta.dirname, '../../examples/models/chain.json'), join(town.folder, 'chain.json'));
    const text = readFileSync(join(import.meta.dirname, '../../examples/visits/policy.yaml'), 'utf8');
    const chain = '{ "states": ["home", "work", "shop"], "transition": [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.3, 0.2, 0.5]] }';
    writeFileSync(join(town.folder, 'daily.json'), chain);
    writeFileSync(
      file,
      text
        .replace(
          'dependence: none',
          'dependence: [{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]',
        )
        .replace('secret: person, unit: person, maxRows: 14', 'secret: step'),
    );
    await town.service.serve(file);
    const root = town.token('root', 'steward');
    const day = { kind: 'count', by: ['place'], where: [{ column: 'day', op: '=', value: 3 }] };
    const release = await town.ask(root, '/v1/policies/walks/release', { question: day, epsilon: '1/4' });
    expect([release.status, release.status === 200 ? '' : release.body]).toEqual([200, '']);
    const { body } = await town.ask(root, '/v1/policies/walks/time');
    expect(body.column).toBe('day');
    expect(body.steps.find((s: { from: number }) => s.from === 3).spent).toBeGreaterThan(0);
  });
});
