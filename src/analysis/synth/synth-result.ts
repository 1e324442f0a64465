import type { Column } from '../../policy/policy.js';
import { cryptoBits } from '../../privacy/noise/bits.js';
import { fitModel as modelOf, type NoisyMarginal } from '../graphical/fit.js';
import type { CodedColumn, ModelColumn } from '../learn/network/read-coded.js';
import type { SynthForm, SynthMode } from './form.js';
import { drawHouseholds } from './households/draw.js';
import { type Household, pairModel } from './households/measure-pairs.js';
import { distanceLabels } from './households/member-distance.js';
import { pairNames } from './households/pairs.js';
import { type PartnerQuality, partnerQuality } from './households/quality.js';
import { estimatedTotal, type SynthSetting } from './method.js';
import { withinModelLimit } from './model-size.js';
import { type PredictQuality, predictQuality } from './predict.js';
import { type Quality, qualityOf } from './quality.js';
import { decodeRows, drawCodes, type SynthColumn, uniform } from './rows.js';

export interface SynthResult {
  readonly mode: SynthMode;
  readonly rows: number;
  readonly columns: readonly SynthColumn[];
  /** All measurements: noisy tables, row-major over the labels of their columns; the rows are made from these alone. */
  readonly measured: readonly MeasuredTable[];
  /** Number of rows of the data: public, or estimated from the tables. */
  readonly total: number;
  readonly quality: Quality & { readonly predicted: readonly PredictQuality[] };
  /**
   * Household part of a result: the column of made-up names, their number, noisy tables of two members, and how near the rows come to
   * them.
   */
  readonly households?: {
    readonly by: string;
    readonly count: number;
    readonly measured: readonly MeasuredTable[];
    readonly quality: readonly PartnerQuality[];
  };
}
export interface MeasuredTable {
  readonly columns: readonly string[];
  readonly labels: readonly (readonly string[])[];
  readonly counts: readonly number[];
  /** Standard deviation of the noise of a cell. */
  readonly sd: number;
}

/** Setup before any measurement; public. */
export interface SynthSetup {
  readonly form: SynthForm;
  readonly mode: SynthMode;
  readonly columns: readonly Column[];
  readonly coded: readonly CodedColumn[];
  /** Columns of the model of people: the coded ones, and the household size. */
  readonly modelled: readonly ModelColumn[];
  readonly household?: Household;
  readonly setting: SynthSetting;
  /** Most rows that fit into memory, if no number is requested. */
  readonly mostDrawn: number;
}

/** Measurements of rows and of pairs of household members. */
export interface SynthMeasurements {
  readonly measured: readonly NoisyMarginal[];
  readonly pairs: readonly NoisyMarginal[];
}

/** Rows used to evaluate a classifier. */
const maxTriedRows = 20_000;

/** Synthetic rows from measurements: postprocessing only. */
export function makeSynthResult(
  { form, mode, columns, coded, modelled, household, setting, mostDrawn }: SynthSetup,
  { measured, pairs }: SynthMeasurements,
): SynthResult {
  const { sizes, impossible } = setting;
  const total = estimatedTotal(setting, measured);
  const requestedRows = form.rows ?? Math.min(mostDrawn, Math.max(1, Math.round(total)));
  const model = modelOf({ sizes, measured: withinModelLimit(setting, measured), total, impossible });
  const named = (column: number) => modelled[column]!;
  const measuredTables = (list: readonly NoisyMarginal[], of: (column: number) => ModelColumn) =>
    list.map(({ columns, counts, sd }): MeasuredTable => {
      const own = columns.map(of);
      return { columns: own.map(({ name }) => name), labels: own.map(({ labels }) => labels), counts: [...counts], sd };
    });
  const names = modelled.map(({ name }) => name);
  const table = (codes: readonly Uint16Array[]) => ({ names, levels: sizes, rows: codes[0]!.length, columns: codes });
  const fresh = table(drawCodes(model, Math.min(requestedRows, maxTriedRows)));
  const common = (codes: readonly Uint16Array[], rows: number) => ({
    mode,
    rows,
    measured: measuredTables(measured, named),
    total,
    quality: { ...qualityOf(table(codes), measured, total), predicted: predictQuality(table(codes), fresh, measured, total) },
  });
  if (!household || !form.households) {
    const codes = drawCodes(model, requestedRows);
    return { ...common(codes, requestedRows), columns: decodeRows(columns, coded, codes) };
  }
  const { by } = form.households;
  const { own, members } = household;
  const shared = new Set(household.shared.map((c) => coded[c]!.column.name));
  const below = (n: number) => cryptoBits.below(n);
  const models = { people: model, pairs: pairModel(household, model, pairs), measured: pairs, household };
  const drawn = drawHouseholds(models, requestedRows, { uniform, below });
  const [rows, count] = [drawn.homes.length, drawn.homes.at(-1)! + 1];
  const id: SynthColumn = { name: by, type: 'number', whole: true, values: Array.from(drawn.homes, (home) => home + 1) };
  const titles = pairNames(names, household);
  const ofPair = (column: number): ModelColumn => {
    const name = titles[column]!;
    if (column === 0) return { ...modelled[members]!, name };
    if (column <= 2 * own.length) return { ...modelled[own[(column - 1) % own.length]!]!, name };
    const { places: size } = household.distances[column - 1 - 2 * own.length]!;
    return { name, size, labels: distanceLabels(size) };
  };
  return {
    ...common(drawn.columns, rows),
    columns: [
      id,
      ...decodeRows(columns, coded, drawn.columns).map((one) =>
        shared.has(one.name) ? sharedByHousehold(one, drawn.homes) : one,
      ),
    ],
    households: {
      by,
      count,
      measured: measuredTables(pairs, ofPair),
      quality: partnerQuality(drawn, household, { names, levels: sizes }, pairs),
    },
  };
}

/** Copies the written value of the first member to all members in shared columns. */
function sharedByHousehold(column: SynthColumn, homes: Uint32Array): SynthColumn {
  const values: SynthColumn['values'][number][] = [];
  for (let row = 0; row < homes.length; row++)
    values.push(row > 0 && homes[row] === homes[row - 1] ? values[row - 1]! : column.values[row]!);
  return { ...column, values };
}
