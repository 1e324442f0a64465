/** Resource limits of the service. */
export interface ServiceLimits {
  readonly bodyBytes: number;
  /** Largest file that a steward may send to draft a policy for. */
  readonly fileBytes: number;
  /** Requests that read data at the same time, those that may wait for a turn, and the longest wait. */
  readonly working: number;
  readonly waiting: number;
  readonly waitMilliseconds: number;
  /** Long computations at the same time, each on a thread of its own. */
  readonly figures: number;
  /** Jobs that run at the same time, and those of one token that have not ended. */
  readonly jobsWorking: number;
  readonly jobsEach: number;
  /** Files that are being sent at the same time. */
  readonly sending: number;
  /** Interval at which listeners of a job receive a heartbeat and their permission is checked. */
  readonly heartbeatMilliseconds: number;
  /** Rate limit of one token: at once, and per second. */
  readonly burst: number;
  readonly perSecond: number;
  /** Rate limit of wrong tokens from one address. */
  readonly guesses: number;
  /** Answers from data take a multiple of this many milliseconds; with 0, as long as they need. */
  readonly bucketMilliseconds: number;
}

export const defaultServiceLimits: ServiceLimits = {
  bodyBytes: 4 * 2 ** 20,
  fileBytes: 256 * 2 ** 20,
  working: 4,
  waiting: 200,
  waitMilliseconds: 10_000,
  figures: 2,
  jobsWorking: 2,
  jobsEach: 16,
  sending: 4,
  heartbeatMilliseconds: 15_000,
  burst: 100,
  perSecond: 50,
  guesses: 20,
  bucketMilliseconds: 0,
};
