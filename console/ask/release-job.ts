import { call, RequestFailed } from '../api/client.ts';
import type { Answer, Problem, QuestionRequest } from '../api/shapes.ts';

export interface JobStatus {
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
export async function releaseAsJob(
  policy: string,
  asking: QuestionRequest,
  onChange: (view: JobStatus) => void,
): Promise<Answer | undefined> {
  const begun = await call<JobStatus>(`/v1/policies/${encodeURIComponent(policy)}/jobs`, { method: 'POST', body: asking });
  onChange(begun);
  await ended(begun, onChange);
  const { state, answer, problem } = await call<JobStatus>(`/v1/jobs/${begun.job}`);
  if (state === 'failed' && problem) throw new RequestFailed(problem);
  return answer;
}

/** Listens until it is over; a connection that breaks is taken up again by the browser. */
function ended({ job }: JobStatus, onChange: (view: JobStatus) => void): Promise<void> {
  return new Promise((done) => {
    const events = new EventSource(`/v1/jobs/${job}/events`);
    const onEvent = (event: MessageEvent<string>) => {
      const view = JSON.parse(event.data) as JobStatus;
      onChange(view);
      if (!over.has(view.state)) return;
      events.close();
      done();
    };
    for (const name of ['progress', ...over]) events.addEventListener(name, onEvent as EventListener);
    // When the event stream has closed, the caller reads the job itself.
    events.addEventListener('error', () => {
      if (events.readyState === EventSource.CLOSED) done();
    });
  });
}

export const cancelJob = (job: string): Promise<unknown> => call(`/v1/jobs/${job}`, { method: 'DELETE' });
