import { cdf } from './kinds/cdf.js';
import { compare } from './kinds/compare.js';
import { correlation } from './kinds/correlation.js';
import { count, crosstab, histogram } from './kinds/count.js';
import { distinct } from './kinds/distinct.js';
import { estimate } from './kinds/estimate.js';
import { formula } from './kinds/formula.js';
import { independence } from './kinds/independence.js';
import { mean } from './kinds/mean.js';
import { quantile } from './kinds/quantile.js';
import { ranges } from './kinds/ranges.js';
import { regression } from './kinds/regression.js';
import { share } from './kinds/share.js';
import { sum } from './kinds/sum.js';
import { variance } from './kinds/variance.js';

/** The registry: one line per kind of query. */
// biome-ignore format: one line per kind
export const queryKinds = {
  count,
  sum,
  mean,
  variance,
  share,
  histogram,
  crosstab,
  cdf,
  ranges,
  distinct,
  formula,
  quantile,
  regression,
  correlation,
  independence,
  compare,
  estimate,
} as const;
