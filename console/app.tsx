import { useCallback, useEffect, useState } from 'preact/hooks';
import { problemFrom } from './api/client.ts';
import { currentSession } from './api/session.ts';
import type { Problem, Session } from './api/shapes.ts';
import { Console } from './console.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { FaultNotice, Placeholder } from './parts/notices.tsx';

type Door =
  | { readonly state: 'looking' }
  | { readonly state: 'outside'; readonly ended: boolean }
  | { readonly state: 'inside'; readonly session: Session }
  | { readonly state: 'fault'; readonly problem: Problem };

/** Sign-in state: nobody, a session, or a session that has just ended. */
export function App({ code }: { readonly code: string | undefined }) {
  const [door, setDoor] = useState<Door>(code === undefined ? { state: 'looking' } : { state: 'outside', ended: false });
  const look = useCallback(() => {
    currentSession().then(
      (session) => setDoor({ state: 'inside', session }),
      (error: unknown) => {
        const problem = problemFrom(error);
        setDoor(problem.status === 401 ? { state: 'outside', ended: false } : { state: 'fault', problem });
      },
    );
  }, []);
  // Once, when the page is opened.
  useEffect(() => {
    if (code === undefined) look();
  }, []);
  if (door.state === 'looking')
    return (
      <main class="door">
        <div class="panel">
          <Placeholder height={220} />
        </div>
      </main>
    );
  if (door.state === 'fault')
    return (
      <main class="door">
        <div class="panel">
          <h1>Fugu</h1>
          <FaultNotice problem={door.problem} again={look} />
        </div>
      </main>
    );
  if (door.state === 'outside')
    return (
      <SignIn
        code={door.ended ? undefined : code}
        ended={door.ended}
        onSignedIn={(session) => setDoor({ state: 'inside', session })}
      />
    );
  return <Console session={door.session} onLeft={(ended) => setDoor({ state: 'outside', ended })} />;
}
