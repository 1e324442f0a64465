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
    const loss = async (budget: string, model: string) => {
      const session = await bench!.session(budget);
      const { result } = await releaseClassify(session, { ...ask, model }, { epsilon: '1' });
      await session.close();
      return plain - bench!.accuracy(result);
    };
    expect(await loss('{ epsilon: 1, delta: 1e-6 }', 'logistic')).toBeLessThan(0.01);
    expect(await loss('{ epsilon: 1, delta: 1e-6 }', 'svm')).toBeLessThan(0.01);
    // Without delta: 1.3 points in the mean over many runs, never more than 1.5 so far.
    expect(await loss('{ epsilon: 1 }', 'svm')).toBeLessThan(0.02);
  }, 60_000);
});
