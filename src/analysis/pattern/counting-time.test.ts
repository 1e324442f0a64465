import { afterEach, describe, expect, it, vi } from 'vitest';
import { openWorkshop } from '../../../test/workshop.js';
import { countingWork } from './counting-time.js';
import { analysePatternText, schemaFromText } from './query/analyse.js';
import { rowsJoined } from './query/compile.js';
import { planPattern, releasePattern } from './release.js';

const yaml = (domain: number) => `data: { source: ties.csv }
protect: { secret: edge }
budget: { epsilon: 2 }
population: town
ledger: ledger.db
relations:
  friend: { table: ties.csv, columns: [a, b], domain: ${domain}, symmetric: true }
dependence: none
`;
const ties = `a,b\n${Array.from({ length: 40 }, (_, i) => `p${i},p${(i + 1) % 40}`).join('\n')}\n`;

async function withSession<T>(
  domain: number,
  work: (session: Awaited<ReturnType<ReturnType<typeof openWorkshop>['session']>>) => Promise<T>,
) {
  const shop = openWorkshop(yaml(domain));
  shop.write('ties.csv', ties);
  const session = await shop.session();
  try {
    return await work(session);
  } finally {
    await session.close();
    shop.remove();
  }
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a pattern whose counting cannot end in time', () => {
  it.each(['3-paths', '4-paths', '5-cycles', '3-triangles'])(
    'an endless pattern is refused before anything is spent, and its plan states that: %s in a domain of the size of CA-GrQc',
    async (text) => {
      await withSession(5242, async (session) => {
        const plan = await planPattern(session, text);
        expect(plan.why).toContain('a release is refused');
        expect(plan.pattern.work.seconds).toBeGreaterThan(600);
        expect(plan).toMatchObject({ fits: true, refusal: expect.stringContaining('Counting would take about') });
        await expect(releasePattern(session, text)).rejects.toMatchObject({
          code: 'QUERY_UNSUPPORTED',
          hint: expect.stringContaining('FUGU_DEADLINE'),
        });
        expect((await session.spent()).pure.perRecord.size).toBe(0);
      });
    },
  );

  it('an endless pattern is refused without asking for confirmation of the price', async () => {
    await withSession(5242, async (session) => {
      const decide = vi.fn(async () => undefined);
      const asAnalyst = session.forPayer({ analyst: 'ann', decide });
      await expect(releasePattern(asAnalyst, '3-paths')).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
      expect(decide).not.toHaveBeenCalled();
      await releasePattern(asAnalyst, 'triangles');
      expect(decide).toHaveBeenCalledTimes(1);
    });
  });

  it('a pattern is answered when the public guess of ties is small enough, and the plan states the time for more ties', async () => {
    await withSession(5242, async (session) => {
      const plan = await planPattern(session, '3-paths', { degree: 4 });
      expect(plan.why).toContain('may not end within the deadline of 10 minutes; what it costs would then be spent');
      expect((await releasePattern(session, '3-paths', { degree: 4 })).receipt.ledger.entry).toBeGreaterThan(0);
    });
  });

  it('the configured deadline decides, and a recorded answer stays free under a shorter one', async () => {
    await withSession(250, async (session) => {
      vi.stubEnv('FUGU_DEADLINE', '10m');
      const first = await releasePattern(session, '4-paths', { degree: 8, epsilon: '1' });
      vi.stubEnv('FUGU_DEADLINE', '1s');
      expect((await releasePattern(session, '4-paths', { degree: 8, epsilon: '1' })).result).toEqual(first.result);
      await expect(releasePattern(session, '4-paths', { degree: 9, epsilon: '1' })).rejects.toMatchObject({
        code: 'QUERY_UNSUPPORTED',
      });
    });
  });

  it('the counting time depends on pattern, domain and guess only: triangles, stars and 2-paths of large networks are answered', async () => {
    await withSession(50_000, async (session) => {
      for (const text of ['triangles', '2-paths', '3-stars', 'edges'])
        expect((await planPattern(session, text)).why, text).toContain('Counting takes about');
    });
  });
});

describe('the bound on the rows of a join', () => {
  it('the bound is at least the rows of an enumeration goal by goal, when nobody has more ties than guessed', () => {
    const n = 7;
    // A ring with chords: everybody has four ties.
    const tied = (x: number, y: number) => x !== y && [1, 2, n - 1, n - 2].includes((y - x + n) % n);
    for (const text of ['3-paths', '4-cycles', '2-triangles', '3-stars']) {
      const { pattern } = analysePatternText(text, schemaFromText(text, n, { symmetric: true }));
      for (const part of [[...pattern.goals.keys()], [0, 2]]) {
        let rows: Map<number, number>[] = [new Map()];
        let most = 0;
        for (const g of part) {
          const [s, t] = pattern.goals[g]!.symbols as [number, number];
          rows = rows.flatMap((row) => {
            const found: Map<number, number>[] = [];
            for (let x = 0; x < n; x++)
              for (let y = 0; y < n; y++)
                if (tied(x, y) && (row.get(s) ?? x) === x && (row.get(t) ?? y) === y)
                  found.push(new Map([...row, [s, x], [t, y]]));
            return found;
          });
          most = Math.max(most, rows.length);
        }
        expect(rowsJoined(pattern, part, 4), `${text} ${part}`).toBeGreaterThanOrEqual(most);
      }
    }
  });

  it('the bound grows with the guess of ties', () => {
    const a = analysePatternText('3-paths', schemaFromText('3-paths', 1000, { symmetric: true }));
    const seconds = [5, 50, 1000].map((degree) => countingWork(a, 'residual-ladder', degree).seconds);
    expect(seconds).toEqual([...seconds].sort((x, y) => x - y));
  });
});
