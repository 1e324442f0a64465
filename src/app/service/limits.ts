/** How much of the service anybody may have. */
export interface ServiceLimits {
  readonly bodyBytes: number;
  /** Of a file that a steward sends to draft a policy for. */
  readonly fileBytes: number;
  /** Requests that read data at the same time, those that may wait for a turn, and for how long. */
  readonly working: number;
  readonly waiting: number;
  readonly waitMilliseconds: number;
  /** Long figures that are worked out at the same time, each on a thread of its own. */
  readonly figures: number;
  /** Jobs that run at the same time, and those of one token that have not ended. */
  readonly jobsWorking: number;
  readonly jobsEach: number;
  /** Files that are being sent at the same time. */
  readonly sending: number;
  /** How often those who listen to a job are told that it goes on, and asked whether they may. */
  readonly heartbeatMilliseconds: number;
  /** Of one token: at once, and a second. */
  readonly burst: number;
  readonly perSecond: number;
  /** Wrong tokens of one address. */
  readonly guesses: number;
  /** What reads data takes a whole number of so many milliseconds to answer; 0: as long as it takes. */
  readonly bucketMilliseconds: number;
}

export const usualLimits: ServiceLimits = {
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
