/**
 * Names under which a database logs the queries for one ledger entry. For audit logs; independent of the data's content,
 * and absent from receipts, which are published.
 */
export interface QueryLog {
  readonly entry: number;
  readonly analyst: string;
  readonly label: string;
  /** Query ids of a cluster, process numbers of a server; none for files. */
  readonly queries: readonly string[];
}
