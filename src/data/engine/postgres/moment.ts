import type { Written } from './connection.js';

/** Begins a moment for others to see, and asks by what it is known again. */
export const beginMoment = [
  'BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY',
  'SELECT pg_last_wal_replay_lsn()',
  // A server that was brought back from a copy counts its transactions anew, but has been started since.
  "SELECT pg_export_snapshot(), concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())",
  'SELECT pg_is_in_recovery(), pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()',
].join('; ');

export interface Moment {
  readonly snapshot: string;
  /** The same for two moments between which nothing was committed; absent where nothing tells. */
  readonly state?: string;
}

/**
 * A server that follows another does not say which transactions under way a snapshot leaves out: two snapshots may be called alike and differ by one that has
 * ended. There the place in its log tells, where all that has come was replayed before the snapshot was taken and nothing came since.
 */
export function momentOf(begun: readonly Written[]): Moment {
  const [[before], [snapshot, state], [following, received, after]] = begun.slice(-3).map(({ rows }) => rows[0]!) as [
    [string | null],
    [string, string],
    [string, string | null, string | null],
  ];
  if (following !== 't') return { snapshot, state };
  const settled = received !== null && before === received && after === received;
  return { snapshot, ...(settled && { state: `${state} ${received}` }) };
}
