/**
 * A release as an attacker models it, seen through one rank of the location patterns. Candidates and people whose place is unknown fall into the part
 * that is nearest in that rank's two coordinates; people who are known fall where they are.
 */
export type AttackTarget = TotalsTarget | CentroidsTarget;

/** Noisy totals of parts of the map: one histogram over cells, or the counts and coordinate sums of every round of a private Lloyd. */
export interface TotalsTarget {
  readonly kind: 'totals';
  readonly name: string;
  /** Ranks of the pattern that the release is about. */
  readonly ranks: readonly number[];
  readonly rounds: (rank: number) => readonly Round[];
}
export interface Round {
  readonly parts: number;
  readonly partOfCell: Uint16Array;
  readonly partOfPerson: Uint16Array;
  readonly counts: Float64Array;
  readonly countScale: number;
  /** Sums of the rank's two coordinates, centred into [-1, 1], two per part. */
  readonly sums?: Float64Array;
  readonly sumScale?: number;
}

/** Liu et al. 2016: cluster means plus Laplace noise on every coordinate, as if the assignment were fixed. */
export interface CentroidsTarget {
  readonly kind: 'centroids';
  readonly name: string;
  readonly ranks: readonly number[];
  readonly parts: number;
  readonly partOfPerson: Uint16Array;
  readonly scale: number;
  readonly partOfCell: (rank: number) => Uint16Array;
  /** Published means in unit coordinates, two per part. */
  readonly means: (rank: number) => Float64Array;
}

/** The attacker's knowledge about everybody but the target. */
export interface OtherPeople {
  person: number;
  /** The person's own record is among those counted as known and must be taken out. */
  counted: boolean;
  /** Number of unknown others, each at a cell with probability `share`. */
  unknown: number;
  readonly share: Float64Array;
  readonly support: Uint16Array;
  supported: number;
}

/** Fills `scores` over the supported cells: how much the log-likelihood of the release changes when one record is put there. */
export interface Scorer {
  turnTo(rank: number): void;
  score(rest: OtherPeople, scores: Float64Array): void;
}
