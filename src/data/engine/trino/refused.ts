/** The cluster took a statement and could not answer it. Its own words are not kept: they quote cells. */
export class TrinoRefused extends Error {
  readonly errorName: string;
  /** By which the cluster knows the statement. */
  readonly query: string;
  constructor(errorName: string, query: string) {
    super('refused');
    this.errorName = errorName;
    this.query = query;
  }
}
