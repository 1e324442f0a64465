import { Fault } from '../../../base/errors.js';
import { within } from '../../../base/input/limits.js';
import type { Snapshot } from '../../../data/engine/engine.js';
import { relationView } from '../../../data/engine/structure.js';
import type { Relation } from '../../../policy/policy.js';
import { everyRecord, tuplesIn } from '../../../privacy/mechanism/record-class.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { publicDegree } from '../candidates.js';
import { graphInMemory } from '../counting-time.js';
import { checkDomain } from '../exact-answer.js';
import { analysePatternText } from '../query/analyse.js';
import { type DegreeForm, degreeNoise, noisyDegrees, personDegreeSensitivity, tieDegreeSensitivity } from './distribution.js';
import { degreeCounts, projectedDegrees } from './projection.js';

export interface DegreeOptions extends ReleaseOptions {
  readonly relation?: string;
  readonly form?: DegreeForm;
  /** Last bin (secret edge), or the most ties kept per person (secret person); public. */
  readonly degree?: number;
}
export interface DegreeResult {
  readonly relation: string;
  readonly form: DegreeForm;
  /** counts[d] people have d ties; the last bin holds everybody above. */
  readonly counts: readonly number[];
}

/** `degrees`, `degrees of friend`: the requested relation, or undefined if the text is another query. */
export const degreeRelation = (text: string): { relation: string | undefined } | undefined => {
  const m = /^\s*degrees?(?: distribution)?(?:\s+of\s+([A-Za-z_]\w*))?\s*$/.exec(text);
  return m ? { relation: m[1] } : undefined;
};

export async function planDegrees(session: PrivacySession, options: DegreeOptions = {}): Promise<Plan> {
  return (await prepare(session, options)).plan;
}

export async function releaseDegrees(
  session: PrivacySession,
  options: DegreeOptions = {},
): Promise<{ result: DegreeResult; receipt: Receipt }> {
  const { relation, form, last, theta, noise, allowance, plan } = await prepare(session, options);
  return session.analyse<DegreeResult>({
    kind: 'degrees',
    allowance,
    canonical: JSON.stringify([relation.name, form, last, theta ?? null]),
    plan,
    mechanisms: [noise],
    execute: async (engine, payment) => {
      const finish = noisyDegrees(noise, form, payment);
      await checkDomain(engine, analysePatternText(`q(x, y) :- ${relation.name}(x, y)`, { relations: session.policy.relations }));
      const degrees = theta === undefined ? await readDegrees(engine, relation) : await readProjected(engine, relation, theta);
      return { relation: relation.name, form, counts: finish(degreeCounts(degrees, relation.domain, last)) };
    },
  });
}

async function prepare(session: PrivacySession, options: DegreeOptions) {
  const { policy } = session;
  const relation = relationOf(session, options.relation);
  const person = policy.protect.secret === 'person';
  if (!person && policy.protect.secret !== 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Degrees are about a relation, but the protected secret is not a tie.',
      'Write protect: { secret: edge }, or { secret: person, unit: COLUMN }.',
    );
  if (person && !relation.symmetric)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'Degrees with persons as the secret need a symmetric relation.',
      'Declare symmetric: true, or protect single ties.',
    );
  const record = person ? everyRecord : tuplesIn(relation.name);
  const allowance = await session.allowance(options, record, { allRows: true });
  if (!allowance.pure) throw allowance.whyNoPure ?? nothingLeft();
  const degree =
    options.degree ??
    Math.min(
      relation.domain - 1,
      publicDegree(analysePatternText(`q() :- ${relation.name}(x, y)`, { relations: policy.relations })),
    );
  if (!(Number.isSafeInteger(degree) && degree >= 1 && degree < relation.domain))
    throw new Fault('USAGE', 'The largest degree must be at least 1 and below the domain.', 'Write for example --degree 100.');
  within('degrees', degree);
  const form = options.form ?? 'cumulative';
  if (!['cumulative', 'sequence', 'histogram'].includes(form))
    throw new Fault('USAGE', 'The form is cumulative, sequence or histogram.', 'Leave it out for cumulative.');
  const sensitivity = person ? personDegreeSensitivity(degree) : tieDegreeSensitivity(relation.symmetric);
  const name = `degrees of ${relation.name}`;
  const noise = degreeNoise({ name, form, last: degree, people: relation.domain, sensitivity, record }, allowance.pure);
  const plan = session.completePlan({
    label: options.label ?? `${name} (${form})`,
    ...planFieldsOf(allowance),
    mechanisms: [noise],
    mechanism: noise.distribution.kind,
    why: 'Cumulative counts move by one per person and tie, half of what a histogram moves; putting them in order removes most of the noise.',
    counting: person
      ? graphInMemory(relation, session.memoryLimit)
      : { where: 'database', database: { statements: 2, rows: relation.domain + 1 } },
    errors: [],
    candidates: [],
  });
  const theta = person ? degree : undefined;
  return { relation, form, last: degree, theta, noise, allowance, plan };
}

function relationOf(session: PrivacySession, name?: string): Relation {
  const pairs = [...session.policy.relations.values()].filter((r) => r.private && r.columns.length === 2);
  const found = name === undefined ? pairs[0] : pairs.find((r) => r.name === name);
  if (found) return found;
  throw new Fault(
    'RELATION_UNKNOWN',
    name === undefined
      ? 'No private relation of two columns is declared.'
      : `There is no private relation "${name}" of two columns.`,
    `Declared: ${pairs.map((r) => r.name).join(', ') || 'none'}.`,
  );
}

/** Degree of everybody with a tie; for a directed relation, ties that start there. */
async function readDegrees(engine: Snapshot, relation: Relation): Promise<number[]> {
  const sql = `SELECT COUNT(*) FROM ${relationView(relation.name)} WHERE c0 <> c1 GROUP BY c0`;
  return (await engine.rows({ sql, values: [] })).open().map(([d]) => Number(d));
}

/** Kept ties per person, in the order of a hash of the tie's own two names. */
async function readProjected(engine: Snapshot, relation: Relation, theta: number): Promise<Uint32Array> {
  const numbers = new Map<string, number>();
  const number = (name: string): number => {
    if (!numbers.has(name)) numbers.set(name, numbers.size);
    return numbers.get(name)!;
  };
  const ties: { key: number; text: string; pair: readonly [number, number] }[] = [];
  const sql = `SELECT c0, c1 FROM ${relationView(relation.name)} WHERE c0 < c1`;
  for await (const chunk of engine.stream({ sql, values: [] })) {
    const { rows, columns } = chunk.open();
    for (let r = 0; r < rows; r++) {
      const [a, b] = [columns[0]![r] as string, columns[1]![r] as string];
      const text = `${a}\u0000${b}`;
      ties.push({ key: fnv1a(text), text, pair: [number(a), number(b)] });
    }
  }
  ties.sort((x, y) => x.key - y.key || (x.text < y.text ? -1 : 1));
  return projectedDegrees(
    numbers.size,
    ties.map((t) => t.pair),
    theta,
  );
}

/** FNV-1a: any function of the tie alone would do; this one is unrelated to names. */
function fnv1a(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
