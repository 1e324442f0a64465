import type { Dialect } from '../../../data/engine/dialect.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { codesOf } from '../../../policy/code.js';
import { declaredCategory, declaredColumn } from '../../../policy/domain.js';
import type { Policy } from '../../../policy/policy.js';
import { cellStarts, type PairTables } from '../../../privacy/dependence/pairwise/pair-tables.js';
import { columnView, loadChunk } from '../../../query/count/column-view.js';
import type { ExecutionPlan } from '../../../query/count/count.js';
import { countInScans, scanResultBound } from '../../../query/count/in-scans.js';
import type { MarginalSet } from '../../../query/count/marginals.js';
import type { Axis } from '../../../query/count/measure.js';
import { keyRows } from '../../../query/count/read-rows.js';
import { compileStream } from '../../../query/count/stream.js';
import { groupKeyOf } from '../../../query/keys.js';

/** Scans of the data beyond which rows are read once and counted in memory. */
const maxScans = 32;

/** Questions whose answers are counted in pairs, and public columns within whose answers, each separately, they are counted. */
interface PairQuestions {
  readonly names: readonly string[];
  readonly known: readonly string[];
}

/**
 * Every two-column table within each occurring combination of public answers, read through the policy as a histogram would be. Rows
 * are streamed, never held.
 */
export async function countColumnPairs(
  engine: Snapshot,
  policy: Policy,
  names: readonly string[],
  known: readonly string[] = [],
): Promise<Exact<readonly PairTables[]>> {
  const tables = new Strata(policy, { names, known });
  const { database } = pairExecution(engine.dialect, policy, { names, known });
  await (database ? inDatabase(engine, policy, tables) : streamed(engine, policy, tables));
  return new Exact(tables.all());
}

/** Counted in the database, a few hundred tables per scan, if rows are remote and scans are few; else row by row in this process. */
export function pairExecution(dialect: Dialect, policy: Policy, questions: PairQuestions): ExecutionPlan {
  const scans = scanResultBound(new Strata(policy, questions).tables());
  if (dialect.eachOf && scans.statements <= maxScans) return { where: 'database', database: scans };
  return { where: 'here', streamed: { columns: [...questions.known, ...questions.names] } };
}

async function inDatabase(engine: Snapshot, policy: Policy, strata: Strata): Promise<void> {
  const questions = strata.tables();
  await countInScans(engine, policy, questions, (table, cell, count) => strata.add(table, cell, Number(count)));
}

async function streamed(engine: Snapshot, policy: Policy, strata: Strata): Promise<void> {
  const { axes } = strata.tables();
  const names = axes.map(({ column }) => column);
  // The bound on rows per person compares the text of all columns, as it is shown.
  const asWritten = policy.protect.secret !== 'person';
  const source = { dialect: engine.dialect, policy, columns: await engine.columns() };
  const { statement, columns, written } = compileStream(names, source, { asWritten });
  const views = new Map(names.map((name) => [name, columnView(declaredColumn(policy, name), written.get(name))]));
  const fillers = axes.map((axis) => keyRows(policy, views, axis));
  let places = axes.map(() => new Int32Array(0));
  for await (const part of engine.stream(statement)) {
    const chunk = part.open();
    loadChunk(views, columns, chunk);
    if ((places[0]?.length ?? 0) < chunk.rows) places = axes.map(() => new Int32Array(chunk.rows));
    for (const [k, fill] of fillers.entries()) fill(places[k]!, chunk.rows);
    strata.addRows(places, chunk.rows);
  }
}

/** Tables of each combination of public answers, created at its first row. */
class Strata {
  readonly #names: readonly string[];
  readonly #known: number;
  readonly #axes: readonly Axis[];
  readonly #levels: readonly number[];
  readonly #start: Int32Array;
  readonly #cells: number;
  readonly #pairs: readonly (readonly [i: number, j: number])[];
  readonly #counts = new Map<number, Uint32Array>();

  constructor(policy: Policy, { names, known }: PairQuestions) {
    this.#names = names;
    this.#known = known.length;
    this.#axes = [...known.map((name) => everyAnswer(policy, name)), ...names.map((name) => axisOf(policy, name))];
    this.#levels = names.map((_, c) => this.#axes[known.length + c]!.size);
    this.#start = cellStarts(this.#levels);
    this.#cells = this.#start[names.length]!;
    this.#pairs = names.flatMap((_, i) => names.slice(i).map((_, k) => [i, i + k] as const));
  }

  /** One table per two questions; a question with itself gives its own counts. */
  tables(): MarginalSet {
    const own = Array.from({ length: this.#known }, (_, k) => k);
    const at = (i: number) => this.#known + i;
    return { axes: this.#axes, tables: this.#pairs.map(([i, j]) => (i === j ? [...own, at(i)] : [...own, at(i), at(j)])) };
  }

  #of(stratum: number): Uint32Array {
    const counts = this.#counts.get(stratum) ?? new Uint32Array(this.#cells * this.#cells);
    this.#counts.set(stratum, counts);
    return counts;
  }

  /** A cell of one of `tables`. */
  add(table: number, cell: number, count: number): void {
    const [i, j] = this.#pairs[table]!;
    const width = i === j ? 1 : this.#levels[j]!;
    const within = this.#levels[i]! * width;
    const [stratum, rest] = [Math.floor(cell / within), cell % within];
    const a = this.#start[i]! + Math.floor(rest / width);
    const b = i === j ? a : this.#start[j]! + (rest % width);
    this.#of(stratum)[a * this.#cells + b]! += count;
  }

  addRows(places: readonly Int32Array[], rows: number): void {
    const cells = this.#cells;
    for (const [stratum, own] of this.#apart(places, rows)) {
      const counts = this.#of(stratum);
      for (const [i, j] of this.#pairs) {
        const [first, second] = [places[this.#known + i]!, places[this.#known + j]!];
        const [from, to] = [this.#start[i]! * cells, this.#start[j]!];
        if (own) for (const r of own) counts[from + first[r]! * cells + to + second[r]!]!++;
        else for (let r = 0; r < rows; r++) counts[from + first[r]! * cells + to + second[r]!]!++;
      }
    }
  }

  /** Rows by stratum; all rows if there is one. */
  #apart(places: readonly Int32Array[], rows: number): ReadonlyMap<number, readonly number[] | undefined> {
    if (this.#known === 0) return new Map([[0, undefined]]);
    const byStratum = new Map<number, number[]>();
    for (let r = 0; r < rows; r++) {
      let stratum = 0;
      for (let k = 0; k < this.#known; k++) stratum = stratum * this.#axes[k]!.size + places[k]![r]!;
      const own = byStratum.get(stratum);
      if (own) own.push(r);
      else byStratum.set(stratum, [r]);
    }
    return byStratum;
  }

  all(): readonly PairTables[] {
    const made = [...this.#counts].sort(([a], [b]) => a - b).map(([, counts]) => counts);
    if (made.length === 0) made.push(new Uint32Array(this.#cells * this.#cells));
    return made.map((counts) => ({
      names: this.#names,
      levels: this.#levels,
      start: this.#start,
      counts: this.#mirrored(counts),
    }));
  }

  /** The full symmetric table, of which one half was counted. */
  #mirrored(counts: Uint32Array): Uint32Array {
    const cells = this.#cells;
    for (let a = 0; a < cells; a++) for (let b = a + 1; b < cells; b++) counts[b * cells + a] = counts[a * cells + b]!;
    return counts;
  }
}

function axisOf(policy: Policy, name: string): Axis {
  const { key } = groupKeyOf(policy, name);
  if (key.kind === 'options' || key.kind === 'joint') throw new RangeError('a multi-select column has no single answer');
  return key;
}

/** Every answer in its own group, however answers are pooled when published. */
function everyAnswer(policy: Policy, name: string): Axis {
  const groups = codesOf(declaredCategory(policy, name)).map((code) => [code]);
  return { kind: 'code', column: name, groups, missing: 'cell', size: groups.length + 1 };
}
