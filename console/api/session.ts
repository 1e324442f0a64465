import { call, setCsrfToken } from './client.ts';
import type { Session } from './shapes.ts';

const rememberSession = (session: Session): Session => {
  setCsrfToken(session.csrf ?? '');
  return session;
};

/** Session of the signed-in user; a refusal where nobody is signed in. */
export const currentSession = async (): Promise<Session> => rememberSession(await call<Session>('/v1/session'));
export const signIn = async (by: { readonly code: string } | { readonly token: string }): Promise<Session> =>
  rememberSession(await call<Session>('/v1/session', { method: 'POST', body: by }));
export const signOut = async (): Promise<void> => {
  await call('/v1/session', { method: 'DELETE' });
  setCsrfToken('');
};
