import { describe, expect, it } from 'vitest';
import { fromPairs } from '../../../privacy/dependence/graph/factor-graph.js';
import { fromGroups } from '../../../privacy/dependence/graph/group-graph.js';
import type { Model } from '../../../privacy/dependence/model/model.js';
import { modelPosterior } from '../posterior.js';
import { type AttackScene, believe, tiedTo } from './beliefs.js';

const oddsRatio = 9;
const noise = { kind: 'laplace', scale: 1.5 } as const;
/** Three tied people with values 0, 0, 1 among many independent ones. */
const values = Int32Array.from([0, 0, 1, ...Array.from({ length: 60 }, (_, k) => (k % 3 === 0 ? 1 : 0))]);
const counts = Float64Array.of(values.filter((v) => v === 0).length, values.filter((v) => v === 1).length);
const scene = (graph: AttackScene['graph'], noisy: readonly number[]): AttackScene => ({
  graph,
  values,
  shown: new Uint8Array(values.length).fill(1),
  width: 2,
  noisy,
  noise,
  counts,
  priors: new Map(),
});

describe('beliefs about one record of a table', () => {
  const graph = fromPairs(values.length, Uint32Array.of(0, 1), Uint32Array.of(1, 2), Math.log(oddsRatio));

  it('beliefs agree with the general posterior on the same model', () => {
    const noisy = [counts[0]! + 4, counts[1]! - 3];
    const found = believe(scene(graph, noisy), 1, { ties: true, knows: 'everyone but the tied' });
    const share = [...counts].map((n) => (n + 1) / (values.length + 2));
    const model: Model = {
      ids: ['b', 'a', 'c'],
      values: [
        [0, 1],
        [0, 1],
        [0, 1],
      ],
      factors: [
        ...[0, 1, 2].map((r) => ({ records: [r], table: Float64Array.from(share) })),
        { records: [0, 1], oddsRatio },
        { records: [0, 2], oddsRatio },
      ],
    };
    // Of the three, ones = published ones - known ones; zeros = published zeros - known zeros.
    const rest = [counts[0]! - 2, counts[1]! - 1];
    const answer = [noisy[0]! - rest[0]!, noisy[1]! - rest[1]!];
    const general = modelPosterior(model, { about: 'b', query: 'histogram', answer, noise });
    found.prior.forEach((p, v) => {
      expect(p).toBeCloseTo(general.withTies[v]!.prior, 10);
      expect(found.posterior[v]).toBeCloseTo(general.withTies[v]!.posterior, 10);
    });
    expect(found.gain).toBeCloseTo(general.gain.withTies, 10);
  });

  it('values of known tied records enter the prior only', () => {
    const knowing = believe(scene(graph, [counts[0]! + 30, counts[1]! - 30]), 1, { ties: true, knows: 'everyone else' });
    const ignorant = believe(scene(graph, [counts[0]! + 30, counts[1]! - 30]), 1, { ties: false, knows: 'everyone else' });
    expect(knowing.gain).toBeCloseTo(2 / 1.5, 9);
    expect(ignorant.gain).toBeCloseTo(2 / 1.5, 9);
    // One tied record has value 0 and one has value 1: they cancel.
    expect(knowing.prior[0]).toBeCloseTo(ignorant.prior[0]!, 9);
  });

  it('a release reveals nothing about a record that is left out, except through its ties', () => {
    const shown = new Uint8Array(values.length).fill(1);
    shown[0] = 0;
    const left = {
      ...scene(graph, [counts[0]! + 29, counts[1]! - 30]),
      shown,
      counts: Float64Array.of(counts[0]! - 1, counts[1]!),
    };
    expect(believe(left, 0, { ties: false, knows: 'everyone else' }).gain).toBeCloseTo(0, 12);
    expect(believe(left, 0, { ties: false, knows: 'everyone but the tied' }).gain).toBeCloseTo(0, 12);
    const through = believe(left, 0, { ties: true, knows: 'everyone but the tied' }).gain;
    expect(through).toBeGreaterThan(0.1);
    expect(through).toBeLessThan(2 / 1.5);
  });

  it('beliefs reach members of a household through its hidden type', () => {
    const group = new Uint32Array(values.length).fill(0xffffffff);
    group.fill(7, 0, 3);
    const hidden = fromGroups(group, Math.log(oddsRatio), 'hidden');
    expect(tiedTo(hidden, 0).sort()).toEqual([1, 2]);
    expect(tiedTo(graph, 0)).toEqual([1]);
    const gain = (ties: boolean) =>
      believe(scene(hidden, [counts[0]! + 30, counts[1]! - 30]), 0, { ties, knows: 'everyone but the tied' }).gain;
    expect(gain(true)).toBeGreaterThan(gain(false));
    expect(gain(true)).toBeLessThan(3 * (2 / 1.5));
  });
});
