import { nothingLeft } from '../accounting/share.js';
import type { HowCounted } from '../count/count.js';
import { Fault } from '../errors.js';
import { type Measured, fit as modelOf } from '../graphical/fit.js';
import { treeOf } from '../graphical/tree.js';
import { recordsHeld, rowsPerRecord } from '../learn/public-size.js';
import type { Allotment } from '../mechanism/allotment.js';
import { addsRemoves } from '../policy/neighbours.js';
import type { Column, Policy } from '../policy/policy.js';
import type { Plan } from '../release/plan.js';
import type { Receipt } from '../release/receipt.js';
import { type Allowance, type AskOptions, type Session, toldOf } from '../release/session.js';
import { candidatesFor } from './candidates.js';
import { type CodedColumn, chosenColumns, codedColumns } from './columns.js';
import { cellsOf } from './counts.js';
import { type Mode, readForm, type SynthForm } from './form.js';
import { asGrownTree } from './grown.js';
import { impossibleIn } from './impossible.js';
import { type Method, type Setting, totalOf } from './method.js';
import { type Quality, qualityOf } from './quality.js';
import { bytesPerRow, readCoded } from './read-coded.js';
import { inRounds } from './rounds.js';
import { drawCodes, type SynthColumn, writtenRows } from './rows.js';
import { asTree } from './tree.js';

export interface SynthPlan extends Plan {
  readonly synth: {
    readonly mode: Mode;
    /** Of the model: a column that takes several answers is one for each. */
    readonly columns: number;
    /** Tables among which rounds choose; pairs of a tree. */
    readonly tables: number;
    /** Most cells that the model may have. */
    readonly cells: number;
    /** Bytes that rows, counts and model take, about; without the rows where their number is a secret. */
    readonly memory: number;
  };
}

export interface SynthResult {
  readonly mode: Mode;
  readonly rows: number;
  readonly columns: readonly SynthColumn[];
  /** Everything that was paid for: noisy tables, row-major over the labels of their columns; all rows are made of these. */
  readonly measured: readonly MeasuredTable[];
  /** How many rows the data has: public, or what the tables say. */
  readonly total: number;
  readonly quality: Quality;
}
export interface MeasuredTable {
  readonly columns: readonly string[];
  readonly labels: readonly (readonly string[])[];
  readonly counts: readonly number[];
  /** Standard deviation of the noise of a cell. */
  readonly sd: number;
}

interface Prepared {
  readonly form: SynthForm;
  readonly mode: Mode;
  readonly columns: readonly Column[];
  readonly coded: readonly CodedColumn[];
  readonly setting: Setting;
  readonly allowance: Allowance;
  readonly method: Method;
  readonly plan: SynthPlan;
}
/** What the ledger keeps: the rows are made of it, as many as anybody wants. */
interface Recorded {
  readonly measured: readonly { readonly columns: readonly number[]; readonly counts: readonly number[]; readonly sd: number }[];
}

export const planSynth = async (session: Session, input: unknown, options: AskOptions = {}): Promise<SynthPlan> =>
  (await prepare(session, input, options)).plan;

export async function releaseSynth(
  session: Session,
  input: unknown,
  options: AskOptions = {},
  progress?: (done: number, total: number) => void,
): Promise<{ readonly result: SynthResult; readonly receipt: Receipt }> {
  const { form, mode, columns, coded, setting, allowance, method, plan } = await prepare(session, input, options);
  const { result, receipt } = await session.analyse<Recorded>({
    kind: 'synth',
    allowance,
    canonical: canonicalOf(form, mode, coded),
    plan,
    mechanisms: method.mechanisms,
    execute: async (engine, paid) => {
      const rows = (await readCoded(engine, session.policy, coded)).open();
      if (setting.each === 1 && setting.records !== undefined && rows.rows !== setting.records)
        throw new RangeError('the number of records has changed');
      return {
        measured: method.run(rows, paid, progress).map(({ columns, counts, sd }) => ({ columns, counts: [...counts], sd })),
      };
    },
  });
  const measured = result.measured.map(({ columns, counts, sd }) => ({ columns, counts: Float64Array.from(counts), sd }));
  return { result: made(form, mode, columns, coded, setting, measured), receipt };
}

/** From what was measured to rows: nothing here sees data. */
function made(
  form: SynthForm,
  mode: Mode,
  columns: readonly Column[],
  coded: readonly CodedColumn[],
  setting: Setting,
  measured: readonly Measured[],
): SynthResult {
  const { sizes, impossible } = setting;
  const total = totalOf(setting, measured);
  const rows = form.rows ?? Math.max(1, Math.round(total));
  const codes = drawCodes(modelOf({ sizes, measured, total, impossible }), rows);
  const names = coded.map(({ name }) => name);
  return {
    mode,
    rows,
    columns: writtenRows(columns, coded, codes),
    measured: measured.map(({ columns, counts, sd }) => ({
      columns: columns.map((c) => names[c]!),
      labels: columns.map((c) => coded[c]!.labels),
      counts: [...counts],
      sd,
    })),
    total,
    quality: qualityOf({ names, levels: sizes, rows, columns: codes }, measured, total),
  };
}

/** How many rows are drawn is nothing that is paid for. */
const canonicalOf = ({ rows: _, ...form }: SynthForm, mode: Mode, coded: readonly CodedColumn[]): string =>
  JSON.stringify([mode, form, coded.map((one) => [one.name, 'axis' in one ? one.axis : one.option])]);

const usualCells = 200_000;

async function prepare(session: Session, input: unknown, options: AskOptions): Promise<Prepared> {
  const { policy } = session;
  const form = readForm(input);
  const mode = form.mode ?? 'aim';
  const columns = chosenColumns(policy, form);
  const coded = codedColumns(policy, columns);
  const sizes = coded.map(({ size }) => size);
  const impossible = impossibleIn(policy, coded, form);
  const mostCells = form.cells ?? usualCells;
  refuseLarge(
    coded,
    impossible.map((one) => one.columns),
    mostCells,
    mode,
  );
  // No row at all would be found out only after it was paid for.
  if (impossible.length > 0) modelOf({ sizes, measured: [], total: 1, impossible });
  const allowance = await session.allowance(options, undefined, { comesAndGoes: true });
  const allotment = allotmentOf(allowance);
  const names = columns.map(({ name }) => name);
  const held = addsRemoves(policy)
    ? anyHeld(session, names, coded.length)
    : await recordsHeld(session, names, bytesPerRow(coded.length));
  const { records, counting } = held;
  const each = rowsPerRecord(policy);
  const change = records === undefined ? 'removed' : 'replaced';
  const setting: Setting = { sizes, change, ...(records !== undefined && { records }), each, impossible, mostCells };
  const candidates = mode === 'aim' ? candidatesFor(coded, form, mostCells) : [];
  const method = methodOf(policy, mode, setting, allotment, candidates);
  const framed = session.frame({
    label: options.label ?? `synthetic rows of ${columns.length} ${columns.length === 1 ? 'column' : 'columns'} (${mode})`,
    ...toldOf(allowance),
    mechanisms: method.mechanisms,
    mechanism: `${allotment.noise === 'pure' ? 'laplace' : 'gaussian'}, ${mode}`,
    why: method.why,
    counting,
    errors: [],
    candidates: [],
  });
  const tables = mode === 'aim' ? candidates.length : (sizes.length * (sizes.length - 1)) / 2;
  const cells = Math.min(mostCells, method.cells);
  const memory = (records ?? 0) * each * bytesPerRow(coded.length) + 8 * countedCells(sizes, candidates) + 48 * cells;
  return {
    form,
    mode,
    columns,
    coded,
    setting,
    allowance,
    method,
    plan: { ...framed, synth: { mode, columns: coded.length, tables, cells, memory } },
  };
}

/** Where the number of records is a secret: nothing is said about it, nor refused because of it. */
const anyHeld = (
  session: Session,
  columns: readonly string[],
  coded: number,
): { readonly records?: number; readonly counting: HowCounted } => ({
  counting: { where: 'here', streamed: { columns }, held: { upTo: Math.floor(session.room / bytesPerRow(coded)) } },
});

const countedCells = (sizes: readonly number[], candidates: readonly { readonly columns: readonly number[] }[]): number =>
  candidates.reduce((n, { columns }) => n + cellsOf(sizes, columns), 0);

function methodOf(
  policy: Policy,
  mode: Mode,
  setting: Setting,
  allotment: Allotment,
  candidates: ReturnType<typeof candidatesFor>,
): Method {
  if (mode === 'aim') return inRounds(setting, allotment, candidates);
  if (mode === 'mst') return asTree(setting, allotment);
  const { records } = setting;
  if (policy.protect.maxRows > 1 || records === undefined)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The mode privbayes counts one row per person, and a public number of them.',
      'Use the mode aim or mst.',
    );
  return asGrownTree({ sizes: setting.sizes, records }, allotment);
}

/** Gaussian noise where the budget has a delta. */
function allotmentOf({ rho, pure }: Allowance): Allotment {
  const allotment = rho ?? pure;
  if (allotment) return allotment;
  throw nothingLeft();
}

/** Said before anything is paid for: what is too large, and what to do about it. */
function refuseLarge(coded: readonly CodedColumn[], together: readonly (readonly number[])[], most: number, mode: Mode): void {
  const sizes = coded.map(({ size }) => size);
  const needed = (sets: readonly (readonly number[])[]) => treeOf(sizes, sets).cells;
  const byself = needed([...together, ...sizes.map((_, c) => [c])]);
  const widest = [...coded].sort((a, b) => b.size - a.size).slice(0, 2);
  const pairs = mode === 'aim' || widest.length < 2 ? 0 : widest.reduce((n, { size }) => n * size, 1);
  const cells = Math.max(byself, pairs);
  if (cells <= most) return;
  throw new Fault(
    'DOMAIN_EXCEEDED',
    `The model would have ${Number.isFinite(cells) ? cells.toLocaleString('en') : 'too many'} cells; at most ${most.toLocaleString('en')} are allowed.`,
    `Leave out ${widest.map(({ name, size }) => `"${name}" (${size} places)`).join(' or ')} with except, declare wider bins or fewer combinations, or allow more with cells.`,
    { details: { size: Number.isFinite(cells) ? cells : 'infinite', limit: most } },
  );
}
