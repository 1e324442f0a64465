import { policy } from './people.js';
import { samples } from './samples.js';
import { boundWithNoise, budgets, countedTimes, type Data, released, seeded } from './world.js';

const tests = [
  ['comparison of means', { kind: 'compare', column: 'income', between: 'sex' }],
  ['comparison of shares', { kind: 'compare', column: 'vote', values: ['red'], between: 'sex' }],
  ['comparison of rare shares', { kind: 'compare', column: 'faith', values: ['four'], between: 'sex' }],
  ['independence, 2 x 4', { kind: 'independence', columns: ['sex', 'vote'] }],
  ['independence, 2 x 3', { kind: 'independence', columns: ['sex', 'region'] }],
  ['independence, 2 x 5 with rare levels', { kind: 'independence', columns: ['sex', 'faith'] }],
] as const;

/**
 * Rate at which tests reject a true null hypothesis. Each draw assigns men and women anew: a fixed
 * assignment in a synthetic population has a small real difference, which 100,000 rows would find.
 */
export function* rejections(people: Data, draws: number, sizes: readonly number[]): Generator<string> {
  // Every row twice, once as a man and once as a woman.
  const size = people.age!.length;
  const twice: Data = {
    ...Object.fromEntries(Object.entries(people).map(([name, list]) => [name, [...list, ...list]])),
    sex: Array.from({ length: 2 * size }, (_, i) => (i < size ? 'm' : 'f')),
  };
  const counts = tests.map(([, query]) => countedTimes(policy, boundWithNoise(policy, query, budgets[0]![1]), twice));
  const random = seeded(5);
  yield '';
  yield '| test | noise | n | rejected at 5 % |';
  yield '|---|---|---:|---:|';
  for (const n of sizes) {
    const asks = tests.flatMap(([name, query], t) =>
      budgets.map(([words, budget]) => ({
        name,
        words,
        count: counts[t]!,
        ask: boundWithNoise(policy, query, budget),
        rejected: 0,
        of: 0,
      })),
    );
    for (let k = 0; k < draws; k++) {
      const all = samples.alike.draw(people, n, random);
      const times = new Int32Array(2 * size);
      all.forEach((some, i) => {
        for (let j = 0; j < some; j++) times[random() < 0.4 ? i : size + i]!++;
      });
      for (const one of asks) {
        const [table] = released(one.ask, one.count(times), random);
        const chance = table!.rows.find(({ keys }) => keys.at(-1) === 'p-value')!.value;
        if (chance === null) continue;
        one.of++;
        if (chance < 0.05) one.rejected++;
      }
    }
    for (const { name, words, rejected, of } of asks)
      yield `| ${name} | ${words} | ${n} | ${((100 * rejected) / of).toFixed(1)} |`;
  }
}
