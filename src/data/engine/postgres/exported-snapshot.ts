import type { RawRows } from './connection.js';

/** Statements that begin a transaction, export its snapshot and identify its state. */
export const beginSnapshot = [
  'BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY',
  'SELECT pg_last_wal_replay_lsn()',
  // A server that was brought back from a copy counts its transactions anew, but has been started since.
  "SELECT pg_export_snapshot(), concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time())",
  'SELECT pg_is_in_recovery(), pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()',
].join('; ');

export interface ExportedSnapshot {
  readonly snapshot: string;
  /** Equal for two snapshots between which nothing was committed; absent if that cannot be known. */
  readonly state?: string;
}

/**
 * A standby does not report which running transactions a snapshot excludes: two snapshots may look alike and differ by one that has
 * ended. There the log position identifies the state, if all received log was replayed before the snapshot and none arrived since.
 */
export function exportedSnapshot(begun: readonly RawRows[]): ExportedSnapshot {
  const [[before], [snapshot, state], [following, received, after]] = begun.slice(-3).map(({ rows }) => rows[0]!) as [
    [string | null],
    [string, string],
    [string, string | null, string | null],
  ];
  if (following !== 't') return { snapshot, state };
  const settled = received !== null && before === received && after === received;
  return { snapshot, ...(settled && { state: `${state} ${received}` }) };
}
