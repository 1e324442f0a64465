import { useEffect, useState } from 'preact/hooks';
import { problemFrom } from '../api/client.ts';
import { signIn } from '../api/session.ts';
import type { Problem, Session } from '../api/shapes.ts';
import { Text } from '../parts/field.tsx';
import { icons } from '../parts/icons.tsx';
import { FaultNotice, Placeholder } from '../parts/notices.tsx';

/** Code of a one-time link, removed from the address before anything else, so that it enters no history. */
export function takeCode(): string | undefined {
  if (location.pathname !== '/login') return undefined;
  const code = location.hash.slice(1);
  history.replaceState(null, '', '/');
  return code === '' ? undefined : code;
}

/** By a one-time link, or by a token that a steward made. */
export function SignIn({
  code,
  ended,
  onSignedIn,
}: {
  readonly code?: string | undefined;
  /** The session has ended. */
  readonly ended: boolean;
  readonly onSignedIn: (session: Session) => void;
}) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [working, setWorking] = useState(code !== undefined);
  const enter = async (by: { readonly code: string } | { readonly token: string }) => {
    setWorking(true);
    setProblem(undefined);
    try {
      onSignedIn(await signIn(by));
    } catch (error) {
      setProblem(problemFrom(error));
      setWorking(false);
    }
  };
  // A code is good once.
  useEffect(() => {
    document.title = 'Sign in · Fugu';
    if (code !== undefined) void enter({ code });
  }, []);
  return (
    <main class="door">
      <form
        class="panel"
        onSubmit={(e) => {
          e.preventDefault();
          void enter({ token: token.trim() });
        }}
      >
        <span class="brand">
          {icons.fish}
          Fugu
        </span>
        <h1>Sign in</h1>
        {ended && !problem && <div class="note warn">Your session has ended. Sign in again; what you released is on record.</div>}
        {problem && <FaultNotice problem={problem} />}
        {working && code !== undefined ? (
          <Placeholder height={120} />
        ) : (
          <>
            <Text
              label="Token"
              hint={
                <>
                  Starts with <code>fugu_</code>. A steward makes one with <code>fugu token make</code>, or opens a one-time link
                  with <code>fugu token link</code>.
                </>
              }
              type="password"
              autoComplete="off"
              value={token}
              onWrite={setToken}
            />
            <button type="submit" class="button main-action" disabled={working || token.trim() === ''}>
              {working ? 'Signing in …' : 'Sign in'}
            </button>
          </>
        )}
        <p class="small soft">Private statistics for data whose records know each other.</p>
      </form>
    </main>
  );
}
