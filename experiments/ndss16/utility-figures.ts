import type { LineSeries } from '../../src/app/report/line-chart.js';
import { toNumber } from '../../src/base/exact/rational.js';
import { seededRandom } from '../../src/evaluate/attack/inference/attacker.js';
import type { Population } from '../../src/evaluate/attack/inference/patterns.js';
import { perturb } from '../../src/evaluate/papers/dependent-tuples/perturbed-centroids.js';
import type { FactorGraph } from '../../src/privacy/dependence/graph/factor-graph.js';
import { allRanks, bestLloyd, clusteringAccuracy, lloyd, publicStart, take, topPlace, type Vectors } from './cluster.js';
import { type Book, type Cell, short } from './output.js';
import { certifiedCentres, type Ties } from './product.js';
import type { Published } from './published-lines.js';
import { certifiedBase } from './releases.js';

const lines = [
  ['DPM', 'dpm'],
  ['Zhu', 'zhu'],
  ['group, L = n', 'group'],
] as const;

/** Figure 8: accuracy of one number with claimed sensitivity one, and the epsilon that an accuracy needs. */
export function figure8(
  book: Book,
  graph: FactorGraph,
  published: (epsilon: number) => Published,
  epsilons: readonly number[],
): void {
  const alpha = 1000;
  const scaleOf = (line: 'dpm' | 'zhu' | 'group', e: number) => published(e)[line].scale;
  const ours = (e: number) => 1 / toNumber(certifiedBase(graph, `${e}`));
  const inside = (scale: number) => 1 - Math.exp(-alpha / scale);
  book.say('## Figure 8: utility and privacy of the noise');
  book.lines(
    'figure-8a',
    [
      ...lines.map(
        ([name, line]): LineSeries => ({ name, points: epsilons.map((e) => ({ x: e, y: inside(scaleOf(line, e)) })) }),
      ),
      { name: 'certified', points: epsilons.map((e) => ({ x: e, y: inside(ours(e)) })) },
    ],
    { x: 'epsilon', y: `P(error <= ${alpha})`, label: 'Figure 8a: probability of an error below alpha', percent: true },
  );
  const beta = 0.05;
  const alphas = [200, 400, 600, 800, 1000];
  // Scales are sensitivity / epsilon with a nearly constant sensitivity,
  // so the epsilon for an accuracy follows from the accuracy at epsilon 1.
  const needed = (sensitivity: number) => alphas.map((a) => ({ x: a, y: (sensitivity * Math.log(1 / beta)) / a }));
  book.lines(
    'figure-8b',
    [
      ...lines.map(([name, line]): LineSeries => ({ name, points: needed(scaleOf(line, 1)) })),
      { name: 'certified', points: needed(ours(1)) },
    ],
    {
      x: 'alpha',
      y: `epsilon for ${100 * (1 - beta)} % accuracy`,
      label: 'Figure 8b: epsilon needed for an accuracy',
      logY: true,
    },
  );
  book.say(
    `P(error <= alpha) = 1 - exp(-alpha / scale) for Laplace noise on one number whose own sensitivity is 1; the paper calls this beta, and its failure probability is exp(-epsilon alpha / DS). Sensitivities at epsilon 1: ${lines.map(([name, line]) => `${name} ${short(scaleOf(line, 1))}`).join(', ')}, certified ${short(ours(1))}. The certified line needs less noise than DPM here because an odds ratio of 3 is a weaker claim about friends than Eq. 26; it is proven for every query, and DPM only for queries that move with the records’ own numbers.`,
  );
}

export interface ClusterSetting {
  readonly population: Population;
  readonly clusters: number;
  readonly oddsRatio: number;
  readonly published: (epsilon: number) => Published;
  readonly epsilons: readonly number[];
  /** Train/test splits for the published lines (cheap) and for releases through the product. */
  readonly splits: number;
  readonly releases: number;
}

interface Split {
  readonly train: Vectors;
  readonly test: Vectors;
  readonly exact: Float64Array;
  readonly friends: readonly (readonly [number, number])[];
}

/** Four fifths for training, one fifth for testing, as in the paper. */
function split(population: Population, points: Vectors, clusters: number, seed: number): Split {
  const draw = seededRandom(seed);
  const order = Array.from({ length: population.people }, (_, i) => [draw(), i] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, i]) => i);
  const cut = Math.floor((4 * order.length) / 5);
  const rows = order.slice(0, cut).sort((a, b) => a - b);
  const place = new Map(rows.map((i, k) => [i, k]));
  const friends: (readonly [number, number])[] = [];
  for (const i of rows)
    for (let f = population.friendStart[i]!; f < population.friendStart[i + 1]!; f++) {
      const j = population.friends[f]!;
      if (j > i && place.has(j)) friends.push([place.get(i)!, place.get(j)!]);
    }
  const train = take(points, rows);
  return { train, test: take(points, order.slice(cut)), exact: bestLloyd(train, clusters, draw).centres, friends };
}

const mean = (list: readonly number[]) => list.reduce((s, v) => s + v, 0) / list.length;
const spread = (x: number, list: readonly number[]) => {
  const m = mean(list);
  const half = list.length > 1 ? (1.96 * Math.sqrt(mean(list.map((v) => (v - m) ** 2)))) / Math.sqrt(list.length - 1) : 0;
  return { x, y: m, low: Math.max(0, m - half), high: Math.min(1, m + half) };
};

/** Figure 9a, in 12 dimensions as the paper has it and in 2 (top place): the share of unseen people put into their cluster. */
export async function figure9a(book: Book, setting: ClusterSetting, atEpsilon: number): Promise<void> {
  book.say('## Figure 9a: clustering');
  const rows: Cell[][] = [['dimensions', 'line', 'epsilon', 'accuracy', 'low', 'high']];
  for (const [label, points] of [
    ['12', allRanks(setting.population)],
    ['2', topPlace(setting.population)],
  ] as const) {
    const splits = Array.from({ length: setting.splits }, (_, k) => split(setting.population, points, setting.clusters, 100 + k));
    const judge = (s: Split, centres: Float64Array) => clusteringAccuracy(s.test, s.exact, centres);
    const perturbed = (line: keyof Published): LineSeries['points'] =>
      setting.epsilons.map((e) =>
        spread(
          e,
          splits.map((s) => judge(s, perturb(s.exact, setting.published(e)[line].scale))),
        ),
      );
    const released = async (
      ties: (s: Split) => Ties,
      epsilon: (e: number, s: Split) => string,
    ): Promise<LineSeries['points']> => {
      const out: { x: number; y: number; low: number; high: number }[] = [];
      for (const e of setting.epsilons) {
        const found: number[] = [];
        for (let k = 0; k < setting.releases; k++) {
          const s = splits[k % splits.length]!;
          found.push(judge(s, await certifiedCentres(s.train, setting.clusters, epsilon(e, s), ties(s))));
        }
        out.push(spread(e, found));
      }
      return out;
    };
    const tied = (s: Split): Ties => ({ oddsRatio: setting.oddsRatio, friends: s.friends });
    const capped = (s: Split): Ties => ({ ...(tied(s) as Exclude<Ties, 'none'>), maxTies: 0 });
    // Agreement of a second run without any noise: the ceiling of this metric.
    const again = spread(
      0,
      splits.map((s) => judge(s, lloyd(s.train, publicStart(setting.clusters, points.width)).centres)),
    );
    const series: LineSeries[] = [
      { name: 'exact', points: setting.epsilons.map((x) => ({ ...again, x })), dashed: true },
      { name: 'LPM', points: perturbed('lpm'), dashed: true },
      { name: 'DPM', points: perturbed('dpm'), dashed: true },
      { name: 'Zhu', points: perturbed('zhu'), dashed: true },
      {
        name: 'group',
        points: await released(
          () => 'none',
          (e, s) => (e / s.train.count).toFixed(8),
        ),
      },
      {
        name: 'plain DP',
        points: await released(
          () => 'none',
          (e) => `${e}`,
        ),
      },
      { name: 'certified', points: await released(tied, (e) => `${e}`) },
      { name: 'certified, some left out', points: await released(capped, (e) => `${e}`) },
    ];
    book.lines(`figure-9a-${label}d`, series, {
      x: 'epsilon',
      y: 'clustering accuracy',
      label: `Figure 9a, ${label} dimensions`,
      percent: true,
    });
    for (const s of series) for (const p of s.points) rows.push([label, s.name, p.x, short(p.y), short(p.low!), short(p.high!)]);
  }
  book.say(`At epsilon ${atEpsilon}:`);
  book.table('figure-9a-at', [rows[0]!, ...rows.slice(1).filter((r) => r[2] === atEpsilon)]);
  book.say(
    'Metric (pinned; the paper gives none): share of unseen people whose nearest noisy centre is, after the best matching of centres, their nearest noise-free one; noise-free centres are the best of nine starts; "exact" (one public start) shows how far even an exact rerun is from them, and random centres keep about the share of the largest cluster. Published lines perturb the exact centres, which is not private. The group line is what the calculus would charge if everybody could be a copy of everybody. "Plain DP" is certified for strangers only. "Certified" pays for ties of odds ratio 3; "certified, some left out" (maxTies: 0) also leaves people out, by the ties alone, until no two used people are friends.',
  );
}
