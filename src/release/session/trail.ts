/**
 * By which names the log of a database knows what it was asked for one entry of the ledger. Nothing in it depends on the data, and it is for whoever keeps an audit
 * log: receipts are published, and do not hold it.
 */
export interface Trail {
  readonly entry: number;
  readonly analyst: string;
  readonly label: string;
  /** Query ids of a cluster, process numbers of a server; none for files. */
  readonly queries: readonly string[];
}
