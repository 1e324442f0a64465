import { Fault } from '../base/errors.js';
import type { Policy } from '../policy/policy.js';
import type { AnswerRow, AnswerTable } from './bound.js';

type Share = NonNullable<AnswerRow['share']>;
/** 95 % between, and 95 % on one side. */
const [z, oneSided] = [1.959964, 1.644854];
/** No share further from 0, or from 1, is one near the end. */
const endsUpTo = 0.25;

/**
 * Shares with the error of having asked some people and not all, beside that of the noise (sampling.proof.md): from published numbers and the declared design
 * effect, so it costs nothing and tells nothing. Shares of weights get some where the design says what weights stand for; those of persons with
 * several rows none: how many people they are is not published.
 */
export function withSampling(table: AnswerTable, { design, protect }: Pick<Policy, 'design' | 'protect'>): AnswerTable {
  if (!design) return table;
  const { weight } = table.query;
  // How many people weights stand for is told by their declared mean.
  const weights = weight === undefined ? { mean: 1, effect: 1 } : design.weights?.column === weight ? design.weights : undefined;
  if (!weights) return table;
  if (protect.secret === 'person' && protect.maxRows > 1) return table;
  const group = ({ keys }: AnswerRow) => JSON.stringify(keys.slice(0, -1));
  const people = new Map<string, number>();
  // Rows of a distribution hold those before them: the largest is everybody. Others lie apart.
  const together = table.query.kind === 'cdf' ? Math.max : (all: number, more: number) => all + more;
  for (const row of table.rows) if (row.share) people.set(group(row), together(people.get(group(row)) ?? 0, row.value ?? 0));
  // All of a population of which everybody was asked is worth a sample without end.
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
}

/** Whether those of one cluster differ by a column as people do anywhere. */
const isMixed = (design: Policy['design'], column: string): boolean => design?.clusters?.mixed.includes(column) ?? false;

/**
 * By how much a variance over samples of so many people is larger than that of a simple random sample from a population without end; undefined where no
 * design is declared, or where one person may be several rows. `part`: of the members of a cluster, how many are meant; none where groups are compared
 * that are mixed in every cluster alike (sampling.proof.md).
 */
export function varianceFactor(
  { design, protect }: Pick<Policy, 'design' | 'protect'>,
  people: number,
  part = 1,
): number | undefined {
  if (!design || (protect.secret === 'person' && protect.maxRows > 1)) return undefined;
  // Of a large part of all there are, less is left to chance.
  const left = design.population === undefined ? 1 : Math.max(0, 1 - people / design.population);
  const clustered = design.clusters?.effect ?? 1;
  return ((1 + part * (clustered - 1)) / clustered) * design.effect * left;
}

/** The same for tests, which are about a population by nature: a simple random sample where no design is declared. `between`: columns whose groups are compared. */
export function testFactor(
  policy: Pick<Policy, 'design' | 'protect'>,
  { weight }: { readonly weight?: string | undefined },
  between: readonly string[] = [],
): { readonly one: (people: number, part?: number) => number; readonly apart: (people: number) => number } {
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
  return { one, apart: (people) => one(people, 0) };
}
export const testNote = ({ design }: Pick<Policy, 'design'>): string =>
  `The test knows of the noise, and takes the people for ${design ? `a sample as declared under design` : 'a simple random sample of a large population'}.`;

/** `people`: of a simple random sample that would be as exact. */
function sampled(share: Share, people: number): Share {
  const { value, low, high } = share;
  if (value === null || !(people > 0)) return { ...share, withSampling: { low: 0, high: 1 } };
  const [down, up] = [value - low, high - value];
  const ends = (by: number, fall: number, rise: number) => {
    const [least, most] = wilson(value, people, by);
    return [value - Math.hypot(fall, value - least), value + Math.hypot(rise, most - value)] as const;
  };
  // So near to 0, or 1, nothing is ever missed on that side, since no share is told beyond it: what is left may be missed on the other (proof note).
  const near = Math.hypot(up, wilson(0, people, z)[1]);
  const far = 1 - Math.hypot(down, wilson(0, people, z)[1]);
  const less = oneSided / z;
  const [both, one] = [ends(z, down, up), ends(oneSided, Math.min(down, less * up), Math.min(up, less * down))];
  return {
    ...share,
    withSampling: {
      low: Math.max(0, Math.min(one[0], Math.max(both[0], Math.min(near, endsUpTo)))),
      high: Math.min(1, Math.max(one[1], Math.min(both[1], Math.max(far, 1 - endsUpTo)))),
    },
  };
}

/** Wilson's interval of a share, of so many deviations: holds also where few said so. */
function wilson(share: number, people: number, z: number): readonly [number, number] {
  const shrink = 1 + (z * z) / people;
  const middle = (share + (z * z) / (2 * people)) / shrink;
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / people + (z * z) / (4 * people * people));
  return [Math.min(share, middle - half), Math.max(share, middle + half)];
}
