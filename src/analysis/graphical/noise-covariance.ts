import { marginalSize } from './marginal.js';

/** Covariance of a table's noise and its inverse, as linear maps of a table. */
export interface NoiseCovariance {
  /** Root mean square over cells. */
  readonly sd: number;
  spread(list: Float64Array, into: Float64Array): void;
  inverse(list: Float64Array, into: Float64Array): void;
}

/**
 * Independent noise of equal standard deviation; or, with `variances`, one variance per set of columns (bit i for the i-th), for what
 * is centred along these columns and constant along the others.
 */
export function noiseCovariance(
  sizes: readonly number[],
  {
    columns,
    sd,
    variances,
  }: { readonly columns: readonly number[]; readonly sd: number; readonly variances?: readonly number[] },
): NoiseCovariance {
  if (!variances) return { sd, spread: scaled(sd ** 2), inverse: scaled(sd ** -2) };
  const own = columns.map((column) => sizes[column]!);
  const mean = variances.reduce(
    (sum, v, set) => sum + v * own.reduce((x, m, k) => x * ((set >> k) & 1 ? 1 - 1 / m : 1 / m), 1),
    0,
  );
  const buffers = Array.from({ length: own.length + 1 }, () => new Float64Array(marginalSize(sizes, columns)));
  return {
    sd: Math.sqrt(mean),
    spread: byParts(own, variances, buffers),
    inverse: byParts(
      own,
      variances.map((v) => 1 / v),
      buffers,
    ),
  };
}

const scaled = (times: number) => (list: Float64Array, into: Float64Array) => {
  for (let i = 0; i < list.length; i++) into[i] = times * list[i]!;
};

/** Splits a table axis by axis into its mean and the centred rest; each component is scaled by its own factor. */
function byParts(own: readonly number[], times: readonly number[], buffers: readonly Float64Array[]) {
  const strides = own.map((_, k) => own.slice(k + 1).reduce((n, m) => n * m, 1));
  return (list: Float64Array, into: Float64Array): void => {
    buffers[0]!.set(list);
    into.fill(0);
    divide(0, 0);
    function divide(axis: number, set: number): void {
      const here = buffers[axis]!;
      if (axis === own.length) {
        const factor = times[set]!;
        for (let i = 0; i < here.length; i++) into[i]! += factor * here[i]!;
        return;
      }
      const next = buffers[axis + 1]!;
      average(here, next, own[axis]!, strides[axis]!);
      // The mean continues in the next axis's buffer, and is subtracted here before that is reused.
      for (let i = 0; i < here.length; i++) here[i]! -= next[i]!;
      divide(axis + 1, set);
      next.set(here);
      divide(axis + 1, set | (1 << axis));
    }
  };
}

function average(from: Float64Array, into: Float64Array, m: number, stride: number): void {
  const block = m * stride;
  for (let start = 0; start < from.length; start += block)
    for (let i = start; i < start + stride; i++) {
      let sum = 0;
      for (let p = 0; p < m; p++) sum += from[i + p * stride]!;
      for (let p = 0; p < m; p++) into[i + p * stride] = sum / m;
    }
}
