import { call, proveBy } from './client.ts';
import type { Session } from './shapes.ts';

const kept = (session: Session): Session => {
  proveBy(session.csrf ?? '');
  return session;
};

/** Session of the signed-in user; a refusal where nobody is signed in. */
export const currentSession = async (): Promise<Session> => kept(await call<Session>('/v1/session'));
export const signIn = async (by: { readonly code: string } | { readonly token: string }): Promise<Session> =>
  kept(await call<Session>('/v1/session', { method: 'POST', body: by }));
export const signOut = async (): Promise<void> => {
  await call('/v1/session', { method: 'DELETE' });
  proveBy('');
};
