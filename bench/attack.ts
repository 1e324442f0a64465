import { friendPrior, knownPeople, seededRandom } from '../src/evaluate/attack/inference/attacker.js';
import { infer } from '../src/evaluate/attack/inference/infer.js';
import { locationPatterns } from '../src/evaluate/attack/inference/patterns.js';
import { buildSpace } from '../src/evaluate/attack/inference/space.js';
import type { TotalsTarget } from '../src/evaluate/attack/inference/target.js';
import { declaredTie } from '../src/evaluate/attack/inference/tie-model.js';
import { type Bench, few, timed } from './bench.js';

/** Synthetic people, friendships and places in the size of the New York set, so that it runs anywhere. */
const people = 2523;
const ranks = 6;

function town() {
  const draw = seededRandom(3);
  const space = buildSpace([{ name: 'NY', lat: 40.7128, lon: -74.006 }]);
  const near = () => (draw() + draw() + draw() - 1.5) * 0.25;
  const rows = people * 12;
  const visits = {
    user: Array.from({ length: rows }, (_, k) => Math.floor(k / 12)),
    place: Array.from({ length: rows }, (_, k) => k),
    lat: Array.from({ length: rows }, () => 40.7128 + near()),
    lon: Array.from({ length: rows }, () => -74.006 + near()),
  };
  const ties = Array.from({ length: 4093 }, () => [Math.floor(draw() ** 2 * people), Math.floor(draw() * people)] as const);
  return locationPatterns(visits, ties, space, ranks);
}

const population = town();
const { space } = population;
const target: TotalsTarget = {
  kind: 'totals',
  name: 'cells',
  ranks: Array.from({ length: ranks }, (_, l) => l),
  rounds: (rank) => {
    const partOfPerson = Uint16Array.from({ length: people }, (_, i) => population.cell[i * ranks + rank]!);
    const counts = new Float64Array(space.cells);
    for (const c of partOfPerson) counts[c]!++;
    const partOfCell = Uint16Array.from({ length: space.cells }, (_, c) => c);
    return [{ parts: space.cells, partOfCell, partOfPerson, counts, countScale: 20 }];
  },
};
const prior = friendPrior(space);
const known = knownPeople(population, Math.floor(people / 2), 1);
const tie = declaredTie(space, 3);

export const benches: readonly Bench[] = [
  {
    name: 'location attack, 2,523 people x 6 places x 400 cells, all others known',
    goal: { seconds: 60 },
    run: () => timed(() => infer(population, target, { name: 'full', prior }), { rounds: few }),
  },
  {
    name: 'location attack, the same, half of the others known and friends unknown',
    goal: { seconds: 60 },
    run: () => timed(() => infer(population, target, { name: 'half', prior, tie, known }), { rounds: few }),
  },
];
