import { describe, expect, it } from 'vitest';
import { rational } from '../../base/exact/rational.js';
import { chooseCandidate, patternCandidates } from './candidates.js';
import { analysePatternText, schemaFromText } from './query/analyse.js';
import { ladderError, smoothBound } from './strategies/noise-figures.js';
import { adversarialGuarantee, pureGuarantee } from './strategies/strategy.js';

const plan = (
  text: string,
  m: number,
  more: { symmetric?: boolean; gamma?: number; degree?: number; absence?: boolean; together?: number } = {},
) => {
  const a = analysePatternText(text, schemaFromText(text, m, { symmetric: more.symmetric === true }), { log: 'safe' });
  const list = patternCandidates(a, {
    epsilon: rational(1),
    delta: rational(1, 1_000_000),
    ...(more.gamma && { gamma: rational(1, Math.round(1 / more.gamma)) }),
    ...(more.degree && { degree: more.degree }),
    ...(more.absence && { absence: true }),
    ...(more.together && { together: more.together }),
  });
  return { list, chosen: chooseCandidate(list), of: (name: string) => list.find((c) => c.mechanism === name) };
};

describe('the candidates for a pattern', () => {
  it('the ladder is chosen for undirected triangles, with far less noise than plain noise', () => {
    const { chosen, of } = plan('triangles', 23_133, { symmetric: true });
    expect(chosen.mechanism).toBe('ladder');
    expect(chosen.expectedError).toBeLessThan(of('laplace')!.expectedError / 20);
  });

  it('plain noise is chosen when one tuple moves the answer by one', () => {
    expect(plan('edges', 1000).chosen).toMatchObject({ mechanism: 'laplace', scale: 1 });
  });

  it('unstable queries are answered, but never by Algorithm 2.1', () => {
    const { list, chosen } = plan('q() :- R(x,y), R(z,w)', 1000, { gamma: 0.1 });
    expect(list.map((c) => c.mechanism)).not.toContain('algorithm-2.1');
    expect(chosen.guarantee).toBe(pureGuarantee);
  });

  it('Algorithm 2.1 is offered only for a declared gamma, and uses plain noise when lambda is larger', () => {
    expect(plan('2-paths', 100_000).of('algorithm-2.1')).toMatchObject({ meets: false, guarantee: adversarialGuarantee });
    expect(plan('2-paths', 100_000, { gamma: 0.01 }).of('algorithm-2.1')).toMatchObject({
      meets: true,
      guarantee: adversarialGuarantee,
    });
    expect(plan('triangles', 10_000, { gamma: 0.01 }).of('algorithm-2.1')).toMatchObject({
      scale: 29_994 / 3,
      guarantee: pureGuarantee,
    });
    expect(plan('2-paths', 100_000, { gamma: 0.01, degree: 50_000 }).chosen.mechanism).toBe('algorithm-2.1');
  });

  it('Algorithm 2.1 protects absence only for dense queries, and positive correlations only in its plain branch', () => {
    expect(plan('2-paths', 1e9, { gamma: 0.01, absence: true }).of('algorithm-2.1')).toBeUndefined();
    expect(plan('triangles', 1e6, { gamma: 0.01, absence: true }).of('algorithm-2.1')).toMatchObject({
      guarantee: pureGuarantee,
    });
    expect(plan('2-paths', 1e6, { gamma: 0.01, together: 2 }).of('algorithm-2.1')).toMatchObject({ meets: false });
    const [one, two] = [1, 2].map((together) => plan('triangles', 1000, { gamma: 0.01, together }).of('algorithm-2.1')!.scale);
    expect(two! / one!).toBeCloseTo(2, 9);
  });

  it('an (epsilon, delta) mechanism is never chosen, because it has no privacy cost here', () => {
    expect(plan('triangles', 1000).of('elastic')).toMatchObject({ meets: false });
  });

  it('a ladder with rungs of one has the expected error of discrete Laplace noise', () => {
    const flat = { width: () => 1n, widest: 1n };
    const q = Math.exp(-0.2);
    expect(ladderError(flat, 0.2)).toBeCloseTo((2 * q) / (1 - q * q), 6);
    expect(smoothBound({ width: (t) => BigInt(Math.min(5 + t, 100)), widest: 100n }, 0.1)).toBeCloseTo(10 * Math.exp(-0.5), 6);
  });
});
