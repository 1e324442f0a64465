import { Fault } from '../../../base/errors.js';
import { codeText } from '../../../policy/code.js';
import type { Policy } from '../../../policy/policy.js';
import { didYouMean } from '../../../policy/suggest.js';
import { type AdditiveMechanism, additiveMechanism, noiseWidth } from '../../../privacy/mechanism/additive.js';
import type { BudgetShare } from '../../../privacy/mechanism/budget-share.js';
import { inDoubles } from '../../../privacy/mechanism/distribution.js';
import { noiseHalfWidth } from '../../../privacy/mechanism/half-width.js';
import type { Payment } from '../../../privacy/mechanism/payment.js';
import type { RecordSensitivity } from '../../../privacy/mechanism/sensitivity.js';
import { nothingLeft } from '../../../release/accountant/share.js';
import { planFieldsOf } from '../../../release/session/allowance.js';
import type { Plan } from '../../../release/session/plan.js';
import type { Receipt } from '../../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../../release/session/session.js';
import { tableSensitivity } from '../record-sensitivity.js';
import { continuationsOf, countContinuations, endMark, type KeyColumn } from './prefixes.js';

export interface KeysRequest extends KeyColumn {
  /** Most keys that are found. */
  readonly most: number;
}

export interface FoundKey {
  readonly key: string;
  /** Noisy number of rows with this key. */
  readonly rows: number;
}
export interface LearnedKeys {
  readonly column: string;
  readonly table?: string;
  /** Keys by falling frequency. */
  readonly keys: readonly FoundKey[];
  /** Rows a value must have to be found with 95 % probability, unless `most` others are more frequent. */
  readonly least: number;
  /** Scale of the noise in every count. */
  readonly noiseScale: number;
}

/** Probability, over the whole release, that a key is published which nobody has. */
const falseKeys = 0.01;
const missProbability = 0.05;

/** Threshold above which a noisy count is taken as nonzero; `cells`: number of counts of one step. */
const threshold = ({ distribution }: AdditiveMechanism, { longest }: KeysRequest, cells: number): number =>
  noiseHalfWidth(inDoubles(distribution), (2 * falseKeys) / (longest * cells));

/** Replacing one record moves so many rows from one continuation to another, at every step (learn-keys.proof.md). */
export function keySensitivity({ protect, tables }: Policy, { table }: Pick<KeyColumn, 'table'>): RecordSensitivity {
  if (protect.secret === 'row' || protect.secret === 'step') return tableSensitivity(1);
  if (protect.secret === 'person') return tableSensitivity(table === undefined ? protect.maxRows : tables!.get(table)!.maxRows);
  throw new Fault(
    'QUERY_UNSUPPORTED',
    `Keys can be learned where a row, a step or a person is the secret; this policy protects ${protect.secret === 'answer' ? 'answers, of which every declared column is one' : `an ${protect.secret}`}.`,
    'List the values yourself, from a codebook or another public source.',
  );
}

const largestCells = (most: number): number => most * continuationsOf(' ').length;

const noiseFor = (
  label: string,
  { most, longest }: KeysRequest,
  sensitivity: RecordSensitivity,
  budgetShare: BudgetShare,
): AdditiveMechanism => additiveMechanism({ name: label, cells: largestCells(most), sensitivity, times: longest }, budgetShare);

async function prepareKeys(session: PrivacySession, request: KeysRequest, options: ReleaseOptions) {
  const { policy } = session;
  const { column, table, most, longest } = request;
  refuseDeclared(policy, request);
  const sensitivity = keySensitivity(policy, request);
  refuseUnknown(column, await session.sourceColumns(table));
  const allowance = await session.allowance(options, undefined, { sums: true });
  const budgetShare = allowance.rho ?? allowance.pure;
  if (!budgetShare) throw nothingLeft();
  const label = options.label ?? `which values ${table === undefined ? '' : `${table}.`}${column} has`;
  const noise = noiseFor(label, request, sensitivity, budgetShare);
  const plan = session.completePlan({
    label,
    ...planFieldsOf(allowance),
    mechanisms: [noise],
    mechanism: noise.distribution.kind,
    why: `Noisy counts of how texts go on, byte by byte, ${longest} times; at most ${most} are followed.`,
    counting: { where: 'database', database: { statements: longest, rows: largestCells(most) } },
    errors: [],
    candidates: [],
  });
  return { allowance, noise, plan };
}

function refuseDeclared(policy: Policy, { column, table }: KeyColumn): void {
  const own = table === undefined ? undefined : policy.tables?.get(table);
  if (table !== undefined && (!own || own.public))
    throw new Fault(
      'QUERY_INVALID',
      own ? `The table "${table}" is public: its values are known to everybody.` : `The policy has no table "${table}".`,
      own ? 'List them in the policy.' : didYouMean(table, [...(policy.tables?.keys() ?? [])], 'Tables'),
    );
  // A database may ignore case.
  const folded = (name: string | undefined) => name?.toLowerCase();
  if ([...(own?.columns ?? policy.columns).keys()].some((name) => folded(name) === folded(column)))
    throw new Fault('QUERY_INVALID', `The policy declares "${column}" already.`, 'Take it out of columns to learn its values.');
  // Rows of a side table are read with the person under the unit column's name of the data.
  if ([own?.unit, policy.protect.unit].some((name) => folded(name) === folded(column)))
    throw new Fault('QUERY_INVALID', `"${column}" names the persons.`, 'Name a column whose values many have.');
}
function refuseUnknown(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new Fault('COLUMN_UNKNOWN', `The data has no column "${name}".`, didYouMean(name, known, 'Columns of the data'));
}

export const planKeys = async (session: PrivacySession, request: KeysRequest, options: ReleaseOptions): Promise<Plan> =>
  (await prepareKeys(session, request, options)).plan;

/** Frequent values of a column whose values nobody has declared: paid for before any of them is read. */
export async function releaseKeys(
  session: PrivacySession,
  request: KeysRequest,
  options: ReleaseOptions,
): Promise<{ readonly learned: LearnedKeys; readonly receipt: Receipt }> {
  const { policy } = session;
  const { allowance, noise, plan } = await prepareKeys(session, request, options);
  const { column, table, most, longest } = request;
  const { result, receipt } = await session.analyse<readonly FoundKey[]>({
    kind: 'learn keys',
    allowance,
    canonical: JSON.stringify([column, table ?? null, most, longest]),
    plan,
    mechanisms: [noise],
    execute: (engine, payment) =>
      growPrefixes(noise, request, payment, async (prefixes) =>
        (await countContinuations(engine, policy, request, prefixes)).open(),
      ),
  });
  const seen =
    threshold(noise, request, largestCells(most)) +
    noiseHalfWidth(inDoubles(noise.distribution), (2 * missProbability) / longest);
  const noiseScale = noiseWidth(noise.distribution);
  return { learned: { column, ...(table !== undefined && { table }), keys: result, least: seen, noiseScale }, receipt };
}

interface SeenPrefix {
  readonly bytes: string;
  readonly rows: number;
}

/** Extends the prefixes whose noisy counts pass the threshold, one byte at a time; what is counted next depends on noisy counts only. */
export async function growPrefixes(
  noise: AdditiveMechanism,
  request: KeysRequest,
  payment: Payment,
  count: (prefixes: readonly string[]) => Promise<readonly bigint[]>,
): Promise<readonly FoundKey[]> {
  const { most, longest } = request;
  const whole: SeenPrefix[] = [];
  let open: readonly SeenPrefix[] = [{ bytes: '', rows: Number.POSITIVE_INFINITY }];
  for (let step = 0; step < longest && open.length > 0; step++) {
    const branches = open.flatMap(({ bytes }) =>
      continuationsOf(bytes).map((next) => ({ bytes: bytes + next, ends: next === endMark })),
    );
    const add = noise.prepare(payment, branches.length);
    const noisy = add(await count(open.map(({ bytes }) => bytes))).map(Number);
    const above = threshold(noise, request, branches.length);
    const seen = branches.map((branch, i) => ({ ...branch, rows: noisy[i]! })).filter(({ rows }) => rows > above);
    whole.push(...seen.filter(({ ends }) => ends));
    open = mostFrequent(
      seen.filter(({ ends }) => !ends),
      most,
    );
  }
  // No counted text is longer: texts still open end here.
  return toKeys([...whole, ...open.filter(({ bytes }) => bytes.length === 2 * longest)], most);
}
const mostFrequent = (list: readonly SeenPrefix[], most: number): readonly SeenPrefix[] =>
  [...list].sort((a, b) => b.rows - a.rows || (a.bytes < b.bytes ? -1 : 1)).slice(0, most);

/** Texts that a policy can list, each once in the policy's spelling; bytes that are no valid text are noise. */
function toKeys(found: readonly SeenPrefix[], most: number): readonly FoundKey[] {
  const keys = new Map<string, number>();
  for (const { bytes, rows } of found) {
    const text = spelt(bytes);
    if (text !== undefined) keys.set(text, (keys.get(text) ?? 0) + rows);
  }
  return [...keys]
    .map(([key, rows]) => ({ key, rows }))
    .sort((a, b) => b.rows - a.rows || (a.key < b.key ? -1 : 1))
    .slice(0, most);
}
function spelt(bytes: string): string | undefined {
  try {
    const text = codeText(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(bytes, 'hex')));
    return text === '' || /\p{C}/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
