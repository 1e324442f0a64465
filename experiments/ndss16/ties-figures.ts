import { type Drawing, element, line, series as palette, textElement } from '../../src/app/report/svg.js';
import { seededRandom } from '../../src/evaluate/attack/inference/attacker.js';
import { type Population, patternDistance } from '../../src/evaluate/attack/inference/patterns.js';
import { haversine } from '../../src/evaluate/attack/inference/space.js';
import type { Gowalla } from './data.js';
import { type Book, type Rows, short } from './output.js';

/** Figure 2: the friendship graph, people at their top place, coloured by the cluster of their pattern. */
export function figure2(book: Book, population: Population, part: Uint16Array, clusters: number): void {
  const { people, ranks, vector, friendStart, friends } = population;
  const size = 640;
  const x = (i: number) => 20 + vector[2 * i * ranks + 1]! * (size - 40);
  const y = (i: number) => size - 20 - vector[2 * i * ranks]! * (size - 40);
  let [inside, all] = [0, 0];
  const edges: string[] = [];
  for (let i = 0; i < people; i++)
    for (let f = friendStart[i]!; f < friendStart[i + 1]!; f++) {
      const j = friends[f]!;
      if (j <= i) continue;
      all++;
      if (part[i] === part[j]) inside++;
      edges.push(line([x(i), y(i)], [x(j), y(j)], { stroke: '#8895a0', 'stroke-opacity': 0.12, 'stroke-width': 0.6 }));
    }
  const colours = [...palette, '#3b3b3b', '#c9a6d8'];
  const dots = Array.from({ length: people }, (_, i) =>
    element('circle', { cx: x(i), cy: y(i), r: 2.2, fill: colours[part[i]! % colours.length]!, 'fill-opacity': 0.8 }),
  );
  const sizes = new Float64Array(clusters);
  for (const p of part) sizes[p]!++;
  const chance = sizes.reduce((s, n) => s + (n / people) ** 2, 0);
  const drawing: Drawing = {
    width: size,
    height: size + 24,
    label: 'Figure 2: friendships between people at their top place, coloured by cluster',
    body: [
      ...edges,
      ...dots,
      textElement(20, size + 14, `${all} friendships; ${short((100 * inside) / all)} % inside a cluster`),
    ].join(''),
  };
  book.say('## Figure 2: friendships and clusters');
  book.figure('figure-2', drawing, [
    ['friendships', 'inside one cluster', 'share', 'share if friends were strangers'],
    [all, inside, short(inside / all), short(chance)],
  ]);
  book.say(
    `${short((100 * inside) / all)} % of friendships are inside one of the ${clusters} clusters; strangers would meet in ${short(100 * chance)} %. The paper draws the graph by a layout of its edges; here people stand at their top place.`,
  );
}

/** Figure 3: distance between patterns (Eq. 5), by social distance. */
export function figure3(book: Book, population: Population): void {
  const { people, friendStart, friends } = population;
  const draw = seededRandom(16);
  const pick = (n: number) => Math.floor(draw() * n);
  const far = (i: number, j: number) => patternDistance(population, i, j, haversine);
  const direct: number[] = [];
  for (let i = 0; i < people; i++)
    for (let f = friendStart[i]!; f < friendStart[i + 1]!; f++) if (friends[f]! > i) direct.push(far(i, friends[f]!));
  const sample = (make: () => readonly [number, number] | undefined): number[] => {
    const out: number[] = [];
    for (let k = 0; out.length < 4000 && k < 100_000; k++) {
      const pair = make();
      if (pair && pair[0] !== pair[1]) out.push(far(...pair));
    }
    return out;
  };
  const friendOf = (i: number) =>
    friendStart[i + 1]! > friendStart[i]! ? friends[friendStart[i]! + pick(friendStart[i + 1]! - friendStart[i]!)] : undefined;
  const second = sample(() => {
    const i = pick(people);
    const j = friendOf(i);
    const k = j === undefined ? undefined : friendOf(j);
    return k === undefined ? undefined : [i, k];
  });
  const anybody = sample(() => [pick(people), pick(people)]);
  const cdf = (name: string, list: number[]) => {
    const sorted = Float64Array.from(list).sort();
    return {
      name,
      points: Array.from({ length: 21 }, (_, k) => ({ x: 2 * k, y: sorted.filter((d) => d <= 2 * k).length / sorted.length })),
    };
  };
  book.say('## Figure 3: distance between location patterns');
  book.lines('figure-3', [cdf('friends', direct), cdf('friends of friends', second), cdf('any two people', anybody)], {
    x: 'km',
    y: 'share of pairs within',
    label: 'Figure 3: distance between patterns by social distance',
    percent: true,
  });
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
  book.say(
    `Median distance: friends ${short(median(direct))} km, friends of friends ${short(median(second))} km, any two people ${short(median(anybody))} km. Closer friends are closer, as in the paper; New York only.`,
  );
}

/** Table I: the clusters as regions. */
export function tableI(book: Book, sets: readonly { data: Gowalla; part: Uint16Array; clusters: number }[]): void {
  book.say('## Table I: the data');
  const rows: (string | number)[][] = [['data', 'cluster', 'users', 'check-ins', 'locations']];
  for (const { data, part, clusters } of sets) {
    const index = new Map(data.population.ids.map((id, i) => [id, i]));
    const checkins = new Float64Array(clusters);
    const places = Array.from({ length: clusters }, () => new Set<number>());
    data.visits.user.forEach((u, r) => {
      const k = part[index.get(u)!]!;
      checkins[k]! += data.visits.count[r]!;
      places[k]!.add(data.visits.place[r]!);
    });
    const users = new Float64Array(clusters);
    for (const p of part) users[p]!++;
    for (let k = 0; k < clusters; k++) rows.push([data.name, k + 1, users[k]!, checkins[k]!, places[k]!.size]);
    rows.push([data.name, 'all', data.population.people, data.checkins, data.places]);
  }
  rows.push(['Liu et al. 2016', 'all', 6969, 98_802, 17_770]);
  book.table('table-1', rows as Rows);
  book.say(
    'The paper has 47,502 friendships; ours: ' +
      sets.map((s) => `${s.data.name} ${s.data.edges.toLocaleString('en-US')}`).join(', ') +
      '.',
    'Differences: New York is complete (all check-ins within 25 km, users with at least ten), San Francisco and Los Angeles exist only in a filtered subset without times. The paper’s rule for counting check-ins is not recoverable from its text (its check-ins per user are a third of ours). Regions are the K-means clusters, as the sums of the paper’s columns suggest.',
  );
}
