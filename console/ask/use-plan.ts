import { useEffect, useState } from 'preact/hooks';
import { call, problemFrom } from '../api/client.ts';
import type { Plan, Problem, QuestionRequest } from '../api/shapes.ts';

export interface Planned {
  readonly plan?: Plan;
  readonly problem?: Problem;
  /** True while the shown plan belongs to an earlier request. */
  readonly waiting: boolean;
}

const pause = 250;

/** Plan of the current request, loaded after a pause in typing; the last one stays until the next arrives. */
export function usePlan(policy: string, asking: QuestionRequest | undefined, turn: number): Planned {
  const [found, setFound] = useState<{ readonly of?: string; readonly plan?: Plan; readonly problem?: Problem }>({});
  const body = asking && JSON.stringify(asking);
  // After a release the same request is planned again.
  const wanted = `${policy} ${turn} ${body}`;
  useEffect(() => {
    if (body === undefined) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<Plan>(`/v1/policies/${encodeURIComponent(policy)}/plan`, {
        method: 'POST',
        body: JSON.parse(body),
        signal: stop.signal,
      }).then(
        (plan) => setFound({ of: wanted, plan }),
        (error: unknown) => {
          if (!stop.signal.aborted) setFound({ of: wanted, problem: problemFrom(error) });
        },
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [policy, body, wanted]);
  const { of, ...rest } = found;
  return { ...rest, waiting: body !== undefined && of !== wanted };
}
