import type { FactorGraph } from '../../../privacy/dependence/graph/factor-graph.js';
import { enumerate } from '../../../privacy/dependence/model/joint.js';
import type { TableFactor } from '../../../privacy/dependence/model/model.js';
import type { AdditiveDistribution } from '../../../privacy/mechanism/distribution.js';
import { gainOf, logNoise } from '../gain.js';

/** Everything an attack on one table works with; values are positions in the table, -1 outside it. */
export interface AttackScene {
  readonly graph: FactorGraph;
  readonly values: Int32Array;
  /** Flags the records that the answer is about. */
  readonly shown: Uint8Array;
  readonly width: number;
  readonly noisy: readonly number[];
  readonly noise: AdditiveDistribution<number>;
  /** Number of shown records per value; the attacker uses their shares as frequencies. */
  readonly counts: Float64Array;
  /** Priors of unknown records by the shape of their ties: households of one shape share one. */
  readonly priors: Map<string, Float64Array>;
}

/** One of four attackers: assumes independent records or knows the ties; knows all other records, or all but the tied ones. */
export interface Believer {
  readonly ties: boolean;
  readonly knows: 'everyone else' | 'everyone but the tied';
}
export const believers: readonly Believer[] = [
  { ties: false, knows: 'everyone else' },
  { ties: true, knows: 'everyone else' },
  { ties: false, knows: 'everyone but the tied' },
  { ties: true, knows: 'everyone but the tied' },
];

export interface BeliefChange {
  readonly prior: readonly number[];
  readonly posterior: readonly number[];
  /** Largest change of log-odds between two values. */
  readonly gain: number;
}

/** Limit on enumerated states; tied records beyond it are taken as known. */
const mostStates = 20_000;
/** A tie of copies would contradict data in which the copies differ; this is as good as certain. */
const certain = 1e6;

/** The records tied to one directly, or through a hidden type they share. */
export function tiedTo(graph: FactorGraph, record: number): number[] {
  const found = new Set<number>();
  const visit = (node: number, through: boolean) => {
    for (let x = graph.nodeStart[node]!; x < graph.nodeStart[node + 1]!; x++) {
      const f = graph.factorOf[graph.incidence[x]!]!;
      for (let p = graph.start[f]!; p < graph.start[f + 1]!; p++) {
        const other = graph.member[p]!;
        if (other === node || other === record) continue;
        if (other < graph.records) found.add(other);
        else if (!through) visit(other, true);
      }
    }
  };
  visit(record, false);
  return [...found];
}

/** Bayes' rule over all states of the unknown records; exact for the symmetric member of the declared class. */
export function believe(scene: AttackScene, record: number, { ties, knows }: Believer): BeliefChange {
  const { graph, width } = scene;
  const unknownLimit = Math.max(0, Math.floor(Math.log(mostStates) / Math.log(width)) - 2);
  const inTable = (r: number) => scene.values[r]! >= 0;
  const tied = knows === 'everyone else' ? [] : tiedTo(graph, record).filter(inTable).slice(0, unknownLimit);
  const unknown = [record, ...tied];
  const rest = scene.counts.slice();
  for (const r of unknown) rest[scene.values[r]!]! -= scene.shown[r]!;
  const probabilities = ties ? tiedPrior(scene, unknown) : strangersPrior(scene, unknown.length);
  return update(probabilities, width, unknown.length, likelihood(scene, rest, unknown));
}

const shares = ({ counts }: AttackScene): Float64Array => {
  const total = counts.reduce((s, n) => s + n, 0) + counts.length;
  // One more of each, so that nothing is impossible to the attacker.
  return counts.map((n) => (n + 1) / total);
};

const mostPriors = 300;
function memoized({ priors }: AttackScene, key: string, make: () => Float64Array): Float64Array {
  const found = priors.get(key);
  if (found) return found;
  const made = make();
  if (priors.size < mostPriors) priors.set(key, made);
  return made;
}

/** State index: the record in question slowest, so that its value is floor(state / width^others). */
function strangersPrior(scene: AttackScene, unknown: number): Float64Array {
  const { width } = scene;
  return memoized(scene, `strangers ${unknown}`, () => {
    const share = shares(scene);
    return Float64Array.from({ length: width ** unknown }, (_, state) => {
      let p = 1;
      for (let k = 0, s = state; k < unknown; k++, s = Math.floor(s / width)) p *= share[s % width]!;
      return p;
    });
  });
}

/** The symmetric table of a declared odds ratio between every two members of a factor; known members and hidden types included. */
function tiedPrior(scene: AttackScene, unknown: readonly number[]): Float64Array {
  const { graph, width, values } = scene;
  const nodes = [...unknown];
  const place = new Map(nodes.map((r, k) => [r, k]));
  const own = unknown.map(() => new Float64Array(width).fill(1));
  const factors: TableFactor[] = [];
  const seen = new Set<number>();
  const agree = (logOdds: number) => Math.min(certain, Math.exp(logOdds / 2));
  const join = (f: number) => {
    if (seen.has(f)) return;
    seen.add(f);
    const members = [...graph.member.subarray(graph.start[f]!, graph.start[f + 1]!)];
    for (const m of members)
      if (m >= graph.records && !place.has(m)) {
        place.set(m, nodes.length);
        nodes.push(m);
        own.push(new Float64Array(width).fill(1));
        for (let x = graph.nodeStart[m]!; x < graph.nodeStart[m + 1]!; x++) join(graph.factorOf[graph.incidence[x]!]!);
      }
    for (let a = 0; a < members.length; a++)
      for (let b = a + 1; b < members.length; b++) {
        const weight = agree(graph.logOdds[graph.start[f]! + a]!);
        const [u, w] = [place.get(members[a]!), place.get(members[b]!)];
        if (u !== undefined && w !== undefined)
          factors.push({
            records: [u, w],
            table: Float64Array.from({ length: width * width }, (_, c) => (Math.floor(c / width) === c % width ? weight : 1)),
          });
        else if (u !== undefined || w !== undefined) {
          const known = values[u === undefined ? members[a]! : members[b]!]!;
          if (known >= 0) own[(u ?? w)!]![known]! *= weight;
        }
      }
  };
  for (const r of unknown)
    for (let x = graph.nodeStart[r]!; x < graph.nodeStart[r + 1]!; x++) join(graph.factorOf[graph.incidence[x]!]!);
  const key = JSON.stringify([unknown.length, factors.map((f) => [f.records, f.table[0]]), own.map((t) => [...t])]);
  return memoized(scene, key, () => {
    const share = shares(scene);
    const list = Array.from({ length: width }, (_, v) => v);
    const alone = own.map((table, k) => ({
      records: [k],
      table: k < unknown.length ? table.map((w, v) => w * share[v]!) : table,
    }));
    const { probabilities } = enumerate({
      ids: nodes.map((_, k) => `r${k}`),
      values: nodes.map(() => list),
      factors: [...alone, ...factors],
    });
    // Hidden types come last and are summed out.
    const inner = width ** (nodes.length - unknown.length);
    if (inner === 1) return probabilities;
    return Float64Array.from({ length: width ** unknown.length }, (_, s) =>
      probabilities.subarray(s * inner, (s + 1) * inner).reduce((sum, p) => sum + p, 0),
    );
  });
}

/** log-likelihood by state: a table of what k unknown records in one cell do to that cell. */
function likelihood(
  { width, noisy, noise, shown }: AttackScene,
  rest: Float64Array,
  unknown: readonly number[],
): (state: number) => number {
  // States count the last unknown record fastest.
  const counted = Uint8Array.from(unknown.toReversed(), (r) => shown[r]!);
  const log = logNoise(noise);
  const gain = Array.from({ length: width }, (_, c) =>
    Float64Array.from({ length: unknown.length + 1 }, (_, k) => log(noisy[c]! - rest[c]! - k) - log(noisy[c]! - rest[c]!)),
  );
  const here = new Int32Array(width);
  return (state) => {
    here.fill(0);
    for (let k = 0, s = state; k < counted.length; k++, s = Math.floor(s / width)) here[s % width]! += counted[k]!;
    let sum = 0;
    for (let c = 0; c < width; c++) if (here[c]! > 0) sum += gain[c]![here[c]!]!;
    return sum;
  };
}

function update(
  probabilities: Float64Array,
  width: number,
  unknown: number,
  logLikelihood: (state: number) => number,
): BeliefChange {
  const inner = width ** (unknown - 1);
  const logs = probabilities.map((_, s) => logLikelihood(s));
  const top = logs.reduce((m, l) => Math.max(m, l), Number.NEGATIVE_INFINITY);
  const [before, after] = [new Array<number>(width).fill(0), new Array<number>(width).fill(0)];
  probabilities.forEach((p, s) => {
    const v = Math.floor(s / inner);
    before[v]! += p;
    after[v]! += p * Math.exp(logs[s]! - top);
  });
  const shares = (list: readonly number[]) => {
    const total = list.reduce((s, x) => s + x, 0);
    return list.map((x) => x / total);
  };
  const [prior, posterior] = [shares(before), shares(after)];
  return { prior, posterior, gain: gainOf(prior, posterior) };
}
