import { afterAll, describe, expect, it } from 'vitest';
import { adultFolder, ask, type Bench, openBench } from '../../../experiments/learning/adult.js';
import { releaseClassify } from './classify.js';

let bench: Bench | undefined;
afterAll(() => bench?.remove());

describe.skipIf(!adultFolder)('the census file at epsilon 1, rows declared independent', () => {
  it('is classified within two points of what is possible without privacy', async () => {
    bench = openBench(adultFolder!);
    expect(bench.train).toHaveLength(30_162);
    const plain = await bench.plain('logistic', 1e-5);
    expect(plain).toBeGreaterThan(0.85);
    for (const budget of ['{ epsilon: 1, delta: 1e-6 }', '{ epsilon: 1 }']) {
      const session = await bench.session(budget);
      const { result } = await releaseClassify(session, ask, { epsilon: '1' });
      await session.close();
      expect(plain - bench.accuracy(result)).toBeLessThan(budget.includes('delta') ? 0.01 : 0.02);
    }
  }, 60_000);
});
