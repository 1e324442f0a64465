/**
 * Eq. 26 of Liu et al. 2016: P(friend at v | me at u) proportional to (distance + b)^-c, normalised over the declared grid (the
 * paper's a then cancels).
 */
export interface FriendshipModel {
  readonly b: number;
  readonly c: number;
}
/** The model fitted in the paper, in miles. */
export const backstrom: FriendshipModel = { b: 0.196, c: 1.05 };
