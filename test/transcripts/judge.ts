import {
  type AmendableTerms,
  cells,
  isDeclaredPair,
  type PopulationDesign,
  type PopulationFile,
  type PopulationFiles,
  type Row,
  stepsRead,
  weeks,
} from './population.js';

/** A published answer: the contribution of one row to each of its cells, and the noise. */
export interface Published {
  readonly file: PopulationFile;
  readonly adds: (row: Row) => readonly number[];
  readonly noise: MeasureNoise;
}
export type MeasureNoise =
  | { readonly kind: 'none' }
  | { readonly kind: 'laplace'; readonly scale: number }
  | { readonly kind: 'gaussian'; readonly variance: number };

/** Receipt of another publisher, entered here: the privacy loss of all data of one person there. */
export interface Foreign {
  readonly epsilonOfPerson: number;
}

/** Upper bound on the privacy loss of one record under these terms. */
export interface AttackerGain {
  /** Pure part: change of the log-probability of any output; infinite where an exact answer distinguishes two neighbours. */
  readonly loss: number;
  /** The probability beyond e^epsilon, where delta is promised. */
  readonly delta: number;
  /** 1 where the promise is met exactly, more where it is broken. */
  readonly ratio: number;
}

interface Change {
  readonly pure: number;
  /** Laplace draws: shift over scale, one for each cell. */
  readonly laplace: readonly number[];
  /** Sum of squared shifts over variances. */
  readonly gaussian: number;
}

/** One value that a record may hold: its rows are copies of one row, which is the worst for sums. */
interface Held {
  readonly row: Row;
  readonly copies: number;
}

/** Every value of a record, one cell for each number that a cell can be read as; last of all none, where records come and go. */
function values({ x, secret, maxRows, neighbours }: PopulationDesign, fixed: boolean): readonly Held[] {
  const read = new Map(cells(x).map((cell) => [stepsRead(x, cell), cell]));
  const sizes = secret === 'person' ? [...new Set([1, maxRows])] : [1];
  const held = (fixed ? [0] : weeks).flatMap((week) =>
    ['a', 'b', ''].flatMap((g) =>
      [...read.values()].flatMap((cell) => sizes.map((copies) => ({ row: { id: 0, home: 0, week, g, x: cell }, copies }))),
    ),
  );
  return neighbours === 'add-remove' ? [...held, { row: held[0]!.row, copies: 0 }] : held;
}

/** Change of one record's value, made by all these members of a group at once, with the largest privacy loss. */
function worstIn(design: PopulationDesign, terms: AmendableTerms, own: readonly Published[], members: readonly number[]): Change {
  const { x, pairs } = design;
  const fixed = terms.weekPublic && design.secret === 'row';
  const options = values(design, fixed);
  // Contribution of all members together to each cell if all of them have this value.
  const added = own.map(({ adds }) =>
    options.map(({ row, copies }) => {
      const each = members.map((week) => adds(fixed ? { ...row, week } : row));
      return each[0]!.map((_, cell) => copies * each.reduce((sum, vector) => sum + vector[cell]!, 0));
    }),
  );
  let worst: Change = { pure: 0, laplace: [], gaussian: 0 };
  for (const [i, before] of options.entries())
    for (let j = 0; j < i; j++) {
      // With add-remove a record is compared with no record, never with another one.
      if (design.neighbours === 'add-remove' && before.copies !== 0) continue;
      // The number of rows per person is no secret where pairs are declared.
      if (pairs && before.copies !== options[j]!.copies) continue;
      if (!isDeclaredPair(x, pairs, before.row.x, options[j]!.row.x)) continue;
      const change = changeOf(
        own.map(({ noise }) => noise),
        added.map((vectors) => [vectors[i]!, vectors[j]!]),
      );
      if (weightOf(change) > weightOf(worst)) worst = change;
    }
  return worst;
}

function changeOf(
  noises: readonly MeasureNoise[],
  vectors: readonly (readonly [readonly number[], readonly number[]])[],
): Change {
  let [pure, gaussian] = [0, 0];
  const laplace: number[] = [];
  for (const [k, noise] of noises.entries()) {
    const [before, after] = vectors[k]!;
    for (let cell = 0; cell < before.length; cell++) {
      const shift = Math.abs(after[cell]! - before[cell]!);
      if (shift === 0) continue;
      if (noise.kind === 'none') pure = Number.POSITIVE_INFINITY;
      else if (noise.kind === 'gaussian') gaussian += (shift * shift) / noise.variance;
      else {
        laplace.push(shift / noise.scale);
        pure += shift / noise.scale;
      }
    }
  }
  return { pure, laplace, gaussian };
}
const weightOf = ({ pure, gaussian }: Change): number => pure + Math.sqrt(gaussian) * 4 + gaussian;

/**
 * The worst record of these files: all that one person, or with ties one home, has in both of them changes at once. Where B is a copy of A, both
 * are one file.
 */
export function judgeTranscript(
  {
    design,
    terms,
    files: both,
    copy,
  }: { design: PopulationDesign; terms: AmendableTerms; files: PopulationFiles; copy?: boolean },
  releases: readonly Published[],
  foreign: readonly Foreign[],
): AttackerGain {
  const files: PopulationFiles = copy ? { A: both.A, B: [] } : both;
  const published = copy ? releases.map((each) => ({ ...each, file: 'A' as const })) : releases;
  const names = ['A', 'B'] as const;
  const groups = new Map<number, Map<string, { readonly file: PopulationFile; readonly id: number; readonly week: number }>>();
  for (const file of names)
    for (const { id, home, week } of files[file]) {
      const key = terms.ties === 'none' ? id : home;
      const group = groups.get(key) ?? new Map();
      groups.set(key, group);
      // A person is one record of a file however many rows they have.
      group.set(`${file} ${id}`, { file, id, week });
    }
  let worst: Change = { pure: 0, laplace: [], gaussian: 0 };
  const known = new Map<string, Change>();
  for (const members of groups.values()) {
    const parts = names.map((file) => {
      const own = published.filter((p) => p.file === file);
      const here = [...members.values()].filter((m) => m.file === file).map(({ week }) => week);
      const key = `${file} ${here.sort().join()}`;
      if (here.length === 0 || own.length === 0) return undefined;
      const found = known.get(key) ?? worstIn(design, terms, own, here);
      known.set(key, found);
      return found;
    });
    // Ties are those of the files read: entering a receipt declares no ties of its publisher.
    const readFrom = names.filter((file) => published.some((p) => p.file === file));
    const ours = [...members.values()].filter(({ file }) => (readFrom.length > 0 ? readFrom : ['A']).includes(file));
    const people = new Set(ours.map(({ id }) => id)).size;
    const others = foreign.flatMap(({ epsilonOfPerson }) => Array.from({ length: people }, () => epsilonOfPerson));
    const sum = (of: (c: Change) => number) => parts.reduce((total, c) => total + (c ? of(c) : 0), 0);
    const together: Change = {
      pure: sum((c) => c.pure) + others.reduce((a, b) => a + b, 0),
      laplace: [...parts.flatMap((c) => c?.laplace ?? []), ...others],
      gaussian: sum((c) => c.gaussian),
    };
    if (weightOf(together) > weightOf(worst)) worst = together;
  }
  if (terms.delta === 0)
    return {
      loss: worst.pure,
      delta: 0,
      ratio: worst.gaussian > 0 ? Number.POSITIVE_INFINITY : worst.pure / terms.epsilon,
    };
  if (worst.gaussian === 0 && worst.pure <= terms.epsilon)
    return { loss: worst.pure, delta: 0, ratio: worst.pure / terms.epsilon };
  const delta = deltaOf(worst, terms.epsilon);
  return { loss: worst.pure, delta, ratio: 1 + Math.log(delta / terms.delta) / 20 };
}

/** The distribution of the Laplace losses on a grid, rounded up, and the Gaussian tail behind each of its points. */
function deltaOf({ pure, laplace, gaussian }: Change, epsilon: number): number {
  if (pure === Number.POSITIVE_INFINITY) return 1;
  const width = 1e-3;
  let loss = new Map<number, number>([[0, 1]]);
  for (const e of laplace) {
    const next = new Map<number, number>();
    for (const [at, p] of loss)
      for (const [more, q] of lossesOf(e)) {
        const to = at + Math.ceil(more / width - 1e-9);
        next.set(to, (next.get(to) ?? 0) + p * q);
      }
    loss = next;
  }
  let delta = 0;
  for (const [at, p] of loss) delta += p * gaussianDelta(Math.sqrt(gaussian), epsilon - at * width);
  return delta;
}

/** Losses of one Laplace draw that is shifted by e times its scale, in slices of the middle. */
function lossesOf(e: number): readonly (readonly [number, number])[] {
  const slices = 24;
  const made: [number, number][] = [
    [e, 1 / 2],
    [-e, Math.exp(-e) / 2],
  ];
  // Between the two centres the loss falls from e to -e; the density of the noise is exp(-u)/2 there.
  for (let k = 0; k < slices; k++) {
    const [u, v] = [(e * k) / slices, (e * (k + 1)) / slices];
    made.push([e - 2 * u, (Math.exp(-u) - Math.exp(-v)) / 2]);
  }
  return made;
}

function gaussianDelta(mu: number, epsilon: number): number {
  if (mu === 0) return Math.max(0, 1 - Math.exp(epsilon));
  return Math.max(0, normal(mu / 2 - epsilon / mu) - Math.exp(epsilon) * normal(-mu / 2 - epsilon / mu));
}

/** The normal distribution function: a continued fraction in the tail, a series in the middle. */
export function normal(z: number): number {
  const a = Math.abs(z);
  const density = Math.exp((-a * a) / 2) / Math.sqrt(2 * Math.PI);
  if (a < 4) {
    let [term, sum] = [a, a];
    for (let k = 3; Math.abs(term) > 1e-18 * Math.abs(sum) && k < 400; k += 2) {
      term *= (a * a) / k;
      sum += term;
    }
    const upper = 0.5 - density * sum;
    return z > 0 ? 1 - upper : upper;
  }
  let fraction = a;
  for (let k = 120; k > 0; k--) fraction = a + k / fraction;
  const upper = density / fraction;
  return z > 0 ? 1 - upper : upper;
}
