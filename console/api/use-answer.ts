import { useCallback, useEffect, useState } from 'preact/hooks';
import { call, problemFrom } from './client.ts';
import type { Problem } from './shapes.ts';

export type Loadable<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'fault'; readonly problem: Problem };

/** Response to a path, loaded again when the path changes or on request. The old one stays meanwhile, so the page does not jump. */
export function useAnswer<T>(path: string | undefined): readonly [Loadable<T>, again: () => void] {
  const [answer, setAnswer] = useState<Loadable<T> & { readonly path?: string | undefined }>({ state: 'loading' });
  const [turn, setTurn] = useState(0);
  // Another turn loads the same path again.
  useEffect(() => {
    if (path === undefined) return;
    const stop = new AbortController();
    call<T>(path, { signal: stop.signal }).then(
      (value) => setAnswer({ state: 'done', value, path }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAnswer({ state: 'fault', problem: problemFrom(error), path });
      },
    );
    return () => stop.abort();
  }, [path, turn]);
  const again = useCallback(() => setTurn((t) => t + 1), []);
  return [answer.path === path ? answer : { state: 'loading' }, again];
}
