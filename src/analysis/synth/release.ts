import type { Payment } from '../../privacy/mechanism/payment.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import { publicReads } from '../../release/session/public-read.js';
import type { Receipt } from '../../release/session/receipt.js';
import type { PrivacySession, ReleaseOptions } from '../../release/session/session.js';
import type { NoisyMarginal } from '../graphical/fit.js';
import { fitModel as modelOf } from '../graphical/fit.js';
import type { CodedTable } from '../learn/network/coded.js';
import { type CodedColumn, readCoded } from '../learn/network/read-coded.js';
import { refuseChangedSize } from '../learn/public-size.js';
import type { SynthForm, SynthMode } from './form.js';
import { refuseSeveralHouseholds } from './households/one-household.js';
import { drawPartners, type HouseholdIds, memberCounts, pairRows } from './households/pairs.js';
import { estimatedTotal, hasOneRowEach } from './method.js';
import { withinModelLimit } from './model-size.js';
import { type PreparedSynth, prepareSynth, type SynthPlan } from './prepare.js';
import { makeSynthResult, type SynthMeasurements, type SynthResult } from './synth-result.js';

export type { SynthPlan } from './prepare.js';
export type { MeasuredTable, SynthResult } from './synth-result.js';

/** Ledger record of a synthesis: any number of rows can be made from it. */
interface RecordedSynth {
  readonly measured: readonly StoredMarginal[];
  readonly pairs?: readonly StoredMarginal[];
}
interface StoredMarginal {
  readonly columns: readonly number[];
  readonly counts: readonly number[];
  readonly sd: number;
}

export const planSynth = async (session: PrivacySession, input: unknown, options: ReleaseOptions = {}): Promise<SynthPlan> =>
  (await prepareSynth(session, input, options)).plan;

export async function releaseSynth(
  session: PrivacySession,
  input: unknown,
  options: ReleaseOptions = {},
  progress?: (done: number, total: number) => void,
): Promise<{ readonly result: SynthResult; readonly receipt: Receipt }> {
  const prepared = await prepareSynth(session, input, options);
  const { form, mode, coded, setting, allowance, method, partnered, plan } = prepared;
  const { result, receipt } = await session.analyse<RecordedSynth>({
    kind: 'synth',
    allowance,
    canonical: canonicalOf(form, mode, coded),
    plan,
    mechanisms: [...method.mechanisms, ...(partnered?.mechanisms ?? [])],
    still: async (look) => {
      if (form.households) {
        const { by } = form.households;
        refuseSeveralHouseholds(await look(publicReads.membersOfSeveral, by), by);
      }
      if (hasOneRowEach(setting)) await refuseChangedSize(setting.records)(look);
    },
    execute: async (engine, payment) => {
      const rows = (await readCoded(engine, session.policy, coded, form.households?.by)).open();
      if (hasOneRowEach(setting) && rows.rows !== setting.records) throw new RangeError('the number of records has changed');
      const { measured, pairs } = measureAll(prepared, rows, payment, progress);
      return { measured: measured.map(asStored), ...(pairs.length > 0 && { pairs: pairs.map(asStored) }) };
    },
  });
  const measurements: SynthMeasurements = {
    measured: result.measured.map(asMeasured),
    pairs: (result.pairs ?? []).map(asMeasured),
  };
  return { result: makeSynthResult(prepared, measurements), receipt };
}

/** Marginals of rows, then marginals of pairs of household members. */
export function measureAll(
  {
    method,
    partnered,
    household,
    modelled,
    setting,
  }: Pick<PreparedSynth, 'method' | 'partnered' | 'household' | 'modelled' | 'setting'>,
  rows: CodedTable & { readonly homes: HouseholdIds },
  payment: Payment,
  progress?: (done: number, total: number) => void,
): SynthMeasurements {
  if (!household || !partnered) return { measured: method.run(rows, payment, progress), pairs: [] };
  const { sizes, impossible } = setting;
  const people: CodedTable = {
    names: modelled.map(({ name }) => name),
    levels: sizes,
    rows: rows.rows,
    columns: [...rows.columns, memberCounts(rows.homes, sizes[household.members]!)],
  };
  const measured = method.run(people, payment, progress);
  const model = modelOf({
    sizes,
    measured: withinModelLimit(setting, measured),
    total: estimatedTotal(setting, measured),
    impossible,
  });
  const two = drawPartners(rows.homes, (n) => cryptoBits.below(n));
  return { measured, pairs: partnered.run(pairRows(people, household, two), model, payment) };
}

const asStored = ({ columns, counts, sd }: NoisyMarginal): StoredMarginal => ({ columns, counts: [...counts], sd });
const asMeasured = ({ columns, counts, sd }: StoredMarginal): NoisyMarginal => ({
  columns,
  counts: Float64Array.from(counts),
  sd,
});

/** Request text without the number of rows, which costs nothing. */
const canonicalOf = ({ rows: _, ...form }: SynthForm, mode: SynthMode, coded: readonly CodedColumn[]): string =>
  JSON.stringify([mode, form, coded.map((one) => [one.name, 'axis' in one ? one.axis : one.option])]);
