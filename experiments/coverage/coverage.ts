import type { Case } from './cases.js';
import { drawn, policy as plain } from './people.js';
import { asked, type Budget, columnsOf, counted, type Data, released, truthOf } from './world.js';

export interface Covered {
  readonly name: string;
  /** In percent: of the noise alone, for what the very rows say; of noise and sampling, for what the population is. The least over the rows of the table. */
  readonly noise: readonly number[];
  readonly both: readonly number[];
  /** In how many releases an interval had no end. */
  readonly open: number;
}

interface Seen {
  noise: number;
  noiseOf: number;
  both: number;
  bothOf: number;
}

/** How often intervals hold what they are about, over draws of a sample and of noise. `every`: draws of noise for each sample. */
export function coverage(
  { name, query, policy = plain, sample = 'alike', rows = () => true, parts = false }: Case,
  people: Data,
  n: number,
  budget: Budget,
  { draws, every = 1, random }: { readonly draws: number; readonly every?: number; readonly random: () => number },
): Covered {
  const ask = asked(policy, query, budget);
  const all = truthOf(ask, counted(policy, ask, people))[0]!.rows;
  // A population of weights is one of which everybody weighs the same.
  const whole = sample === 'weights' ? unweighted(policy, query, people, budget) : all;
  const seen = all.map((): Seen => ({ noise: 0, noiseOf: 0, both: 0, bothOf: 0 }));
  let open = 0;
  let exact = counted(policy, ask, drawn(people, n, random, columnsOf(ask), sample));
  let truth = truthOf(ask, exact)[0]!.rows;
  for (let k = 0; k < draws; k++) {
    if (k > 0 && k % every === 0) {
      exact = counted(policy, ask, drawn(people, n, random, columnsOf(ask), sample));
      truth = truthOf(ask, exact)[0]!.rows;
    }
    const [table] = released(policy, ask, exact, random);
    table!.rows.forEach((row, j) => {
      const own = truth[j]!;
      if (!rows(row.keys) || row.value === null || own.value === null) return;
      const tally = seen[j]!;
      const holds = (ends: { low: number | null; high: number | null }, x: number) =>
        ends.low === null || ends.high === null || (ends.low <= x && x <= ends.high);
      const part = row.share !== undefined && row.share.value !== null ? row.share : undefined;
      tally.noiseOf++;
      if (parts && part ? holds(part, own.share!.value!) : holds(row, own.value)) tally.noise++;
      if (row.low === null) open++;
      const wide = row.withSampling ?? part?.withSampling;
      if (!wide) return;
      tally.bothOf++;
      if (holds(wide, row.withSampling ? whole[j]!.value! : whole[j]!.share!.value!)) tally.both++;
    });
  }
  const kept = seen.filter(({ noiseOf }) => noiseOf > 0);
  return {
    name,
    noise: kept.map((tally) => (100 * tally.noise) / tally.noiseOf),
    both: kept.filter(({ bothOf }) => bothOf > 0).map((tally) => (100 * tally.both) / tally.bothOf),
    open: open / draws / Math.max(1, kept.length),
  };
}

function unweighted(policy: typeof plain, query: object, people: Data, budget: Budget) {
  const ask = asked(policy, Object.fromEntries(Object.entries(query).filter(([key]) => key !== 'weight')), budget);
  return truthOf(ask, counted(policy, ask, people))[0]!.rows;
}
