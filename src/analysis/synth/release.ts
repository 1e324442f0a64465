import type { Paid } from '../../privacy/mechanism/paid.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import { publicReads } from '../../release/session/public-read.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { AskOptions, Session } from '../../release/session/session.js';
import type { Measured } from '../graphical/fit.js';
import { fit as modelOf } from '../graphical/fit.js';
import type { CodedTable } from '../learn/network/coded.js';
import { stillAsMany } from '../learn/public-size.js';
import type { CodedColumn } from './columns.js';
import type { Mode, SynthForm } from './form.js';
import { refuseSeveralHomes } from './households/one-home.js';
import { type Homes, membersOf, pairRows, partners } from './households/pairs.js';
import { made, type SynthResult, type Told } from './made.js';
import { isOneRowEach, totalOf } from './method.js';
import { type Prepared, prepare, type SynthPlan } from './prepare.js';
import { readCoded } from './read-coded.js';
import { smallEnough } from './small-enough.js';

export type { MeasuredTable, SynthResult } from './made.js';
export type { SynthPlan } from './prepare.js';

/** Ledger record of a synthesis: any number of rows can be made from it. */
interface Recorded {
  readonly measured: readonly Kept[];
  readonly pairs?: readonly Kept[];
}
interface Kept {
  readonly columns: readonly number[];
  readonly counts: readonly number[];
  readonly sd: number;
}

export const planSynth = async (session: Session, input: unknown, options: AskOptions = {}): Promise<SynthPlan> =>
  (await prepare(session, input, options)).plan;

export async function releaseSynth(
  session: Session,
  input: unknown,
  options: AskOptions = {},
  progress?: (done: number, total: number) => void,
): Promise<{ readonly result: SynthResult; readonly receipt: Receipt }> {
  const prepared = await prepare(session, input, options);
  const { form, mode, coded, setting, allowance, method, partnered, plan } = prepared;
  const { result, receipt } = await session.analyse<Recorded>({
    kind: 'synth',
    allowance,
    canonical: canonicalOf(form, mode, coded),
    plan,
    mechanisms: [...method.mechanisms, ...(partnered?.mechanisms ?? [])],
    still: async (look) => {
      if (form.households) {
        const { by } = form.households;
        refuseSeveralHomes(await look(publicReads.membersOfSeveral, by), by);
      }
      if (isOneRowEach(setting)) await stillAsMany(setting.records)(look);
    },
    execute: async (engine, paid) => {
      const rows = (await readCoded(engine, session.policy, coded, form.households?.by)).open();
      if (isOneRowEach(setting) && rows.rows !== setting.records) throw new RangeError('the number of records has changed');
      const { measured, pairs } = measuredOf(prepared, rows, paid, progress);
      return { measured: measured.map(kept), ...(pairs.length > 0 && { pairs: pairs.map(kept) }) };
    },
  });
  const told: Told = { measured: result.measured.map(asMeasured), pairs: (result.pairs ?? []).map(asMeasured) };
  return { result: made(prepared, told), receipt };
}

/** Marginals of rows, then marginals of pairs of household members. */
export function measuredOf(
  {
    method,
    partnered,
    household,
    modelled,
    setting,
  }: Pick<Prepared, 'method' | 'partnered' | 'household' | 'modelled' | 'setting'>,
  rows: CodedTable & { readonly homes: Homes },
  paid: Paid,
  progress?: (done: number, total: number) => void,
): Told {
  if (!household || !partnered) return { measured: method.run(rows, paid, progress), pairs: [] };
  const { sizes, impossible } = setting;
  const people: CodedTable = {
    names: modelled.map(({ name }) => name),
    levels: sizes,
    rows: rows.rows,
    columns: [...rows.columns, membersOf(rows.homes, sizes[household.members]!)],
  };
  const measured = method.run(people, paid, progress);
  const model = modelOf({ sizes, measured: smallEnough(setting, measured), total: totalOf(setting, measured), impossible });
  const two = partners(rows.homes, (n) => cryptoBits.below(n));
  return { measured, pairs: partnered.run(pairRows(people, household, two), model, paid) };
}

const kept = ({ columns, counts, sd }: Measured): Kept => ({ columns, counts: [...counts], sd });
const asMeasured = ({ columns, counts, sd }: Kept): Measured => ({ columns, counts: Float64Array.from(counts), sd });

/** Request text without the number of rows, which costs nothing. */
const canonicalOf = ({ rows: _, ...form }: SynthForm, mode: Mode, coded: readonly CodedColumn[]): string =>
  JSON.stringify([mode, form, coded.map((one) => [one.name, 'axis' in one ? one.axis : one.option])]);
