import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { routes } from '../../src/app/service/routes/routes.js';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

/** FUGU_MUTATIONS=10000 is the whole of it; the suite does some. */
const mutations = Number(process.env.FUGU_MUTATIONS ?? 400);

/** The same numbers every time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const seeds: readonly string[] = [
  { question: { kind: 'count', by: ['party'] }, epsilon: '1/1000' },
  { question: { kind: 'mean', column: 'age', where: [{ column: 'party', op: '=', value: 'left' }] }, epsilon: 0.001 },
  { question: { sql: 'SELECT party, avg(age) FROM data WHERE age > 30 GROUP BY party' }, epsilon: '1/999', tidy: true },
  {
    question: [
      { kind: 'histogram', column: 'age' },
      { kind: 'quantile', column: 'age', at: [0.5] },
    ],
    label: 'x',
    fresh: true,
  },
  { question: { stream: { query: { kind: 'count' }, order: 'week' } } },
  { question: { workload: { tables: [{ all: 1, of: ['party'] }] } } },
  { code: 'x' },
  { token: 'fugu_x' },
  { epsilon: '1', ties: [{ index: 0, oddsRatio: 'inf' }] },
  { belief: { prior: '0.1', posterior: '0.5' } },
  { entry: 1, column: 'party' },
  { rows: [{ age: 30 }] },
  { dependence: 'none', columns: ['party'] },
].map((body) => JSON.stringify(body));
const pieces = [
  '"',
  '{',
  ']',
  ',',
  '\\u0000',
  '\0',
  '9e999',
  '-0',
  'null',
  '[[[[',
  '1e-400',
  '\ud800',
  "' OR 1=1--",
  '../',
  '%s%n',
  'zz',
  '[]',
  '{}',
  'true',
  '__proto__',
  '999999999999999999999',
];

const inPath = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, ''));

describe('mutated requests', () => {
  it(
    `mutated requests are refused or answered, ${mutations} of them, and disclose nothing undeclared`,
    async () => {
      town = await openTown(undefined, { burst: 1e9, perSecond: 1e9, guesses: 1e9, jobsEach: 1e6 });
      // Cells that nothing declares: an undeclared answer, and names.
      for (const name of ['town.csv', 'village.csv']) {
        const file = join(town.folder, name);
        writeFileSync(
          file,
          readFileSync(file, 'utf8')
            .replaceAll(/^(\d+),left,/gm, 'zqmark$1,zqmark,')
            .replaceAll(/,h(\d)/g, ',zqmark$1'),
        );
      }
      const tokens = [town.token('root', 'steward'), town.token('ann', 'analyst'), town.token('eve', 'auditor'), 'fugu_no'];
      const random = numbers(20261117);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
      const mutated = (text: string): string => {
        let made = text;
        for (let n = Math.floor(random() * 3); n >= 0; n--) {
          const at = Math.floor(random() * (made.length + 1));
          const cut = Math.floor(random() * 6);
          const chosen = random();
          made =
            chosen < 0.4
              ? made.slice(0, at) + pick(pieces) + made.slice(at)
              : chosen < 0.7
                ? made.slice(0, at) + made.slice(at + cut)
                : made.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + made.slice(at + 1);
        }
        return made;
      };
      const statuses = new Map<number, number>();
      for (let k = 0; k < mutations; k++) {
        const route = pick(routes.filter(({ name }) => name !== 'verify' && name !== 'events'));
        const path = route.path
          .replace('{policy}', random() < 0.9 ? pick(['town', 'village']) : inPath(mutated('town')))
          .replace(/\{\w+\}/, () => (random() < 0.5 ? '1' : inPath(mutated('12'))));
        const query = random() < 0.2 ? `?${inPath(mutated('most=1'))}` : '';
        const headers: Record<string, string> = {
          authorization: `Bearer ${pick(tokens)}`,
          'content-type': random() < 0.95 ? 'application/json' : 'text/plain',
          ...(random() < 0.1 && { 'idempotency-key': pick(['a', 'b', 'x y', '']) }),
          ...(route.takesFile && { 'x-file-name': pick(['a.csv', '../a', 'b.xlsx', 'c.duckdb']) }),
        };
        const body = route.method === 'post' ? mutated(pick(seeds)) : undefined;
        const answer = await town.send(`${path}${query}`, {
          method: route.method.toUpperCase(),
          headers,
          ...(body !== undefined && { body }),
        });
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const text = JSON.stringify(answer.body);
        expect([path, body, answer.status >= 500 ? text : '']).toEqual([path, body, '']);
        // Data for the steward alone is as private as the rows.
        if (!['attack', 'draft', 'drafted', 'answerDraft'].includes(route.name))
          expect([path, body, text.includes('zqmark')]).toEqual([path, body, false]);
        if (answer.status >= 400) expect(text).not.toMatch(/\/(tmp|home|work|src)\//);
      }
      await town.service.jobs.ended();
      expect((await town.ask(tokens[0], '/v1/policies/town/ledger/verify')).body).toMatchObject({ ok: true });
      expect((await town.ask(tokens[0], '/v1/log/verify')).body.events).toBeGreaterThan(0.9 * mutations);
      expect(statuses.get(200)).toBeGreaterThan(0);
      expect(statuses.get(422)).toBeGreaterThan(mutations / 20);
      if (process.env.FUGU_MUTATIONS) console.log(JSON.stringify(Object.fromEntries([...statuses].sort())));
    },
    Math.max(300_000, 200 * mutations),
  );
});
