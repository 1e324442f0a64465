import { afterAll, describe, expect, it } from 'vitest';
import { adultFolder, adultTask } from '../../../../experiments/learning/adult.js';
import { type Bench, openBench } from '../../../../experiments/learning/bench.js';
import { releaseClassify } from './classify.js';

let bench: Bench | undefined;
afterAll(() => bench?.remove());

describe.skipIf(!adultFolder)('the census file at epsilon 1, rows declared independent', () => {
  it('a classifier is within two points of the accuracy that is possible without privacy', async () => {
    bench = openBench(adultTask(adultFolder!));
    expect(bench.task.train).toHaveLength(30_162);
    const plain = await bench.plain('logistic', 1e-5);
    expect(plain).toBeGreaterThan(0.85);
    const loss = async (budget: string, model: string) => {
      const session = await bench!.session(budget);
      const { result } = await releaseClassify(session, { ...bench!.task.ask, model }, { epsilon: '1' });
      await session.close();
      return plain - bench!.accuracy(result);
    };
    expect(await loss('{ epsilon: 1, delta: 1e-6 }', 'logistic')).toBeLessThan(0.01);
    expect(await loss('{ epsilon: 1, delta: 1e-6 }', 'svm')).toBeLessThan(0.01);
    // Without delta: 0.3 points in the mean over many runs.
    expect(await loss('{ epsilon: 1 }', 'logistic')).toBeLessThan(0.008);
  });
});
