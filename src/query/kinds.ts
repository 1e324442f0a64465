import { cdfKind } from './kinds/cdf.js';
import { compareKind } from './kinds/compare.js';
import { correlationKind } from './kinds/correlation.js';
import { countKind, crosstabKind, histogramKind } from './kinds/count.js';
import { distinctKind } from './kinds/distinct.js';
import { estimateKind } from './kinds/estimate.js';
import { formulaKind } from './kinds/formula.js';
import { independenceKind } from './kinds/independence.js';
import { meanKind } from './kinds/mean.js';
import { quantileKind } from './kinds/quantile.js';
import { rangesKind } from './kinds/ranges.js';
import { regressionKind } from './kinds/regression.js';
import { shareKind } from './kinds/share.js';
import { sumKind } from './kinds/sum.js';
import { varianceKind } from './kinds/variance.js';

/** The registry: one line per kind of query. */
// biome-ignore format: one line per kind
export const queryKinds = {
  count: countKind,
  sum: sumKind,
  mean: meanKind,
  variance: varianceKind,
  share: shareKind,
  histogram: histogramKind,
  crosstab: crosstabKind,
  cdf: cdfKind,
  ranges: rangesKind,
  distinct: distinctKind,
  formula: formulaKind,
  quantile: quantileKind,
  regression: regressionKind,
  correlation: correlationKind,
  independence: independenceKind,
  compare: compareKind,
  estimate: estimateKind,
} as const;
