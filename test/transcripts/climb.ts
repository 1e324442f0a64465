import { judgeTranscript } from './judge.js';
import {
  type AmendableTerms,
  cells,
  isDeclaredPair,
  type PopulationDesign,
  type PopulationFile,
  type PopulationFiles,
  publicWeek,
  type Row,
  weeks,
  writtenWeeks,
} from './population.js';
import { questionsFor, type TranscriptQuestion } from './questions.js';
import { foreignReceipts } from './receipts.js';
import { type AnalystStep, type ForeignReceipt, type Transcript, Workplace } from './run.js';

/** Random numbers that can be repeated (mulberry32). */
interface Dice {
  below(n: number): number;
  of<T>(list: readonly T[]): T;
}
function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return { below, of: (list) => list[below(list.length)]! };
}

interface ClimbWorld {
  readonly design: PopulationDesign;
  readonly start: AmendableTerms;
  readonly files: PopulationFiles;
  /** B is a copy of A. */
  readonly copy: boolean;
  readonly questions: readonly TranscriptQuestion[];
}

const designs: readonly PopulationDesign[] = (
  [
    ...Array.from({ length: 5 }, () => ({ secret: 'row' }) as const),
    { secret: 'row', pairs: { within: 1 } },
    { secret: 'row', pairs: { within: 1.5 } },
    { secret: 'row', pairs: { edges: [1.5] } },
    { secret: 'row', pairs: { edges: [2] } },
    ...Array.from({ length: 4 }, () => ({ secret: 'person' }) as const),
    { secret: 'person', pairs: { within: 1 } },
    { secret: 'row', neighbours: 'add-remove' },
    { secret: 'person', neighbours: 'add-remove' },
  ] as const
).flatMap((each) =>
  (
    [
      { type: 'integer', step: 1, high: 4 },
      { type: 'number', step: 0.5, high: 2 },
      { type: 'number', step: 2, high: 8 },
    ] as const
  ).map((x): PopulationDesign => ({ neighbours: 'replace', maxRows: 2, x, ...each })),
);

function worldOf({ below, of }: Dice): ClimbWorld {
  const design = of(designs);
  const people = 3 + below(3);
  const homes = 1 + below(people);
  const numbers = cells(design.x);
  // A row at no step ends every stream.
  const written = below(3) > 0 ? weeks : writtenWeeks;
  const row = (id: number): Row => ({ id, home: id % homes, week: of(written), g: of(['a', 'b', '']), x: of(numbers) });
  const rowsOf = (id: number): readonly Row[] =>
    design.secret === 'row' ? [row(id)] : Array.from({ length: 1 + below(design.maxRows) }, () => row(id));
  const everybody = Array.from({ length: people }, (_, id) => id);
  const A = everybody.flatMap(rowsOf);
  const copy = below(4) === 0;
  // The other file holds some of the same people, and others of the same homes.
  const others = Array.from({ length: of([0, 0, 1, 3]) }, (_, k) => people + k);
  // Relations name everybody of both files: without these people no question about the other file is answered.
  const isWhole = below(2) === 0;
  const pure = design.pairs !== undefined || design.neighbours === 'add-remove';
  return {
    design,
    start: {
      epsilon: 1,
      delta: pure ? 0 : of(deltas),
      weekPublic: below(2) === 0,
      ties: design.neighbours === 'add-remove' ? 'none' : of(['none', 'none', 'groups', 'relation']),
    },
    files: { A, B: copy ? A : (isWhole ? everybody : [...everybody.filter(() => below(3) > 0), ...others]).flatMap(rowsOf) },
    copy,
    questions: questionsFor(design.x),
  };
}

/** Data in which one record, or with ties all of its home, holds other values. */
function neighbourOf({ design, files, copy }: ClimbWorld, terms: AmendableTerms, { below, of }: Dice): PopulationFiles {
  const chosen = of(files.A);
  if (design.neighbours === 'add-remove') {
    const without = (rows: readonly Row[]) => rows.filter(({ id }) => id !== chosen.id);
    return { A: without(files.A), B: without(files.B) };
  }
  const numbers = cells(design.x);
  const fixed = terms.weekPublic && design.secret === 'row';
  const changed = (row: Row): Row => {
    if (terms.ties === 'none' ? row.id !== chosen.id : row.home !== chosen.home) return row;
    const near = numbers.filter((cell) => isDeclaredPair(design.x, design.pairs, row.x, cell));
    return {
      ...row,
      week: of(fixed ? writtenWeeks.filter((week) => publicWeek({ week }) === publicWeek(row)) : writtenWeeks),
      g: of(['a', 'b', '']),
      x: of(near),
    };
  };
  const drop = design.secret === 'person' && design.pairs === undefined && below(2) === 0;
  const other = (rows: readonly Row[]): readonly Row[] => {
    const made = rows.map(changed);
    // A person may have fewer rows elsewhere.
    const own = made.filter((r) => r.id === chosen.id);
    return drop && own.length > 1 ? made.filter((r) => r !== own[0]) : made;
  };
  const A = other(files.A);
  return { A, B: copy ? A : other(files.B) };
}

/** The larger delta is, the more often Gaussian noise is the smaller one. */
const deltas = [0, 1e-6, 1e-3, 1e-2];
const shares = ['0.01', '0.02', '0.05', '0.1', '0.2', '0.25', '0.3', '0.34', '0.4', '0.5', '0.6', '0.66', '0.75', '0.9', '1'];

function stepOf({ start, questions }: ClimbWorld, { below, of }: Dice): AnalystStep {
  const file: PopulationFile = below(3) > 0 ? 'A' : 'B';
  const kind = below(22);
  if (kind < 12) return { kind: 'release', file, question: below(questions.length), wording: below(4), epsilon: of(shares) };
  if (kind < 16)
    return {
      kind: 'stream',
      file,
      question: below(2),
      epsilon: of(shares),
      through: below(2) === 0 ? below(weeks.length) : undefined,
      gaps: below(2) === 0,
    };
  if (kind >= 20) return { kind: 'same data', file };
  if (kind < 18) return { kind: 'enter', receipt: below(8), bound: below(3) > 0 };
  const to: readonly Partial<AmendableTerms>[] = [
    { epsilon: of([0.25, 0.5, 1.5, 2]) },
    { weekPublic: of([true, false]) },
    { ties: of(['none', 'groups', 'relation']) },
    { delta: start.delta === 0 ? of(deltas.slice(1)) : 0 },
  ];
  return { kind: 'amend', file, to: of(to) };
}

/** Starting points of some climbs: attacks that once broke a promise. */
function knownWays({ design }: ClimbWorld, chance: Dice): readonly AnalystStep[] {
  const release = (file: PopulationFile): AnalystStep => ({
    kind: 'release',
    file,
    question: chance.below(13),
    wording: 0,
    epsilon: chance.of(shares),
  });
  const amend = (to: Partial<AmendableTerms>): AnalystStep => ({ kind: 'amend', file: 'A', to });
  return chance.of<readonly AnalystStep[]>([
    // A declaration between two kinds of terms, which marked its costs twice.
    [
      amend({ ties: 'relation' }),
      release('A'),
      amend({ ties: 'none' }),
      { kind: 'same data', file: 'A' },
      release('B'),
      amend({ ties: 'relation' }),
    ],
    // An exact count of what was public when it was asked: only there does the promise hang on the facts that were noted.
    ...Array.from({ length: design.secret === 'row' && design.pairs === undefined ? 3 : 1 }, () => [
      amend({ weekPublic: true }),
      { kind: 'release', file: 'A', question: 12, wording: 0, epsilon: '0.1' } as const,
      amend({ weekPublic: false }),
    ]),
    // Homes that are larger in one file than in the other.
    [amend({ ties: 'groups' }), release('A'), release('B'), release('A')],
    [release('A'), amend({ ties: 'groups' }), release('B'), amend({ ties: 'none' }), release('B')],
    [
      amend({ weekPublic: true }),
      release('A'),
      { kind: 'same data', file: 'A' },
      release('B'),
      amend({ weekPublic: false }),
      release('A'),
    ],
  ]);
}

function mutated(world: ClimbWorld, steps: readonly AnalystStep[], chance: Dice): readonly AnalystStep[] {
  const next = [...steps];
  const at = chance.below(next.length + 1);
  const mutation = chance.below(4);
  const before = next.slice(0, at).filter((step) => step.kind === 'release');
  // The same question once more, in other words.
  if (mutation === 0 && before.length > 0 && chance.below(3) === 0)
    next.splice(at, 0, { ...chance.of(before), wording: chance.below(4) });
  else if (mutation === 0 || next.length === 0) next.splice(at, 0, stepOf(world, chance));
  else if (mutation === 1 && next.length > 1) next.splice(Math.min(at, next.length - 1), 1);
  else {
    const k = Math.min(at, next.length - 1);
    const old = next[k]!;
    next[k] = mutation === 2 && 'epsilon' in old ? { ...old, epsilon: chance.of(shares) } : stepOf(world, chance);
  }
  return next.slice(0, 9);
}

interface ClimbFinding {
  readonly world: Omit<ClimbWorld, 'questions'>;
  readonly steps: readonly AnalystStep[];
  readonly what: string;
  /** How many transcripts it took. */
  readonly at: number;
  readonly outcomes: readonly string[];
}

export interface Figures {
  transcripts: number;
  releases: number;
  /** Releases with Gaussian noise. */
  gaussian: number;
  refusals: number;
  /** Promises that were met to within a thousandth. */
  tight: number;
  worst: number;
  readonly done: Map<string, number>;
  readonly findings: ClimbFinding[];
}

/** Roundings of the judge's own arithmetic. */
const rounding = 1e-6;

/** One population, and transcripts that climb towards its promise. */
async function climb(parts: {
  readonly chance: Dice;
  readonly place: Workplace;
  readonly receipts: readonly ForeignReceipt[];
  readonly transcripts: number;
  readonly figures: Figures;
}): Promise<void> {
  const { chance, place, receipts, transcripts, figures } = parts;
  const world = worldOf(chance);
  const { design, start, files, copy, questions } = world;
  const neighbours = new Map<string, readonly PopulationFiles[]>();
  const doing = (data: PopulationFiles, steps: readonly AnalystStep[]): Promise<Transcript> =>
    place.run({ files: data, copy, design, start, questions, steps, receipts });
  let best: { steps: readonly AnalystStep[]; ratio: number } = {
    steps:
      chance.below(2) === 0 ? knownWays(world, chance) : Array.from({ length: 2 + chance.below(4) }, () => stepOf(world, chance)),
    ratio: -1,
  };
  for (let k = 0; k < transcripts; k++) {
    const steps = k === 0 ? best.steps : mutated(world, best.steps, chance);
    const seen = await doing(files, steps);
    const { ratio } = judgeTranscript({ design, terms: seen.terms, files, copy }, seen.published, seen.foreign);
    const found = (what: string, outcomes = seen.outcomes) =>
      figures.findings.push({ world: { design, start, files, copy }, steps, what, at: figures.transcripts + 1, outcomes });
    if (ratio > 1 + rounding) found(`the promise is broken: ${ratio} of 1`);
    for (const defect of seen.defects) found(defect);
    const key = JSON.stringify([seen.terms.weekPublic, seen.terms.ties]);
    const near = neighbours.get(key) ?? Array.from({ length: 3 }, () => neighbourOf(world, seen.terms, chance));
    neighbours.set(key, near);
    const other = await doing(chance.of(near), steps);
    if (JSON.stringify(other.outcomes) !== JSON.stringify(seen.outcomes))
      found('neighbouring data sets have other outcomes', [...seen.outcomes, '<>', ...other.outcomes]);
    figures.transcripts++;
    figures.releases += seen.published.length;
    figures.gaussian += seen.published.filter(({ noise }) => noise.kind === 'gaussian').length;
    for (const outcome of seen.outcomes) {
      const word = outcome.split(' ')[0]!;
      figures.done.set(word, (figures.done.get(word) ?? 0) + 1);
      if (/^[A-Z_]+$/.test(word)) figures.refusals++;
    }
    if (ratio > 0.999) figures.tight++;
    figures.worst = Math.max(figures.worst, ratio);
    if (ratio >= best.ratio) best = { steps, ratio };
  }
}

/** Populations that share a ledger, because every amendment walks its whole chain. */
const worldsPerLedger = 5;
const perWorld = 40;

/** Number of transcripts, one population after another; the same for the same seed. */
export async function runTranscripts(parts: {
  readonly wanted: number;
  readonly seed: number;
  /** Index of the first population, of the same seed. */
  readonly first?: number;
  readonly progress?: (figures: Figures) => void;
}): Promise<Figures> {
  const { wanted, seed, first = 0, progress } = parts;
  const figures = noFigures();
  const receipts = await foreignReceipts();
  for (let world = first; figures.transcripts < wanted; ) {
    const place = new Workplace();
    try {
      for (let k = 0; k < worldsPerLedger && figures.transcripts < wanted; k++) {
        const transcripts = Math.min(perWorld, wanted - figures.transcripts);
        await climb({ chance: dice(seed * 1_000_003 + world++), place, receipts, transcripts, figures });
      }
    } finally {
      await place.close();
    }
    if (world % 25 === 0) progress?.(figures);
  }
  return figures;
}

const noFigures = (): Figures => ({
  transcripts: 0,
  releases: 0,
  gaussian: 0,
  refusals: 0,
  tight: 0,
  worst: 0,
  done: new Map(),
  findings: [],
});
