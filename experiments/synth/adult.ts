import { fitModel as modelOf } from '../../src/analysis/graphical/fit.js';
import { marginalSize } from '../../src/analysis/graphical/marginal.js';
import { countMarginal } from '../../src/analysis/learn/network/coded.js';
import { estimatedTotal, type SynthSetting } from '../../src/analysis/synth/method.js';
import { defaultSchedules, type MarginalCandidate, type RoundSchedule, roundsMethod } from '../../src/analysis/synth/rounds.js';
import { drawCodes } from '../../src/analysis/synth/rows.js';
import { subsetsUpTo } from '../../src/analysis/workload/closure.js';
import { fromNumber } from '../../src/base/exact/rational.js';
import { zcdp } from '../../src/privacy/mechanism/budget-share.js';
import { Payment } from '../../src/privacy/mechanism/payment.js';
import type { Coded } from '../workloads/measured.js';

/** Result of one synthesis: distance of its tables from the truth, and its duration. */
export interface Made {
  /** Distances of tables of one, two and three columns: of synthetic rows, and of the model they are drawn from. */
  readonly distance: readonly number[];
  readonly ofModel: readonly number[];
  readonly rmse: number;
  readonly seconds: number;
  readonly cpu: number;
  readonly tables: number;
}

/**
 * Rounds over all tables of up to three columns, of one draw; the distance of tables of one,
 * two and three columns from as many synthetic rows as the data has.
 */
export function roundsOn(
  coded: Coded,
  rho: number,
  change: SynthSetting['change'],
  cells: number,
  schedule: Partial<RoundSchedule> = {},
): Made {
  const { sizes } = coded;
  const all = subsetsUpTo([...sizes.keys()], 3).filter(({ length }) => length > 0);
  // Equal weights, as in candidates.ts if none is named.
  const candidates = all
    .filter((columns) => columns.length > 1 && marginalSize(sizes, columns) <= cells)
    .map((columns): MarginalCandidate => ({ columns, weight: 1 }));
  const start = performance.now();
  const began = process.cpuUsage();
  const setting: SynthSetting = {
    sizes,
    change,
    ...(change === 'replaced' && { records: coded.rows }),
    each: 1,
    impossible: [],
    mostCells: cells,
  };
  const method = roundsMethod(setting, zcdp(fromNumber(rho)), candidates, { ...defaultSchedules.zcdp, ...schedule });
  const columns = coded.columns.map((own) => Uint16Array.from(own));
  const table = { rows: coded.rows, columns, names: sizes.map((_, c) => `c${c}`), levels: sizes };
  const measured = method.run(table, new Payment(method.mechanisms));
  const model = modelOf({ sizes, measured, total: estimatedTotal(setting, measured) });
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(began);
  const made = { ...table, columns: drawCodes(model, coded.rows) };
  let [squares, places] = [0, 0];
  const ofModel: number[] = [];
  const distance = [1, 2, 3].map((order) => {
    const tables = all.filter(({ length }) => length === order);
    let [sum, modelled] = [0, 0];
    for (const columns of tables) {
      const [truth, told, known] = [countMarginal(table, columns), countMarginal(made, columns), model.table(columns)];
      for (let cell = 0; cell < truth.length; cell++) {
        sum += Math.abs(told[cell]! - truth[cell]!) / 2 / coded.rows;
        modelled += Math.abs(known[cell]! - truth[cell]!) / 2 / coded.rows;
        if (order === 3) squares += (told[cell]! - truth[cell]!) ** 2;
      }
      if (order === 3) places += truth.length;
    }
    ofModel.push(modelled / tables.length);
    return sum / tables.length;
  });
  return { distance, ofModel, rmse: Math.sqrt(squares / places), seconds, cpu: (user + system) / 1e6, tables: measured.length };
}
