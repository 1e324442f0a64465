import { count, crosstab, histogram } from './kinds/count.js';
import { mean } from './kinds/mean.js';
import { quantile } from './kinds/quantile.js';
import { share } from './kinds/share.js';
import { sum } from './kinds/sum.js';
import { variance } from './kinds/variance.js';

/** Every kind of query; a new one is one file and one line here. */
export const queryKinds = { count, sum, mean, variance, share, histogram, crosstab, quantile } as const;
