import { inDoubles, lawFromText } from '../mechanism/law.js';
import type { PlannedMeasure } from '../release/plan.js';
import { type NoisyCells, type ReleaseError, releaseError } from './error.js';

/** Error of all tables of a released survey together, from the noise its receipt tells; before any tidying. */
export function toldError(measures: readonly PlannedMeasure[]): ReleaseError {
  return releaseError(
    measures.flatMap(({ noise, cells, tables = 1 }): NoisyCells[] => {
      const law = inDoubles(lawFromText(noise));
      return law.kind === 'laplace' || law.kind === 'gaussian' ? [{ law, cells, tables }] : [];
    }),
  );
}
