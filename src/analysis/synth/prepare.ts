import { Fault } from '../../base/errors.js';
import { rational } from '../../base/exact/rational.js';
import { limits } from '../../base/input/limits.js';
import { addsRemoves } from '../../policy/neighbours.js';
import { type Allotment, partOf } from '../../privacy/mechanism/allotment.js';
import type { HowCounted } from '../../query/count/count.js';
import { leavesOut } from '../../query/count/kept-rows.js';
import { nothingLeft } from '../../release/accountant/share.js';
import { type Allowance, toldOf } from '../../release/session/allowance.js';
import type { Plan } from '../../release/session/plan.js';
import type { AskOptions, Session } from '../../release/session/session.js';
import { fit as modelOf } from '../graphical/fit.js';
import { treeOf } from '../graphical/tree.js';
import { inSeveralGroups, recordsHeld, rowsPerRecord } from '../learn/public-size.js';
import { candidatesFor } from './candidates.js';
import { chosenColumns, codedColumns, type ModelColumn } from './columns.js';
import { cellsOf } from './counts.js';
import { type Mode, readForm } from './form.js';
import { asGrownTree } from './grown.js';
import { householdOf, membersColumn } from './households/declared.js';
import { type PairMethod, pairMethod } from './households/measure-pairs.js';
import { refuseSeveralHomes } from './households/one-home.js';
import { impossibleIn } from './impossible.js';
import type { Ground } from './made.js';
import { type Held, refuseBeyond, rowsWithin, usualCells } from './memory.js';
import { isOneRowEach, type Method, type Setting } from './method.js';
import { bytesPerRow } from './read-coded.js';
import { inRounds } from './rounds.js';
import { asTree } from './tree.js';

export interface SynthPlan extends Plan {
  readonly synth: {
    readonly mode: Mode;
    /** Columns of the model; a multi-select column is one per option. */
    readonly columns: number;
    /** Candidate tables of the rounds; pairs of a tree. Tables of pairs of household members are included. */
    readonly tables: number;
    /** Most cells that the model may have. */
    readonly cells: number;
    /** Approximate bytes of rows, counts and model; without the rows if their number is secret. */
    readonly memory: number;
  };
}

export interface Prepared extends Ground {
  readonly allowance: Allowance;
  readonly method: Method;
  readonly partnered?: PairMethod;
  readonly plan: SynthPlan;
}

/** Default for the most cells of a candidate table of the rounds; all candidates are counted. */
const usualTable = 400_000;
/** Share of the budget for tables of pairs of household members. */
const forPairs = rational(1, 3);
const forPeople = rational(2, 3);
/** Most people in households: they are swapped one by one. */
const mostGrouped = 2_000_000;

/** Public decisions before the data is read, and the cost. */
export async function prepare(session: Session, input: unknown, options: AskOptions): Promise<Prepared> {
  const { policy } = session;
  const form = readForm(input);
  const mode = form.mode ?? 'aim';
  const columns = chosenColumns(policy, form);
  const coded = codedColumns(policy, columns);
  const household = form.households && householdOf(policy, coded, form.households);
  if (household && (form.rows ?? 0) > mostGrouped)
    throw new Fault(
      'QUERY_INVALID',
      `At most ${mostGrouped.toLocaleString('en')} rows are grouped into households.`,
      'Ask for fewer rows.',
    );
  if (form.households) refuseSeveralHomes(await inSeveralGroups(session, form.households.by), form.households.by);
  const modelled: readonly ModelColumn[] = form.households ? [...coded, membersColumn(form.households)] : coded;
  const sizes = modelled.map(({ size }) => size);
  const mostCells = form.cells ?? usualCells(session.room);
  const impossible = [
    ...impossibleIn(policy, coded, form, mostCells),
    // Excludes nothing: keeps the shared columns in one clique, so that they can be drawn first.
    ...(household ? [{ columns: [...household.shared, household.members], cells: [] }] : []),
  ];
  refuseLarge(
    modelled,
    impossible.map((one) => one.columns),
    mostCells,
    mode,
  );
  // If no row is possible, that must be found before anything is paid for.
  if (impossible.length > 0) modelOf({ sizes, measured: [], total: 1, impossible });
  const allowance = await session.allowance(options, undefined, { comesAndGoes: true });
  const allotment = allotmentOf(allowance);
  const names = columns.map(({ name }) => name);
  const perRow = bytesPerRow(modelled.length, household !== undefined);
  const { records, counting } = addsRemoves(policy) ? anyHeld(session, names, perRow) : await recordsHeld(session, names, perRow);
  if (records === 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The data has no records to make rows of.',
      'Ask again when there are some: nothing was spent.',
    );
  const each = rowsPerRecord(policy);
  const change = addsRemoves(policy) ? 'removed' : 'replaced';
  // If persons may be left out, the number of rows is estimated from the noisy tables.
  const leftOut = leavesOut(policy);
  const common: Setting = { sizes, change, ...(records !== undefined && { records }), leftOut, each, impossible, mostCells };
  const candidates = mode === 'aim' ? candidatesFor(modelled, form, form.cells ?? usualTable) : [];
  const method = methodOf(mode, common, household ? partOf(allotment, forPeople) : allotment, candidates);
  const partnered = household && pairMethod(common, household, partOf(allotment, forPairs));
  const setting = { ...common, mostCells: largestModel(mode, common, method) };
  const framed = session.frame({
    label:
      options.label ??
      `synthetic rows of ${columns.length} ${columns.length === 1 ? 'column' : 'columns'} (${mode}${household ? ', in households' : ''})`,
    ...toldOf(allowance),
    mechanisms: [...method.mechanisms, ...(partnered?.mechanisms ?? [])],
    mechanism: `${allotment.noise === 'pure' ? 'laplace' : 'gaussian'}, ${mode}`,
    why: partnered
      ? `Two thirds of the budget are for people: ${method.why} A third is for rounds over tables of two members of a household.`
      : method.why,
    counting,
    errors: [],
    candidates: [],
  });
  if (household && framed.records && framed.records.leftOut > 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'A tie of the policy leaves records out of every answer; synthetic households have all members.',
      'Leave maxUsed and the like out of the ties, or leave households out.',
    );
  const tables = (mode === 'aim' ? candidates.length : (sizes.length * (sizes.length - 1)) / 2) + (partnered?.tables ?? 0);
  const counted = candidates.reduce((n, own) => n + cellsOf(sizes, own.columns), 0) + (partnered?.cells ?? 0);
  const held: Held = {
    rows: (records ?? 0) * each,
    perRow,
    counted,
    cells: setting.mostCells + (partnered?.largest ?? 0),
    drawn: form.rows ?? (records ?? 0) * each,
    columns: modelled.length,
  };
  const memory = refuseBeyond(held, session.room);
  return {
    form,
    mode,
    columns,
    coded,
    modelled,
    ...(household && { household }),
    setting,
    mostDrawn: records === undefined ? rowsWithin(held, session.room) : records * each,
    allowance,
    method,
    ...(partnered && { partnered }),
    plan: { ...framed, synth: { mode, columns: modelled.length, tables, cells: setting.mostCells, memory } },
  };
}

/** Memory check without the number of records, where that is secret: nothing is published about it, nor refused because of it. */
const anyHeld = (
  session: Session,
  columns: readonly string[],
  perRow: number,
): { readonly records?: number; readonly counting: HowCounted } => ({
  counting: { where: 'here', streamed: { columns }, held: { upTo: Math.floor(session.room / perRow) } },
});
function methodOf(mode: Mode, setting: Setting, allotment: Allotment, candidates: ReturnType<typeof candidatesFor>): Method {
  if (mode === 'aim') return inRounds(setting, allotment, candidates);
  if (mode === 'mst') return asTree(setting, allotment);
  if (!isOneRowEach(setting))
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The mode privbayes counts one row of every person, and a public number of them.',
      'Use the mode aim or mst.',
    );
  if (setting.sizes.length < 2)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The mode privbayes measures pairs of columns; there is one column.',
      'Use the mode aim or mst.',
    );
  return asGrownTree(setting, allotment);
}

/**
 * Most cells of the model: as given for rounds, the pairs for a tree, and at least as many as for rounds if structural zeros cross
 * its branches (model-size.ts).
 */
function largestModel(mode: Mode, { mostCells, impossible }: Setting, { cells }: Method): number {
  if (mode === 'aim') return mostCells;
  return Math.min(limits.graphicalCells.most, impossible.length > 0 ? Math.max(mostCells, cells) : cells);
}

/** Gaussian noise if the budget has a delta. */
function allotmentOf({ rho, pure }: Allowance): Allotment {
  const allotment = rho ?? pure;
  if (allotment) return allotment;
  throw nothingLeft();
}

/** Refusal of a model that is too large, before anything is paid for, with a remedy. */
function refuseLarge(coded: readonly ModelColumn[], together: readonly (readonly number[])[], most: number, mode: Mode): void {
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
