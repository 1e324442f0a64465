import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streamIn } from '../../src/app/api/stream.js';
import { Fault } from '../../src/base/errors.js';
import type { Engine } from '../../src/data/engine/engine.js';
import { openEngine } from '../../src/data/terms/open.js';
import { readPolicy } from '../../src/data/terms/read.js';
import type { AnswerTable } from '../../src/query/bound.js';
import type { Ledger } from '../../src/release/ledger/ledger.js';
import { openLedger } from '../../src/release/ledger/open.js';
import { amendAccount } from '../../src/release/session/amend.js';
import { readReceipt } from '../../src/release/session/foreign-spending.js';
import type { PlannedMeasure } from '../../src/release/session/plan.js';
import { recordSameData } from '../../src/release/session/same-data.js';
import { createSession, type PrivacySession } from '../../src/release/session/session.js';
import type { Foreign, MeasureNoise, Published } from './judge.js';
import {
  type AmendableTerms,
  csv,
  type PopulationDesign,
  type PopulationFile,
  type PopulationFiles,
  populationPolicy,
  type Row,
  tiesCsv,
} from './population.js';
import { streamed, type TranscriptQuestion } from './questions.js';

/** One thing that an analyst, or the steward, does. */
export type AnalystStep =
  | {
      readonly kind: 'release';
      readonly file: PopulationFile;
      readonly question: number;
      readonly wording: number;
      readonly epsilon: string;
    }
  | {
      readonly kind: 'stream';
      readonly file: PopulationFile;
      readonly question: number;
      readonly epsilon: string;
      readonly through: number | undefined;
      readonly gaps: boolean;
    }
  | { readonly kind: 'amend'; readonly file: PopulationFile; readonly to: Partial<AmendableTerms> }
  /** Used only where it is true: nothing was spent on the other file, or it is a copy. */
  | { readonly kind: 'same data'; readonly file: PopulationFile }
  /** `bound`: the steward states the number of their records per person of ours; the statement is true. */
  | { readonly kind: 'enter'; readonly receipt: number; readonly bound: boolean };

/** Receipt of another publisher, with its true privacy loss for one of our people. */
export interface ForeignReceipt extends Foreign {
  readonly receipt: unknown;
  readonly name: string;
  /** Number of their records per person of ours. */
  readonly records: number;
}

export interface Transcript {
  /** As an outsider sees it: which steps were answered, from the record or anew, and which refused with what. */
  readonly outcomes: readonly string[];
  readonly published: readonly Published[];
  readonly foreign: readonly Foreign[];
  readonly terms: AmendableTerms;
  /** Defects: errors that are no faults, recorded answers that differ. */
  readonly defects: readonly string[];
}

/** Copies of one population in folders of their own, with engines that stay open and one ledger for all. */
export class Workplace {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fugu-transcripts-'));
  readonly #engines = new Map<string, Engine>();
  #ledger: Ledger | undefined;
  #count = 0;

  static readonly #copies = new WeakMap<PopulationFiles, string>();
  #folderOf(files: PopulationFiles): string {
    const known = Workplace.#copies.get(files);
    if (known?.startsWith(this.#folder)) return known;
    const made = join(this.#folder, `copy-${this.#count++}`);
    mkdirSync(made);
    for (const name of ['A', 'B'] as const) writeFileSync(join(made, `${name}.csv`), csv(files[name]));
    writeFileSync(join(made, 'ties.csv'), tiesCsv(files));
    Workplace.#copies.set(files, made);
    return made;
  }

  async #session(
    files: PopulationFiles,
    design: PopulationDesign,
    terms: AmendableTerms,
    file: PopulationFile,
    population: string,
  ): Promise<PrivacySession> {
    const folder = this.#folderOf(files);
    const place = this.policyFile(folder, file);
    writeFileSync(place, populationPolicy(design, terms, { file, population, ledger: '../ledger.db' }));
    const policy = await readPolicy(place);
    const key = JSON.stringify([folder, file, terms.ties]);
    const engine = this.#engines.get(key) ?? (await openEngine(policy));
    this.#engines.set(key, engine);
    this.#ledger ??= await openLedger(policy.ledger);
    return createSession({ policy, engine, ledger: this.#ledger });
  }
  policyFile = (folder: string, file: PopulationFile): string => join(folder, `${file}.yaml`);

  /** Runs all steps for a population of its own, and records every published answer. */
  async run(parts: {
    readonly files: PopulationFiles;
    readonly copy: boolean;
    readonly design: PopulationDesign;
    readonly start: AmendableTerms;
    readonly questions: readonly TranscriptQuestion[];
    readonly steps: readonly AnalystStep[];
    readonly receipts: readonly ForeignReceipt[];
  }): Promise<Transcript> {
    const { files, copy, design, questions, steps, receipts } = parts;
    const population = `p${this.#count++}`;
    let terms = parts.start;
    const sessions = new Map<PopulationFile, PrivacySession>();
    const session = async (file: PopulationFile): Promise<PrivacySession> => {
      const made = sessions.get(file) ?? (await this.#session(files, design, terms, file, population));
      sessions.set(file, made);
      return made;
    };
    const outcomes: string[] = [];
    const defects: string[] = [];
    const published: Published[] = [];
    const foreign = new Map<unknown, Foreign>();
    const answers = new Map<number, string>();
    const valuesOf = (tables: readonly AnswerTable[]): string =>
      JSON.stringify(tables.map(({ rows }) => rows.map(({ value }) => value)));
    /** Each entry paid for one question: recorded answers have the same numbers. */
    const compare = (name: string, entry: number, replayed: boolean, tables: readonly AnswerTable[]): void => {
      const values = valuesOf(tables);
      if (replayed && answers.get(entry) !== values) defects.push(`${name}: a recorded answer differs`);
      answers.set(entry, values);
    };
    const x = design.x;
    for (const step of steps) {
      try {
        if (step.kind === 'release') {
          const question = questions[step.question]!;
          const { tables, receipt } = await (await session(step.file)).release(
            question.wordings[step.wording % question.wordings.length]!,
            {
              epsilon: step.epsilon,
            },
          );
          const { replayed, entry } = receipt.ledger;
          compare(question.name, entry, replayed, tables);
          if (!replayed)
            published.push({ file: step.file, adds: (row) => question.adds(row, x), noise: noiseOf(receipt.measures) });
          outcomes.push(`${replayed ? 'recorded' : 'released'} ${JSON.stringify(receipt.measures.map(({ noise }) => noise))}`);
        } else if (step.kind === 'stream') {
          const { query, adds } = streamed[step.question % streamed.length]!;
          const released: string[] = [];
          try {
            for await (const each of streamIn(await session(step.file), {
              order: 'week',
              query,
              epsilon: step.epsilon,
              ...(step.through !== undefined && { through: step.through }),
              ...(step.gaps && { gaps: 'empty' }),
            })) {
              const [week] = each.units;
              compare('a step', each.entry, each.replayed, each.tables!);
              if (!each.replayed)
                published.push({ file: step.file, adds: (row: Row) => adds(row, week), noise: noiseOf(each.receipt!.measures) });
              released.push(`${week}${each.replayed ? ' recorded' : ''}`);
            }
          } finally {
            outcomes.push(`streamed ${released.join(', ')}`);
          }
        } else if (step.kind === 'amend') {
          const next = { ...terms, ...step.to };
          // Sessions end before the terms change.
          sessions.clear();
          const { policy, account } = await this.#session(files, design, next, step.file, population);
          await amendAccount(unverified(this.#ledger!), { policy, account }, 'the council decided');
          terms = next;
          outcomes.push('amended');
        } else if (step.kind === 'same data') {
          const isTrue = foreign.size === 0 && (copy || published.every(({ file }) => file === step.file));
          if (!isTrue) outcomes.push('kept silent');
          else {
            const { policy } = await session(step.file);
            await recordSameData(this.#ledger!, policy, 'one extract since the beginning');
            // The statement holds for sessions that open afterwards.
            sessions.clear();
            outcomes.push('declared');
          }
        } else {
          const { receipt, epsilonOfPerson, records } = receipts[step.receipt % receipts.length]!;
          const here = await session('A');
          await here.enter(readReceipt(receipt, here.policy, step.bound ? records : undefined));
          foreign.set(receipt, { epsilonOfPerson });
          outcomes.push('entered');
        }
      } catch (error) {
        if (!(error instanceof Fault)) defects.push(String(error));
        else if (error.code === 'INTERNAL') defects.push(`${step.kind}: ${error.message}`);
        if (error instanceof Fault && fitsByItsFigures(error)) defects.push(`${step.kind}: ${error.message}`);
        outcomes.push(error instanceof Fault ? `${error.code}` : 'error');
      }
    }
    return { outcomes, published, foreign: [...foreign.values()], terms, defects };
  }

  async close(): Promise<void> {
    await this.#ledger?.close();
    for (const engine of this.#engines.values()) await engine.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The real ledger, without walking its whole chain before every amendment: no test damages it here. */
const unverified = (ledger: Ledger): Ledger =>
  new Proxy(ledger, {
    get: (target, name) => {
      if (name === 'verify') return async () => ({ ok: true });
      const found: unknown = Reflect.get(target, name, target);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });

/** A refusal whose request does not exceed the remaining budget explains nothing. */
function fitsByItsFigures({ code, details }: Fault): boolean {
  const { asked, remaining } = (details ?? {}) as { asked?: number; remaining?: number };
  return code === 'BUDGET_EXCEEDED' && asked !== undefined && remaining !== undefined && asked <= remaining;
}

/** Every question here has one measure. */
function noiseOf(measures: readonly PlannedMeasure[]): MeasureNoise {
  if (measures.length !== 1) throw new RangeError('a question of one measure was expected');
  const { noise } = measures[0]!;
  if (noise.kind === 'none') return { kind: 'none' };
  if (noise.kind === 'laplace') return { kind: 'laplace', scale: fraction(noise.scale) };
  if (noise.kind === 'gaussian') return { kind: 'gaussian', variance: fraction(noise.variance) };
  throw new RangeError('additive noise was expected');
}
const fraction = (text: string): number => {
  const [top, bottom = '1'] = text.split('/');
  return Number(top) / Number(bottom);
};
