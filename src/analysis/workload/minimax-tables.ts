import type { RequestedTable } from './form.js';
import { numberOfAnswers, varianceTerms } from './residual-layout.js';

/** Iterations on the weights; each visits every table once. */
const turns = 400;

/**
 * Reweighted tables whose least weighted squared error is the least maximal error (weight times squared error, averaged over unequal
 * cells) of the requested ones (optimal.proof.md). Tables derived well from others get weight zero.
 */
export function minimaxTables(
  { sizes, tables }: { readonly sizes: readonly number[]; readonly tables: readonly RequestedTable[] },
  change: 'replaced' | 'removed',
): readonly RequestedTable[] {
  const place = new Map<string, number>();
  const costs: number[] = [];
  // Mean increase of an answer's variance per unit variance of a centred table, for the centred tables inside each table.
  const inside = tables.map((table) =>
    varianceTerms(sizes, table).map(({ axes: inner, times }) => {
      const text = inner.join();
      let at = place.get(text);
      if (at === undefined) {
        at = costs.length;
        place.set(text, at);
        // Replacing a record does not change the number of rows.
        costs.push(change === 'replaced' && inner.length === 0 ? 0 : inner.reduce((x, axis) => x * (1 - 1 / sizes[axis]!), 1));
      }
      return { at, adds: (table.weight * times) / numberOfAnswers(sizes, table) };
    }),
  );
  let shares = new Float64Array(tables.length).fill(1 / tables.length);
  let best = { largest: Number.POSITIVE_INFINITY, shares };
  for (let turn = 0; turn < turns; turn++) {
    const weights = new Float64Array(costs.length);
    for (const [t, list] of inside.entries()) for (const { at, adds } of list) weights[at]! += shares[t]! * adds;
    // The best variances for these weights, if one record costs 1.
    const whole = costs.reduce((sum, cost, at) => sum + Math.sqrt(cost * weights[at]!), 0);
    const variances = costs.map((cost, at) => (cost === 0 ? 0 : whole * Math.sqrt(cost / weights[at]!)));
    const errors = Float64Array.from(inside, (list) =>
      list.reduce((sum, { at, adds }) => sum + adds * (adds > 0 ? variances[at]! : 0), 0),
    );
    const largest = errors.reduce((a, b) => Math.max(a, b));
    if (largest < best.largest) best = { largest, shares };
    // No noise has less than the weighted mean, which is the square of `whole`.
    if (largest <= 1.0005 * whole ** 2) break;
    const moved = shares.map((share, t) => share * (errors[t]! / whole ** 2));
    const sum = moved.reduce((a, b) => a + b, 0);
    shares = moved.map((share) => share / sum);
  }
  return tables.map((table, t) => ({
    ...table,
    weight: Math.max(best.shares[t]!, 1e-12) * (table.weight / numberOfAnswers(sizes, table)),
  }));
}
