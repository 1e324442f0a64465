import type { CodedTable } from '../../../analysis/learn/network/coded.js';
import { chooseRows } from '../../../analysis/learn/network/coded.js';
import { pairTables } from '../../../analysis/learn/network/contingency.js';
import { levelCount, type PairTables, pairTableCells } from '../../../privacy/dependence/pairwise/pair-tables.js';

/**
 * Strongest evidence found against all column histograms, with the empirical joint of the rows as the truth: a lower bound
 * on leakage. A corner output is a set S of cells with large counts; it weights a row x by exp(sum_j cost_j [x_j in S_j]).
 */
export interface SurveyAttack {
  readonly loss: number;
  readonly column: string;
  readonly pair: readonly [number, number];
  /** Cells the worst output makes large, indexed as in PairTables. */
  readonly evidence: Uint8Array;
}

export interface SurveyAttackOptions {
  /** Number of secret pairs to try, the most separated first. */
  readonly pairs?: number;
  /** Sweeps of coordinate ascent per pair. */
  readonly sweeps?: number;
  readonly progress?: (done: number, total: number) => void;
}

interface SecretPair {
  readonly column: number;
  readonly a: number;
  readonly b: number;
}

/** A table under attack: what evidence about each column weighs, and the first of its cells (PairTables). */
interface Survey {
  readonly table: CodedTable;
  readonly costs: readonly number[];
  readonly start: Int32Array;
}
function surveyOf(table: CodedTable, costs: readonly number[]): Survey {
  const start = new Int32Array(table.levels.length + 1);
  table.levels.forEach((levels, c) => {
    start[c + 1] = start[c]! + levels;
  });
  return { table, costs, start };
}

/** Truth = these rows. `costs[j]` = 2 / scale_j; a column without noise has cost Infinity and gives everything away. */
export function attackSurvey(table: CodedTable, costs: readonly number[], options: SurveyAttackOptions = {}): SurveyAttack {
  return strongest(attacks(table, costs, options));
}

export interface HeldOutAttack {
  readonly inSample: SurveyAttack;
  /** The evidence was chosen on one half of the rows and is judged on the other, so rare levels cannot be memorised. */
  readonly heldOut: number;
}

/** Splits rows by parity; evidence is chosen on even rows, and the best loss on odd rows among the tried pairs is reported. */
export function attackHeldOut(table: CodedTable, costs: readonly number[], options: SurveyAttackOptions = {}): HeldOutAttack {
  const half = (parity: number): CodedTable =>
    chooseRows(
      table,
      Array.from({ length: table.rows }, (_, r) => r).filter((r) => r % 2 === parity),
    );
  const [train, test] = [half(0), half(1)];
  const best = strongest(attacks(train, costs, options));
  const column = table.names.indexOf(best.column);
  const heldOut =
    best.loss > 0 && Number.isFinite(best.loss)
      ? lossOf(surveyOf(test, costs), { column, a: best.pair[0], b: best.pair[1] }, best.evidence)
      : best.loss;
  return { inSample: attackSurvey(table, costs, options), heldOut };
}

const strongest = (found: readonly SurveyAttack[]): SurveyAttack => found.reduce((x, y) => (y.loss > x.loss ? y : x));

function attacks(table: CodedTable, costs: readonly number[], options: SurveyAttackOptions): SurveyAttack[] {
  const pairs = pairTables(table);
  const none = new Uint8Array(pairTableCells(pairs));
  const bare = costs.indexOf(Number.POSITIVE_INFINITY);
  if (bare >= 0) return [{ loss: Number.POSITIVE_INFINITY, column: table.names[bare]!, pair: [0, 1], evidence: none }];
  const secrets = separated(pairs, costs).slice(0, options.pairs ?? 80);
  // A column in which all answers are equal has nothing to guess.
  if (secrets.length === 0) return [{ loss: 0, column: table.names[0]!, pair: [0, 0], evidence: none }];
  const survey = surveyOf(table, costs);
  return secrets.map((secret, k) => {
    const evidence = climb(survey, pairs, secret, options.sweeps ?? 4);
    options.progress?.(k + 1, secrets.length);
    return {
      loss: lossOf(survey, secret, evidence),
      column: table.names[secret.column]!,
      pair: [secret.a, secret.b],
      evidence,
    };
  });
}

/** Secret pairs by the first-order evidence of the other columns: own cost + sum_j cost_j TV_j. */
function separated(pairs: PairTables, costs: readonly number[]): SecretPair[] {
  const list: (SecretPair & { readonly spread: number })[] = [];
  pairs.levels.forEach((levels, i) => {
    for (let a = 0; a < levels; a++)
      for (let b = 0; b < levels; b++) {
        if (a === b || !(levelCount(pairs, i, a) > 0 && levelCount(pairs, i, b) > 0)) continue;
        const lead = leadOf(pairs, { column: i, a, b });
        let spread = costs[i]!;
        for (let j = 0; j < pairs.levels.length; j++) {
          if (j === i) continue;
          let variation = 0;
          for (let c = pairs.start[j]!; c < pairs.start[j + 1]!; c++) variation += Math.max(0, lead(c));
          spread += costs[j]! * variation;
        }
        list.push({ column: i, a, b, spread });
      }
  });
  return list.sort((x, y) => y.spread - x.spread);
}

/** How much likelier a cell is among rows with answer a than among those with b. */
function leadOf(pairs: PairTables, { column, a, b }: SecretPair): (cell: number) => number {
  const cells = pairTableCells(pairs);
  const [na, nb] = [levelCount(pairs, column, a), levelCount(pairs, column, b)];
  const row = (level: number) => (pairs.start[column]! + level) * cells;
  return (cell) => pairs.counts[row(a) + cell]! / na - pairs.counts[row(b) + cell]! / nb;
}

/** Starts from the cells more likely under a than under b, then re-chooses one column's cells at a time with the others fixed. */
function climb(survey: Survey, pairs: PairTables, secret: SecretPair, sweeps: number): Uint8Array {
  const { table, costs } = survey;
  const { column, a, b } = secret;
  const lead = leadOf(pairs, secret);
  const evidence = Uint8Array.from({ length: pairTableCells(pairs) }, (_, cell) => (lead(cell) > 0 ? 1 : 0));
  const rows = rowsWith(table, column, a).map((r) => [r, 0] as const);
  const others = rowsWith(table, column, b).map((r) => [r, 1] as const);
  const all = [...rows, ...others];
  const weight = Float64Array.from(all, ([r]) => Math.exp(exponent(survey, column, evidence, r)));
  for (let sweep = 0; sweep < sweeps; sweep++) {
    let changed = false;
    for (let j = 0; j < table.levels.length; j++) {
      if (j === column || costs[j] === 0) continue;
      const lift = Math.exp(costs[j]!);
      const codes = table.columns[j]!;
      const start = pairs.start[j]!;
      const sums = [new Float64Array(table.levels[j]!), new Float64Array(table.levels[j]!)] as const;
      all.forEach(([r, side], k) => {
        sums[side]![codes[r]!]! += evidence[start + codes[r]!] ? weight[k]! / lift : weight[k]!;
      });
      const chosen = bestCells(sums[0], sums[1], lift);
      const factor = new Float64Array(table.levels[j]!).fill(1);
      let moved = false;
      for (let v = 0; v < chosen.length; v++) {
        if (chosen[v] === evidence[start + v]) continue;
        factor[v] = chosen[v] ? lift : 1 / lift;
        evidence[start + v] = chosen[v]!;
        moved = true;
      }
      if (!moved) continue;
      changed = true;
      all.forEach(([r], k) => {
        weight[k]! *= factor[codes[r]!]!;
      });
    }
    if (!changed) break;
  }
  return evidence;
}

/** The set that maximises (A + (lift-1) A(S)) / (B + (lift-1) B(S)): a prefix when cells are sorted by A_v / B_v. */
function bestCells(a: Float64Array, b: Float64Array, lift: number): Uint8Array {
  const order = [...a.keys()].sort((x, y) => a[y]! * b[x]! - a[x]! * b[y]!);
  const total = [a.reduce((s, x) => s + x, 0), b.reduce((s, x) => s + x, 0)] as const;
  let inside = [0, 0];
  let best = total[0] / total[1];
  let size = 0;
  order.forEach((v, k) => {
    inside = [inside[0]! + a[v]!, inside[1]! + b[v]!];
    const ratio = (total[0] + (lift - 1) * inside[0]!) / (total[1] + (lift - 1) * inside[1]!);
    if (ratio > best * (1 + 1e-12)) {
      best = ratio;
      size = k + 1;
    }
  });
  const chosen = new Uint8Array(a.length);
  for (const v of order.slice(0, size)) chosen[v] = 1;
  return chosen;
}

const rowsWith = (table: CodedTable, column: number, level: number): number[] => {
  const rows: number[] = [];
  for (let r = 0; r < table.rows; r++) if (table.columns[column]![r] === level) rows.push(r);
  return rows;
};

function exponent({ table, start, costs }: Survey, skip: number, evidence: Uint8Array, r: number): number {
  let sum = 0;
  for (let j = 0; j < table.levels.length; j++) if (j !== skip && evidence[start[j]! + table.columns[j]![r]!]) sum += costs[j]!;
  return sum;
}

/** log P(output | a) - log P(output | b) under the empirical distribution of these rows, the secret's own column included. */
function lossOf(survey: Survey, secret: SecretPair, evidence: Uint8Array): number {
  const mean = (level: number): number => {
    const rows = rowsWith(survey.table, secret.column, level);
    const sum = rows.reduce((s, r) => s + Math.exp(exponent(survey, secret.column, evidence, r)), 0);
    return sum / rows.length;
  };
  const [a, b] = [mean(secret.a), mean(secret.b)];
  return a > 0 && b > 0 ? survey.costs[secret.column]! + Math.log(a / b) : 0;
}
