import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leakageBounds } from '../../privacy/dependence/leakage.js';
import { enumerate } from '../../privacy/dependence/model/joint.js';
import type { Model } from '../../privacy/dependence/model/model.js';
import { readModel } from '../../privacy/dependence/model/model-file.js';
import { compareOnModel } from '../papers/compare/comparison.js';
import { compareSums } from '../papers/compare/sums.js';
import { audit, calibrate, prepareAudit } from './audit.js';
import { type Adversary, exactLoss } from './exact-loss.js';
import { type RecordQuery, readRecordQuery, stateAnswers } from './record-query.js';

const example = (name: string) => {
  const file = new URL(`../../../examples/models/${name}.json`, import.meta.url);
  return readModel(readFileSync(file, 'utf8'), file.pathname);
};
const adversaries: readonly Adversary[] = ['informed', 'uninformed'];

describe('fugu audit', () => {
  it('the audit names the record, the knowledge and the output of the worst case', () => {
    expect(audit(prepareAudit(example('xor'), 'sum'), 1, 'informed')).toEqual({
      adversary: 'informed',
      query: 'sum',
      scale: 1,
      loss: expect.closeTo(2, 12),
      record: 'parity',
      values: [0, 1],
      known: { left: 0 },
      output: 0,
      assumptions: [],
    });
  });

  it('the audit calibrates to the least scale, at which the loss is epsilon', () => {
    for (const adversary of adversaries) {
      const found = calibrate(prepareAudit(example('half-and-half'), 'sum'), 0.5, adversary);
      expect(found.scale).toBeCloseTo(4, 9);
      expect(found.loss).toBeLessThanOrEqual(0.5);
      expect(found.loss).toBeCloseTo(0.5, 9);
    }
  });

  it('the command prints one JSON document', {
    skip: !existsSync(new URL('../../../dist/app/cli/audit.js', import.meta.url)),
  }, () => {
    const root = new URL('../../..', import.meta.url);
    const run = (...words: string[]) =>
      JSON.parse(execFileSync('node', ['dist/app/cli/main.js', ...words, '--json'], { cwd: root, encoding: 'utf8' }));
    expect(
      run('audit', 'examples/models/xor.json', '--query', 'identity', '--scale', '1', '--adversary', 'uninformed').loss,
    ).toBeCloseTo(1.43378, 5);
    expect(run('audit', 'examples/models/xor.json', '--query', 'sum', '--calibrate', '1').scale).toBeCloseTo(2, 8);
    expect(run('compare', 'examples/models/xor.json', '--query', 'sum', '--epsilon', '1').mechanisms.length).toBeGreaterThan(12);
  });
});

describe('fugu compare', () => {
  const by = (name: string, query: string, epsilon: number) =>
    new Map(compareOnModel(example(name), query, epsilon).mechanisms.map((m) => [m.name, m]));

  it('on the xor model the comparison shows which published mechanisms break, and by how much', () => {
    for (const [epsilon, loss] of [
      [0.1, 0.10499],
      [1, 1.43378],
      [10, 19.30685],
    ] as const) {
      const found = by('xor', 'sum', epsilon);
      for (const name of ['laplace', 'group-pairwise', 'zhu', 'dpm-eq14', 'dpm-eq18']) {
        const m = found.get(name)!;
        expect(m, name).toMatchObject({ certified: false, holds: false });
        expect(m.lossUninformed, name).toBeCloseTo(loss, 5);
        expect(m.lossInformed, name).toBeCloseTo(2 * epsilon, 9);
        expect(m.ratio, name).toBeCloseTo(m.lossUninformed / epsilon, 12);
      }
    }
  });

  it('on Example 1 of Liu et al. 2016 plain noise loses twice epsilon, and correlations do not repair it', () => {
    const found = by('half-and-half', 'sum', 1);
    expect(found.get('laplace')).toMatchObject({ holds: false, ratio: expect.closeTo(2, 9) });
    expect(found.get('zhu')).toMatchObject({ holds: false, ratio: expect.closeTo(2 / 1.70710678119, 9) });
    expect(found.get('dpm-eq14')).toMatchObject({ holds: true, scale: expect.closeTo(2, 9) });
    expect(found.get('wasserstein')).toMatchObject({ holds: true, scale: 2 });
  });

  it('every certified promise holds', () => {
    for (const name of ['xor', 'half-and-half', 'household'])
      for (const query of ['sum', 'identity', 'histogram', 'atLeast:1', 'product'])
        for (const epsilon of [0.1, 1, 5])
          for (const m of by(name, query, epsilon).values())
            if (m.certified) expect(m.holds, `${name} ${query} ${epsilon} ${m.name}`).toBe(true);
  });

  it('the certified scales are ordered: exact, then Wasserstein or the calculus, then group', () => {
    const found = by('household', 'sum', 1);
    const scale = (name: string) => found.get(name)!.scale;
    expect(scale('exact-informed')).toBeLessThanOrEqual(scale('calculus-informed'));
    expect(scale('exact-informed')).toBeLessThanOrEqual(scale('wasserstein-informed'));
    expect(scale('calculus-informed')).toBeLessThanOrEqual(scale('group'));
    expect(scale('wasserstein-informed')).toBeLessThanOrEqual(scale('group'));
  });
});

describe('fugu compare on chains too long to enumerate', () => {
  const chain = (stay: number, epsilon: number) => {
    const transition = [
      [stay, 1 - stay],
      [1 - stay, stay],
    ].map((row) => row.map((p) => Number(p.toFixed(10))));
    const model = readModel(JSON.stringify({ chain: { length: 100, transition, initial: 'stationary' } }), 'chain.json');
    return new Map(compareOnModel(model, 'sum', epsilon).mechanisms.map((m) => [m.name, m]));
  };

  it('the calculus beats the Markov quilt three to six times at epsilon up to one, with the scales of the design', () => {
    const rows = [
      [0.6, 0.2, 29.76, 7.5, 7.49],
      [0.8, 1, 13.08, 3.96, 3.85],
      [0.9, 1, 31.74, 8.91, 8.64],
    ] as const;
    for (const [stay, epsilon, quilt, informed, uninformed] of rows) {
      const found = chain(stay, epsilon);
      expect(found.get('markov-quilt')!.scale).toBeCloseTo(quilt, 2);
      expect(found.get('markov-quilt-approximate')!.scale).toBeGreaterThan(found.get('markov-quilt')!.scale);
      expect(found.get('calculus-informed')!.scale).toBeCloseTo(informed, 2);
      expect(found.get('calculus')!.scale).toBeCloseTo(uninformed, 2);
      expect(found.get('exact')!.scale).toBeLessThanOrEqual(found.get('calculus')!.scale * (1 + 1e-8));
      for (const m of found.values()) expect(m.holds, m.name).toBe(m.certified || m.name === 'inferential');
    }
  });

  it('message passing agrees with enumeration where both are possible', () => {
    const model = readModel(
      JSON.stringify({
        chain: {
          length: 7,
          transition: [
            [0.9, 0.1],
            [0.4, 0.6],
          ],
          initial: [0.5, 0.5],
        },
      }),
      'chain.json',
    );
    const small = new Map(compareOnModel(model, 'sum', 1).mechanisms.map((m) => [m.name, m]));
    for (const m of compareSums(model, 'sum', 1)!.mechanisms) {
      const other = small.get(m.name);
      if (!other) continue;
      expect(m.scale, m.name).toBeCloseTo(other.scale, 6);
      expect(m.lossUninformed, m.name).toBeCloseTo(other.lossUninformed, 6);
    }
  });

  it('other queries are refused with the size', () => {
    const model = readModel(
      JSON.stringify({
        chain: {
          length: 50,
          transition: [
            [0.9, 0.1],
            [0.4, 0.6],
          ],
          initial: 'any',
        },
      }),
      'chain.json',
    );
    expect(() => compareOnModel(model, 'identity', 1)).toThrow(
      expect.objectContaining({ code: 'MODEL_TOO_LARGE', details: { size: 2 ** 50, limit: 2 ** 20 } }),
    );
  });
});

/** A few records with random ties, zeros among the weights. */
const models: fc.Arbitrary<Model> = fc
  .record({
    sizes: fc.array(fc.integer({ min: 2, max: 3 }), { minLength: 2, maxLength: 4 }),
    scopes: fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    weights: fc.array(
      fc.oneof({ arbitrary: fc.constant(0), weight: 1 }, { arbitrary: fc.integer({ min: 1, max: 50 }), weight: 8 }),
      { minLength: 120, maxLength: 120 },
    ),
  })
  .map(({ sizes, scopes, weights }) => {
    let next = 0;
    const factors = scopes.map((scope) => {
      const records = [...new Set(scope.map((s) => s % sizes.length))];
      const cells = records.reduce((product, r) => product * sizes[r]!, 1);
      return { records, table: Float64Array.from({ length: cells }, () => weights[next++ % weights.length]!) };
    });
    return { ids: sizes.map((_, j) => `r${j}`), values: sizes.map((m) => Array.from({ length: m }, (_, v) => v)), factors };
  })
  .filter((model) => {
    try {
      enumerate(model);
      return true;
    } catch {
      return false;
    }
  });
const queries = fc.constantFrom('sum', 'identity', 'histogram', 'atLeast:1', 'product');

describe('mechanisms on random models', () => {
  it('every certified mechanism keeps its promise', () => {
    fc.assert(
      fc.property(models, queries, fc.constantFrom(0.1, 1, 6), (model, query, epsilon) => {
        for (const m of compareOnModel(model, query, epsilon).mechanisms)
          if (m.certified) expect(m.ratio, m.name).toBeLessThanOrEqual(1 + 1e-7);
      }),
      { numRuns: 60 },
    );
  });

  it('the exact scale is least, and the calculus stays below group noise', () => {
    fc.assert(
      fc.property(models, queries, fc.constantFrom(0.2, 2), (model, query, epsilon) => {
        const found = new Map(compareOnModel(model, query, epsilon).mechanisms.map((m) => [m.name, m.scale]));
        const scale = (name: string) => found.get(name)! * (1 + 1e-9);
        expect(found.get('exact-informed')).toBeLessThanOrEqual(scale('calculus-informed'));
        expect(found.get('exact-informed')).toBeLessThanOrEqual(scale('wasserstein-informed'));
        expect(found.get('exact')).toBeLessThanOrEqual(scale('exact-informed'));
        expect(found.get('calculus-informed')).toBeLessThanOrEqual(scale('group'));
        expect(found.get('wasserstein')).toBeLessThanOrEqual(scale('wasserstein-informed'));
      }),
      { numRuns: 40 },
    );
  });

  it('the exact loss stays below the leakage of the calculus, and that below the group bound', () => {
    fc.assert(
      fc.property(models, queries, fc.double({ min: 0.1, max: 20, noNaN: true }), (model, query, scale) => {
        const { joint, answers } = prepareAudit(model, query);
        const costs = Float64Array.from(answers.sensitivities, (sensitivity) => sensitivity / scale);
        for (const adversary of adversaries) {
          const bound = leakageBounds(model, costs, adversary);
          const { loss, slack } = exactLoss(joint, answers, scale, { adversary });
          expect(loss).toBeLessThanOrEqual(bound.worst.leakage + slack);
          expect(bound.worst.leakage).toBeLessThanOrEqual(bound.group);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('an informed adversary gains at least as much as an uninformed one, and less noise never gains less', () => {
    fc.assert(
      fc.property(models, queries, fc.double({ min: 0.05, max: 20, noNaN: true }), (model, query, scale) => {
        const { joint, answers } = prepareAudit(model, query);
        const loss = (s: number, adversary: Adversary) => exactLoss(joint, answers, s, { adversary }).loss;
        expect(loss(scale, 'uninformed')).toBeLessThanOrEqual(loss(scale, 'informed') + 1e-9);
        for (const adversary of adversaries)
          expect(loss(scale * 1.3, adversary)).toBeLessThanOrEqual(loss(scale, adversary) + 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  /** Likelihoods of finitely many outputs, state by state: enough to post-process and to mix (Liu et al. 2016, Theorems 5 and 6). */
  const kernelOf = (model: Model, query: string, scale: number) => {
    const { joint, answers } = prepareAudit(model, query);
    const outputs = [...new Set(answers.points)];
    const rows = Array.from(joint.probabilities, (_, state) => {
      const likelihood = outputs.map((s) => Math.exp(-Math.abs(answers.points[state * answers.width]! - s) / scale));
      const total = likelihood.reduce((sum, p) => sum + p, 0);
      return likelihood.map((p) => p / total);
    });
    return { joint, rows };
  };
  /** The exact loss of a finite mechanism: per output, over records, pairs of values and known sets. */
  const finiteLoss = (joint: ReturnType<typeof enumerate>, rows: readonly (readonly number[])[]) => {
    const n = joint.sizes.length;
    let worst = 0;
    for (let mask = 0; mask < 1 << n; mask++)
      for (let i = 0; i < n; i++) {
        if ((mask >> i) & 1) continue;
        const cells = new Map<string, Map<number, { mass: number; likelihood: number[] }>>();
        joint.probabilities.forEach((p, state) => {
          if (p === 0) return;
          const at = (j: number) => Math.floor(state / joint.strides[j]!) % joint.sizes[j]!;
          const known = joint.sizes.map((_, j) => ((mask >> j) & 1 ? at(j) : '*')).join();
          const values = cells.get(known) ?? new Map();
          const cell = values.get(at(i)) ?? { mass: 0, likelihood: rows[0]!.map(() => 0) };
          cell.mass += p;
          rows[state]!.forEach((l, o) => {
            cell.likelihood[o] += p * l;
          });
          values.set(at(i), cell);
          cells.set(known, values);
        });
        for (const values of cells.values())
          for (const a of values.values())
            for (const b of values.values())
              a.likelihood.forEach((l, o) => {
                worst = Math.max(worst, Math.log(l / a.mass / (b.likelihood[o]! / b.mass)));
              });
      }
    return worst;
  };

  it('the audit agrees with a finite mechanism audited from the definition', () => {
    fc.assert(
      fc.property(models, fc.double({ min: 0.2, max: 5, noNaN: true }), (model, scale) => {
        const { joint, answers } = prepareAudit(model, 'sum');
        const outputs = [...new Set(answers.points)];
        const rows = Array.from(joint.probabilities, (_, state) =>
          outputs.map((s) => Math.exp(-Math.abs(answers.points[state]! - s) / scale)),
        );
        expect(exactLoss(joint, answers, scale, { adversary: 'informed' }).loss).toBeCloseTo(finiteLoss(joint, rows), 9);
      }),
      { numRuns: 40 },
    );
  });

  it('post-processing never raises the loss', () => {
    fc.assert(
      fc.property(
        models,
        fc.double({ min: 0.2, max: 5, noNaN: true }),
        fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }),
        (model, scale, merge) => {
          const { joint, rows } = kernelOf(model, 'sum', scale);
          const merged = rows.map((row) => {
            const out = [0, 0, 0, 0];
            row.forEach((p, o) => {
              out[merge[o % merge.length]!]! += p;
            });
            return out.filter((_, k) => rows[0]!.some((_, o) => merge[o % merge.length] === k));
          });
          expect(finiteLoss(joint, merged)).toBeLessThanOrEqual(finiteLoss(joint, rows) + 1e-9);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('choosing one of two mechanisms at random loses no more than the worse of them', () => {
    fc.assert(
      fc.property(
        models,
        fc.double({ min: 0.2, max: 5, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (model, scale, share) => {
          const one = kernelOf(model, 'sum', scale);
          const two = kernelOf(model, 'sum', 2 * scale);
          const mixed = one.rows.map((row, state) => row.map((p, o) => share * p + (1 - share) * two.rows[state]![o]!));
          expect(finiteLoss(one.joint, mixed)).toBeLessThanOrEqual(
            Math.max(finiteLoss(one.joint, one.rows), finiteLoss(two.joint, two.rows)) + 1e-9,
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a query that drops information loses no more than the original', () => {
    fc.assert(
      fc.property(models, (model) => {
        const joint = enumerate(model);
        const loss = (workload: RecordQuery) =>
          exactLoss(joint, stateAnswers(joint, workload), 1, { adversary: 'informed' }).loss;
        const all = readRecordQuery('identity', joint);
        const first: RecordQuery = { text: 'first', answer: (x) => [x[0]!] };
        expect(loss(first)).toBeLessThanOrEqual(loss(all) + 1e-9);
      }),
      { numRuns: 40 },
    );
  });
});
