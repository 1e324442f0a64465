import { Fault } from '../../../base/errors.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { Exact } from '../../../data/engine/exact.js';
import { readStructure, relationView } from '../../../data/engine/structure.js';
import { tieKindOf } from '../../../data/ties/kinds.js';
import { codesOf, trimCode } from '../../../policy/code.js';
import type { CategoryColumn, Policy, Relation } from '../../../policy/policy.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { inDoubles } from '../../../privacy/mechanism/distribution.js';
import { noiseHalfWidth } from '../../../privacy/mechanism/half-width.js';
import { columnView } from '../../../query/count/column-view.js';
import { Binder, boundedRowsSql } from '../../../query/count/contribution-bound.js';
import { rawCell, sourceColumn } from '../../../query/count/read-column.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import { relationFact as relied } from '../../../release/session/public-facts.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { tiesInMemory } from '../public-size.js';
import { tableSensitivity } from '../record-sensitivity.js';
import { boundPairs, type NamedPair } from './choose-pairs.js';
import { type OddsEvidence, oddsEvidence } from './odds-evidence.js';
import { countTiedPairs, pairCellCount, poolRare } from './pair-table.js';

export interface TiesRequest {
  readonly relation: string;
  readonly column: string;
  /** Most counted pairs of one record; 1 makes the pairs disjoint, which gives most information per unit of noise. */
  readonly pairsEach: number;
  readonly confidence: number;
  /** Values rarer than this share are pooled. */
  readonly pool: number;
}

export interface LearnedTies {
  readonly evidence: OddsEvidence;
  /** Values too rare for an estimate. */
  readonly unjudged: readonly string[];
  /** Scale of the noise in every count. */
  readonly scale: number;
  readonly receipt: Receipt;
}

export const planTies = async (session: PrivacySession, request: TiesRequest, options: ReleaseOptions = {}): Promise<Plan> =>
  (await prepareTies(session, request, options)).plan;

async function prepareTies(session: PrivacySession, request: TiesRequest, options: ReleaseOptions) {
  const { policy } = session;
  const relation = publicRelation(policy, request.relation);
  const column = categoryOf(policy, request.column);
  refuseSecret(policy);
  const allowance = await session.allowance(options);
  if (!allowance.pure) throw allowance.whyNoPure ?? nothingLeft();
  const directed = !relation.symmetric;
  const label = options.label ?? `odds ratio of ${request.relation} in ${request.column}`;
  const noise = pairNoise({ name: label, values: column.values.length, directed }, request.pairsEach, allowance.pure);
  const counting = await tiesInMemory(session, relation.name, [policy.protect.unit!, column.name], bytesPerTie);
  const plan = session.completePlan({
    label,
    ...planFieldsOf(allowance),
    mechanisms: [noise],
    mechanism: noise.distribution.kind,
    why: `One noisy table of the values of tied pairs, every record in at most ${request.pairsEach}.`,
    counting,
    errors: [],
    candidates: [],
  });
  return { relation, column, allowance, directed, noise, plan };
}

/**
 * Odds ratio of a relation's ties from the protected data, paid for: a noisy table of the values of tied pairs (learn-ties.proof.md).
 */
export async function learnTies(session: PrivacySession, request: TiesRequest, options: ReleaseOptions): Promise<LearnedTies> {
  const { policy } = session;
  const { relation, column, allowance, directed, noise, plan } = await prepareTies(session, request, options);
  const k = column.values.length;
  const { result, receipt } = await session.analyse<readonly number[]>({
    kind: 'learn ties',
    allowance,
    canonical: JSON.stringify([request.relation, request.column, request.pairsEach]),
    plan,
    mechanisms: [noise],
    ...(!relation.private && { relied: [relied(relation.name)] }),
    execute: async (engine, payment) => {
      const add = noise.prepare(payment);
      const pairs = boundPairs(await readPairs(engine, relation), request.pairsEach, policy.population);
      const values = (await readValues(engine, policy, relation, column)).open();
      const exact = countTiedPairs(
        pairs.map(([a, b]) => [values.get(a), values.get(b)] as const),
        k,
        directed,
      );
      return add(exact.map(BigInt)).map(Number);
    },
  });
  // Noisy counts only from here on: half of alpha is for noise, half for chance.
  const wrong = (1 - request.confidence) / 2;
  const { table, unjudged, merged } = poolRare({ values: column.values, directed, counts: result }, request.pool);
  const slack = merged * noiseHalfWidth(inDoubles(noise.distribution), wrong / result.length);
  const scale = noiseWidth(noise.distribution);
  const evidence = oddsEvidence(table, request.confidence, { slack, variance: 2 * merged * scale ** 2, part: 0.5 });
  return { evidence, unjudged, scale, receipt };
}

/** A record is in at most `pairsEach` pairs, and every pair in one cell. */
export const pairNoise = (
  { name, values, directed }: { readonly name: string; readonly values: number; readonly directed: boolean },
  pairsEach: number,
  budgetShare: BudgetShare,
): AdditiveMechanism =>
  additiveMechanism({ name, cells: pairCellCount(values, directed), sensitivity: tableSensitivity(pairsEach) }, budgetShare);

/** A tie with the names of its ends, its sort key and its public attributes. */
const bytesPerTie = 800;

/** Each tie once: a symmetric relation lists both directions. */
async function readPairs(engine: Snapshot, { name, symmetric }: Relation): Promise<NamedPair[]> {
  const pairs: NamedPair[] = [];
  const sql = `SELECT c0, c1 FROM ${relationView(name)}`;
  for await (const [a, b] of readStructure(engine, { sql, values: [] })) {
    const [x, y] = [`${a}`, `${b}`];
    if (x < y || (!symmetric && x !== y)) pairs.push([x, y]);
  }
  return pairs;
}

/** Value of every tied record, as an index in the declared list; other records are ignored. A name that several rows share has none. */
async function readValues(
  engine: Snapshot,
  policy: Policy,
  relation: Relation,
  column: CategoryColumn,
): Promise<Exact<ReadonlyMap<string, number>>> {
  const source = await engine.columns();
  const { dialect } = engine;
  const binder = new Binder(dialect);
  const unit = sourceColumn(source, policy.protect.unit!);
  const kept = boundedRowsSql({ dialect, policy, columns: source }, binder, [
    [dialect.name(rawCell(unit), unit.type), 'who'],
    [rawCell(sourceColumn(source, column.name)), 'what'],
  ]);
  const ends = ['c0', 'c1'].map((end) => `SELECT ${end} FROM ${relationView(relation.name)}`);
  const sql = `SELECT who, what FROM (${kept}) AS named WHERE who IN (${ends.join(' UNION ')})`;
  const view = columnView(column);
  const place = codesOf(column).map((code) => column.values.findIndex((value) => trimCode(value) === code));
  const found = new Map<string, number>();
  const seen = new Set<string>();
  for await (const chunk of engine.stream({ sql, values: binder.values })) {
    const { rows, columns } = chunk.open();
    view.load(columns[1]!, rows);
    const indices = view.indices();
    for (let r = 0; r < rows; r++) {
      const who = columns[0]![r];
      if (who === null || who === undefined) continue;
      if (seen.has(`${who}`)) found.delete(`${who}`);
      else if (indices[r]! >= 0) found.set(`${who}`, place[indices[r]!]!);
      seen.add(`${who}`);
    }
  }
  return new Exact(found);
}

function publicRelation(policy: Policy, name: string): Relation {
  const relation = policy.relations.get(name);
  if (!relation)
    throw new Fault('RELATION_UNKNOWN', `The policy declares no relation "${name}".`, 'Declare it under relations:.');
  if (relation.columns.length !== 2)
    throw new Fault('POLICY_INVALID', 'Ties need a relation between two records.', 'Its columns: list has two names.');
  const declared = policy.dependence.some((d) => tieKindOf(d).relation?.(d).name === name);
  if (!declared && relation.private)
    throw new Fault(
      'POLICY_INVALID',
      `Who is tied to whom in "${name}" is private, so pairs cannot be picked by it.`,
      `Declare the ties first (dependence: {kind: ties, relation: ${name}}, without a strength they count as copies), or write private: false.`,
    );
  return relation;
}

function categoryOf(policy: Policy, name: string): CategoryColumn {
  const column = policy.columns.get(name);
  if (!column)
    throw new Fault(
      'COLUMN_UNKNOWN',
      `The policy declares no column "${name}".`,
      `Declared: ${[...policy.columns.keys()].join(', ')}.`,
    );
  if (column.type !== 'category' || column.values.length < 2)
    throw new Fault('QUERY_UNSUPPORTED', `Column "${name}" is not a category with at least two values.`, 'Declare it as one.');
  return column;
}

function refuseSecret({ protect }: Policy): void {
  if (protect.unit === undefined)
    throw new Fault(
      'POLICY_INVALID',
      'Ties name records, but no column says how the records are named.',
      'Add unit: COLUMN under protect:.',
    );
  if (protect.secret === 'edge' || protect.secret === 'step' || protect.maxRows > 1)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The values of tied pairs can be counted only when one row is one record.',
      'Protect rows, or persons with maxRows: 1.',
    );
}
