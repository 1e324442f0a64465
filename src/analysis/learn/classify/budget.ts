/**
 * The arithmetic of Chaudhuri et al. 2011 for rows of length at most one and a loss with |l'| <= 1, |l''| <= curvature.
 * Output perturbation here is the published form; what Fugu releases is output.ts, with integer noise and a paid tolerance.
 */
export interface ErmTerms {
  readonly rows: number;
  readonly regularisation: number;
  readonly curvature: number;
  readonly epsilon: number;
}

/** Rate of the published noise density exp(-rate |b|) around the minimiser. */
export const outputRate = ({ rows, regularisation, epsilon }: Omit<ErmTerms, 'curvature'>): number =>
  (rows * regularisation * epsilon) / 2;

/** Epsilon remaining for the random linear term, and the extra penalty that is needed if none would remain. */
export function objectiveTerms({ rows, regularisation, curvature, epsilon }: ErmTerms): {
  readonly epsilon: number;
  readonly penalty: number;
} {
  const left = epsilon - 2 * Math.log1p(curvature / (rows * regularisation));
  if (left > 0) return { epsilon: left, penalty: 0 };
  return { epsilon: epsilon / 2, penalty: curvature / (rows * Math.expm1(epsilon / 4)) - regularisation };
}
