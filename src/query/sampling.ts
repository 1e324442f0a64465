import { Fault } from '../base/errors.js';
import type { Policy } from '../policy/policy.js';
import { normalQuantile, oneSidedQuantile } from './answer.js';
import type { AnswerRow, AnswerTable } from './bound.js';
import type { Query } from './query.js';

type Share = NonNullable<AnswerRow['share']>;
/** No share further from 0, or from 1, is one near the end. */
const endsUpTo = 0.25;

/**
 * Adds sampling error to the shares of a query's table (sampling.proof.md), from published numbers and the declared design: free.
 * Weighted shares need declared weights; persons with several rows have none, since their number is not published.
 */
export function samplingOf(
  { kind, weight }: Query,
  { design, protect }: Pick<Policy, 'design' | 'protect'>,
): (table: AnswerTable) => AnswerTable {
  const unchanged = (table: AnswerTable) => table;
  if (!design) return unchanged;
  // The declared mean weight gives the number of people that weights stand for.
  if (weight !== undefined && design.weights?.column !== weight) return unchanged;
  const weights = weight === undefined ? { mean: 1, effect: 1 } : design.weights!;
  if (protect.secret === 'person' && protect.maxRows > 1) return unchanged;
  const group = ({ keys }: AnswerRow) => JSON.stringify(keys.slice(0, -1));
  // Rows of a distribution contain those before them, so the largest is the total; rows of other tables are disjoint.
  const together = kind === 'cdf' ? Math.max : (all: number, more: number) => all + more;
  return (table) => {
    const people = new Map<string, number>();
    for (const row of table.rows) if (row.share) people.set(group(row), together(people.get(group(row)) ?? 0, row.value ?? 0));
    // With finite-population correction, a full census has an infinite effective sample size.
    const all = [...people.values()].reduce((sum, more) => sum + Math.max(0, more), 0);
    const worth = (counted: number, mixed: boolean) => {
      const people = counted / weights.mean;
      const part = mixed && all > 0 ? Math.min(1, Math.max(0, counted / all)) : 1;
      return people / Math.max(1e-9, weights.effect * (varianceFactor({ design, protect }, people, part) ?? 1));
    };
    const rows = table.rows.map((row) => {
      if (!row.share) return row;
      const mixed = table.columns.slice(0, row.keys.length - 1).every((name) => isMixed(design, name));
      return { ...row, share: sampled(row.share, worth(people.get(group(row))!, mixed)) };
    });
    return { ...table, rows };
  };
}

/** The column varies within every cluster as it does in the population. */
const isMixed = (design: Policy['design'], column: string): boolean => design?.clusters?.mixed.includes(column) ?? false;

/**
 * Ratio of a sampling variance to that of a simple random sample from an infinite population; undefined without a design, or with
 * several rows per person. `part`: share of a cluster's members in the group; 0 for comparisons of mixed groups (sampling.proof.md).
 */
export function varianceFactor(
  { design, protect }: Pick<Policy, 'design' | 'protect'>,
  people: number,
  part = 1,
): number | undefined {
  if (!design || (protect.secret === 'person' && protect.maxRows > 1)) return undefined;
  // Finite-population correction: sampling a large part of the population leaves less variance.
  const left = design.population === undefined ? 1 : Math.max(0, 1 - people / design.population);
  const clustered = design.clusters?.effect ?? 1;
  return ((1 + part * (clustered - 1)) / clustered) * design.effect * left;
}

/**
 * The same for tests, which are about a population: a simple random sample where no design is declared.
 * `between`: columns whose groups are compared.
 */
export function testFactor(
  policy: Pick<Policy, 'design' | 'protect'>,
  { weight }: { readonly weight?: string | undefined },
  between: readonly string[] = [],
): { readonly one: (people: number, part?: number) => number; readonly difference: (people: number) => number } {
  if (weight !== undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Tests are made without weights.',
      'Leave out "weight", or compare weighted means by their intervals.',
    );
  if (policy.protect.secret === 'person' && policy.protect.maxRows > 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A test counts people, and one person may be several rows here.',
      'Declare maxRows: 1, or ask of one row per person: "from": {"perPerson": …}.',
    );
  const mixed = between.some((name) => isMixed(policy.design, name));
  const one = (people: number, part = 1) => varianceFactor(policy, people, mixed ? part : 1) ?? 1;
  return { one, difference: (people) => one(people, 0) };
}
export const testNote = ({ design }: Pick<Policy, 'design'>): string =>
  `The test knows of the noise, and takes the people for ${design ? `a sample as declared under design` : 'a simple random sample of a large population'}.`;

/** `people`: effective sample size, as of a simple random sample. */
function sampled(share: Share, people: number): Share {
  const { value, low, high } = share;
  if (value === null || !(people > 0)) return { ...share, withSampling: { low: 0, high: 1 } };
  const [down, up] = [value - low, high - value];
  const ends = (by: number, fall: number, rise: number) => {
    const [least, most] = wilson(value, people, by);
    return [value - Math.hypot(fall, value - least), value + Math.hypot(rise, most - value)] as const;
  };
  // Near 0 or 1 the interval never fails on that side, since no share lies beyond it: all of alpha may be used on the other (proof note).
  const near = Math.hypot(up, wilson(0, people, normalQuantile)[1]);
  const far = 1 - Math.hypot(down, wilson(0, people, normalQuantile)[1]);
  const less = oneSidedQuantile / normalQuantile;
  const [both, one] = [
    ends(normalQuantile, down, up),
    ends(oneSidedQuantile, Math.min(down, less * up), Math.min(up, less * down)),
  ];
  return {
    ...share,
    withSampling: {
      low: Math.max(0, Math.min(one[0], Math.max(both[0], Math.min(near, endsUpTo)))),
      high: Math.min(1, Math.max(one[1], Math.min(both[1], Math.max(far, 1 - endsUpTo)))),
    },
  };
}

/** Wilson's interval of a share at z deviations; it holds for rare answers as well. */
function wilson(share: number, people: number, z: number): readonly [number, number] {
  const shrink = 1 + (z * z) / people;
  const middle = (share + (z * z) / (2 * people)) / shrink;
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / people + (z * z) / (4 * people * people));
  return [Math.min(share, middle - half), Math.max(share, middle + half)];
}
