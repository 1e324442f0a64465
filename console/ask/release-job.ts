import { call, Refused } from '../api/client.ts';
import type { Answer, Asking, Problem } from '../api/shapes.ts';

export interface JobView {
  readonly job: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  readonly progress?: { readonly done: number; readonly of: number; readonly what: string };
  readonly answer?: Answer;
  readonly problem?: Problem;
}

const over = new Set(['done', 'failed', 'cancelled']);

/**
 * Releases as a job with progress and cancellation; undefined when cancelled. What was reserved by then stays spent and is recorded:
 * the same query then returns the recorded answer.
 */
export async function releaseAsJob(policy: string, asking: Asking, tell: (view: JobView) => void): Promise<Answer | undefined> {
  const begun = await call<JobView>(`/v1/policies/${encodeURIComponent(policy)}/jobs`, { method: 'POST', body: asking });
  tell(begun);
  await ended(begun, tell);
  const { state, answer, problem } = await call<JobView>(`/v1/jobs/${begun.job}`);
  if (state === 'failed' && problem) throw new Refused(problem);
  return answer;
}

/** Listens until it is over; a connection that breaks is taken up again by the browser. */
function ended({ job }: JobView, tell: (view: JobView) => void): Promise<void> {
  return new Promise((done) => {
    const events = new EventSource(`/v1/jobs/${job}/events`);
    const heard = (event: MessageEvent<string>) => {
      const view = JSON.parse(event.data) as JobView;
      tell(view);
      if (!over.has(view.state)) return;
      events.close();
      done();
    };
    for (const name of ['progress', ...over]) events.addEventListener(name, heard as EventListener);
    // When the event stream has closed, the caller reads the job itself.
    events.addEventListener('error', () => {
      if (events.readyState === EventSource.CLOSED) done();
    });
  });
}

export const cancelJob = (job: string): Promise<unknown> => call(`/v1/jobs/${job}`, { method: 'DELETE' });
