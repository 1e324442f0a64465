import { Fault } from '../../base/errors.js';
import { rational } from '../../base/exact/rational.js';
import { limits } from '../../base/input/limits.js';
import { isAddRemove } from '../../policy/neighbours.js';
import { type BudgetShare, splitShare } from '../../privacy/mechanism/budget-share.js';
import { dropsWholePersons } from '../../query/count/contribution-bound.js';
import type { ExecutionPlan } from '../../query/count/count.js';
import { nothingLeft } from '../../release/accountant/share.js';
import { type Allowance, planFieldsOf } from '../../release/session/allowance.js';
import type { Plan } from '../../release/session/plan.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import { fitModel as modelOf } from '../graphical/fit.js';
import { junctionTree } from '../graphical/junction-tree.js';
import { marginalSize } from '../graphical/marginal.js';
import { bytesPerRow, codedColumns, type ModelColumn } from '../learn/network/read-coded.js';
import { personsInSeveralGroups, recordsInMemory, rowsPerRecord } from '../learn/public-size.js';
import { candidatesFor } from './candidates.js';
import { chosenColumns } from './columns.js';
import { readSynthForm, type SynthForm, type SynthMode } from './form.js';
import { grownTreeMethod } from './grown-tree.js';
import { declaredHousehold, membersColumn } from './households/declared-household.js';
import { type PairMethod, pairMethod } from './households/measure-pairs.js';
import { refuseSeveralHouseholds } from './households/one-household.js';
import { defaultModelCells, drawableRows, refuseBeyondMemory, type SynthMemory } from './memory.js';
import { hasOneRowEach, type SynthMethod, type SynthSetting } from './method.js';
import { roundsMethod } from './rounds.js';
import { structuralZeros } from './structural-zeros.js';
import type { SynthSetup } from './synth-result.js';
import { treeMethod } from './tree.js';

export interface SynthPlan extends Plan {
  readonly synth: {
    readonly mode: SynthMode;
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

export interface PreparedSynth extends SynthSetup {
  readonly allowance: Allowance;
  readonly method: SynthMethod;
  readonly partnered?: PairMethod;
  readonly plan: SynthPlan;
}

/** Default for the most cells of a candidate table of the rounds; all candidates are counted. */
const usualTable = 400_000;
/** Share of the budget for tables of pairs of household members. */
const pairShare = rational(1, 3);
const peopleShare = rational(2, 3);
/** Most people in households: they are swapped one by one. */
const mostGrouped = 2_000_000;

/** What rows consist of: columns, households, structural zeros. Refuses what no model can hold. */
async function synthShape(session: PrivacySession, form: SynthForm, mode: SynthMode) {
  const { policy } = session;
  const columns = chosenColumns(policy, form);
  const coded = codedColumns(policy, columns);
  const household = form.households && declaredHousehold(policy, coded, form.households);
  if (household && (form.rows ?? 0) > mostGrouped)
    throw new Fault(
      'QUERY_INVALID',
      `At most ${mostGrouped.toLocaleString('en')} rows are grouped into households.`,
      'Ask for fewer rows.',
    );
  if (form.households) refuseSeveralHouseholds(await personsInSeveralGroups(session, form.households.by), form.households.by);
  const modelled: readonly ModelColumn[] = form.households ? [...coded, membersColumn(form.households)] : coded;
  const sizes = modelled.map(({ size }) => size);
  const mostCells = form.cells ?? defaultModelCells(session.memoryLimit);
  const impossible = [
    ...structuralZeros(policy, coded, form, mostCells),
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
  return { columns, coded, household, modelled, impossible, mostCells };
}

/** Public decisions before the data is read, and the cost. */
export async function prepareSynth(session: PrivacySession, input: unknown, options: ReleaseOptions): Promise<PreparedSynth> {
  const { policy } = session;
  const form = readSynthForm(input);
  const mode = form.mode ?? 'aim';
  const { columns, coded, household, modelled, impossible, mostCells } = await synthShape(session, form, mode);
  const sizes = modelled.map(({ size }) => size);
  const allowance = await session.allowance(options, undefined, { addRemove: true });
  const budgetShare = synthBudgetShare(allowance);
  const names = columns.map(({ name }) => name);
  const perRow = bytesPerRow(modelled.length, household !== undefined);
  const { records, counting } = await recordsOf(session, names, perRow);
  const each = rowsPerRecord(policy);
  const change = isAddRemove(policy) ? 'removed' : 'replaced';
  // If persons may be left out, the number of rows is estimated from the noisy tables.
  const leftOut = dropsWholePersons(policy);
  const common: SynthSetting = { sizes, change, ...(records !== undefined && { records }), leftOut, each, impossible, mostCells };
  const candidates = mode === 'aim' ? candidatesFor(modelled, form, form.cells ?? usualTable) : [];
  const method = methodOf(mode, common, household ? splitShare(budgetShare, peopleShare) : budgetShare, candidates);
  const partnered = household && pairMethod(common, household, splitShare(budgetShare, pairShare));
  const setting = { ...common, mostCells: largestModel(mode, common, method) };
  const framed = session.completePlan({
    label:
      options.label ??
      `synthetic rows of ${columns.length} ${columns.length === 1 ? 'column' : 'columns'} (${mode}${household ? ', in households' : ''})`,
    ...planFieldsOf(allowance),
    mechanisms: [...method.mechanisms, ...(partnered?.mechanisms ?? [])],
    mechanism: `${budgetShare.noise === 'pure' ? 'laplace' : 'gaussian'}, ${mode}`,
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
  const counted = candidates.reduce((n, own) => n + marginalSize(sizes, own.columns), 0) + (partnered?.cells ?? 0);
  const held: SynthMemory = {
    rows: (records ?? 0) * each,
    perRow,
    counted,
    cells: setting.mostCells + (partnered?.largest ?? 0),
    drawn: form.rows ?? (records ?? 0) * each,
    columns: modelled.length,
  };
  const memory = refuseBeyondMemory(held, session.memoryLimit);
  return {
    form,
    mode,
    columns,
    coded,
    modelled,
    ...(household && { household }),
    setting,
    mostDrawn: records === undefined ? drawableRows(held, session.memoryLimit) : records * each,
    allowance,
    method,
    ...(partnered && { partnered }),
    plan: { ...framed, synth: { mode, columns: modelled.length, tables, cells: setting.mostCells, memory } },
  };
}

/** Number of records, where it is public. Refuses data without any. */
async function recordsOf(session: PrivacySession, names: readonly string[], perRow: number) {
  const counted = isAddRemove(session.policy)
    ? uncountedRecords(session, names, perRow)
    : await recordsInMemory(session, names, perRow);
  if (counted.records === 0)
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'The data has no records to make rows of.',
      'Ask again when there are some: nothing was spent.',
    );
  return counted;
}

/** Memory check without the number of records, where that is secret: nothing is published about it, nor refused because of it. */
const uncountedRecords = (
  session: PrivacySession,
  columns: readonly string[],
  perRow: number,
): { readonly records?: number; readonly counting: ExecutionPlan } => ({
  counting: { where: 'here', streamed: { columns }, held: { upTo: Math.floor(session.memoryLimit / perRow) } },
});
function methodOf(
  mode: SynthMode,
  setting: SynthSetting,
  budgetShare: BudgetShare,
  candidates: ReturnType<typeof candidatesFor>,
): SynthMethod {
  if (mode === 'aim') return roundsMethod(setting, budgetShare, candidates);
  if (mode === 'mst') return treeMethod(setting, budgetShare);
  if (!hasOneRowEach(setting))
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
  return grownTreeMethod(setting, budgetShare);
}

/**
 * Most cells of the model: as given for rounds, the pairs for a tree, and at least as many as for rounds if structural zeros cross
 * its branches (model-size.ts).
 */
function largestModel(mode: SynthMode, { mostCells, impossible }: SynthSetting, { cells }: SynthMethod): number {
  if (mode === 'aim') return mostCells;
  return Math.min(limits.graphicalCells.most, impossible.length > 0 ? Math.max(mostCells, cells) : cells);
}

/** Gaussian noise if the budget has a delta. */
function synthBudgetShare({ rho, pure }: Allowance): BudgetShare {
  const budgetShare = rho ?? pure;
  if (budgetShare) return budgetShare;
  throw nothingLeft();
}

/** Refusal of a model that is too large, before anything is paid for, with a remedy. */
function refuseLarge(coded: readonly ModelColumn[], joint: readonly (readonly number[])[], most: number, mode: SynthMode): void {
  const sizes = coded.map(({ size }) => size);
  const needed = (sets: readonly (readonly number[])[]) => junctionTree(sizes, sets).cells;
  const byself = needed([...joint, ...sizes.map((_, c) => [c])]);
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
