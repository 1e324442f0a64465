import { accuracy, tieDegreeSensitivity } from '../../src/analysis/pattern/degrees/distribution.js';
import { degreeCounts } from '../../src/analysis/pattern/degrees/projection.js';
import type { LineSeries } from '../../src/app/report/line-chart.js';
import { divide, parseRational, type Rational, rational } from '../../src/base/exact/rational.js';
import { tupleLeakage } from '../../src/data/ties/tuples.js';
import { largestBelow } from '../../src/privacy/dependence/largest-below.js';
import { drawDegrees } from '../relationships/draw-degrees.js';
import { readColumns } from './data.js';
import { type Book, short } from './output.js';

/** Each tie depends on this many others: our sample has no profiles to build the paper's affinity graph from. */
const affinity = 20;
const declared = { logOdds: Math.log(1.1), ties: affinity, reach: 'any' } as const;

/** Figure 9c: degree distribution of a Google+ sample. */
export async function figure9c(book: Book, folder: URL, epsilons: readonly number[], rounds: number): Promise<void> {
  const [from, to] = await readColumns(folder, 'graphs/gplus_sample_directed_pseudonymised.parquet', ['src', 'dst']);
  const index = new Map<number, number>();
  const at = (id: number) => {
    const known = index.get(id);
    if (known !== undefined) return known;
    index.set(id, index.size);
    return index.size - 1;
  };
  const ties = new Set<string>();
  from!.forEach((a, k) => {
    const [u, w] = [at(a), at(to![k]!)];
    if (u !== w) ties.add(u < w ? `${u},${w}` : `${w},${u}`);
  });
  const degrees = new Uint32Array(index.size);
  for (const tie of ties) for (const end of tie.split(',')) degrees[Number(end)]!++;
  const exact = degreeCounts(degrees, index.size, index.size - 1);
  const effect = tieDegreeSensitivity(true);
  const mean = (make: () => readonly number[]) => {
    let total = 0;
    for (let k = 0; k < rounds; k++) total += accuracy(exact, make());
    return total / rounds;
  };
  const line = (name: string, form: 'histogram' | 'cumulative', base: (e: number) => Rational, dashed = false): LineSeries => ({
    name,
    dashed,
    points: epsilons.map((e) => ({ x: e, y: mean(() => drawDegrees(exact, form, effect, base(e))) })),
  });
  const plain = (e: number) => parseRational(`${e}`);
  const over = (factor: number) => (e: number) => divide(plain(e), rational(factor));
  const series = [
    line('LPM (published)', 'histogram', plain, true),
    // Eq. 18 is 1 for every two-valued record, whatever the dependence: DS = dQ (1 + affinity).
    line('DPM (published)', 'histogram', over(1 + affinity), true),
    line('group, L = n', 'histogram', over(index.size), true),
    line('certified', 'cumulative', (e) => largestBelow((b) => tupleLeakage(b, declared), e, e)),
    line('plain DP, ordered', 'cumulative', plain),
  ];
  book.say('## Figure 9c: degree distribution');
  book.lines('figure-9c', series, {
    x: 'epsilon',
    y: 'accuracy',
    label: 'Figure 9c: degree distribution of a Google+ sample',
    percent: true,
  });
  const leak = epsilons.map((e) => tupleLeakage(e, declared) / e);
  book.say(
    `${index.size.toLocaleString('en-US')} people, ${ties.size.toLocaleString('en-US')} ties; the paper has 28.9 million people of another crawl, and profiles to build an affinity graph from, which are not in our sample: every tie is declared to depend on ${affinity} others (odds ratio 1.1). Accuracy is 1 - |C - C'| / |C + C'| (L1). Certified: cumulative counts brought into order, ties of ties paid for.`,
    `**Promises.** LPM pays for independent ties only: under the declared ones the calculus allows a leak of up to ${short(leak.at(-1)!)} epsilon, and with one exact copy it is exactly 2 epsilon (broken). DPM with Eq. 18 equals the group of ${1 + affinity} here and keeps its promise against attackers who know no tie, if the ${affinity} are all there is. The group line keeps it.`,
  );
}
