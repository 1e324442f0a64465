import { Fault, type Outcome } from '../../base/errors.js';
import { secretBytes } from '../../privacy/noise/bits.js';
import { asFault, notSpent, OutcomeLog } from '../../release/session/outcome.js';
import type { Plan } from '../../release/session/plan.js';
import { Job, type JobView } from './job.js';
import type { ServiceLimits } from './limits.js';
import { notFound, Refusal } from './problem.js';
import type { Caller } from './route.js';
import { Turns } from './turns.js';

/** Callbacks between a job and its work. */
export interface JobContext {
  readonly progress: (done: number, of: number, what: string) => void;
  /** Called before any budget is reserved. */
  readonly decide: (plan: Plan) => Promise<void>;
  readonly outcomes: OutcomeLog;
  readonly isCancelled: () => boolean;
}

/** Most ended jobs that stay visible: their answers are in the ledger anyway. */
const mostKept = 200;
const keptFor = 3_600_000;

/**
 * Jobs run in the background. Cancelled before reserving, a job spends nothing; after that it is finished and recorded, as a paid
 * answer must not be lost. Jobs end with their process, reserved costs do not.
 */
export class Jobs {
  readonly #turns: Turns;
  readonly #each: number;
  /** Prefix of all job names of this process. */
  readonly #process = secretBytes(4).toString('hex');
  readonly #jobs = new Map<string, Job>();
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor({ jobsWorking, jobsEach, waiting }: ServiceLimits) {
    this.#turns = new Turns(jobsWorking, waiting);
    this.#each = jobsEach;
  }

  get underWay(): number {
    return this.#running.size;
  }

  begin(caller: Caller, policy: string, work: (jobContext: JobContext) => Promise<object>): JobView {
    this.#forget();
    const own = [...this.#jobs.values()].filter((job) => job.owner === caller.id && !job.isOver).length;
    if (own >= this.#each)
      throw new Refusal({
        status: 429,
        code: 'BUSY',
        title: 'This token has too many jobs that have not ended.',
        hint: 'Wait for one, or cancel it.',
        wait: 5,
      });
    const job = new Job(`${this.#process}${secretBytes(16).toString('hex')}`, caller.id, policy);
    this.#jobs.set(job.id, job);
    const running = this.#run(job, work);
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
    return job.view();
  }

  /** A job that is not visible to the caller is reported as missing. */
  find(caller: Caller, id: string): Job {
    const job = this.#jobs.get(id);
    const opens = job && (caller.policies === undefined || caller.policies.includes(job.policy));
    if (!job || !opens || (job.owner !== caller.id && caller.role !== 'steward'))
      throw notFound(
        'There is no such job.',
        id.startsWith(this.#process)
          ? 'Jobs are kept for an hour. Ask the same again: recorded answers are free.'
          : 'A job is known only to the process that runs it, and ends with it. Let the proxy send you to one process, or ask the same again: recorded answers are free.',
      );
    return job;
  }

  /** Begins no more jobs, and closes all listeners. */
  stop(): void {
    this.#stopping = true;
    for (const job of this.#jobs.values()) {
      if (job.state === 'waiting') job.cancel();
      job.closeListeners();
    }
  }

  async ended(): Promise<void> {
    await Promise.allSettled([...this.#running]);
  }

  async #run(job: Job, work: (jobContext: JobContext) => Promise<object>): Promise<void> {
    const back = await this.#turns.take();
    try {
      if (!back) throw new Fault('LEDGER_BUSY', 'Too many jobs wait already.', 'Ask again later.', { outcome: notSpent });
      if (job.isCancelled || this.#stopping) {
        job.end({ state: 'cancelled', outcome: notSpent });
        return;
      }
      job.begin();
      const outcomes = new ReportingOutcomes((outcome) => job.noteOutcome(outcome));
      const answer = await work({
        progress: (done, of, what) => job.progress({ done, of, what }),
        outcomes,
        isCancelled: () => job.isCancelled,
        decide: async () => {
          if (job.isCancelled)
            throw new Fault('USAGE', 'The job was cancelled.', 'No cost was booked for it.', { outcome: notSpent });
        },
      });
      job.end({ state: job.isCancelled ? 'cancelled' : 'done', answer });
    } catch (error) {
      job.end({ state: job.isCancelled ? 'cancelled' : 'failed', fault: asFault(error) });
    } finally {
      back?.();
    }
  }

  #forget(): void {
    const over = [...this.#jobs.values()].filter((job) => job.isOver);
    const old = Date.now() - keptFor;
    for (const [k, job] of over.entries()) if (k < over.length - mostKept || (job.endedAt ?? 0) < old) this.#jobs.delete(job.id);
  }
}

/** Reports each reservation at once. */
class ReportingOutcomes extends OutcomeLog {
  readonly #report: (outcome: Outcome) => void;
  constructor(report: (outcome: Outcome) => void) {
    super();
    this.#report = report;
  }
  override note(outcome: Outcome): void {
    super.note(outcome);
    this.#report(outcome);
  }
}
