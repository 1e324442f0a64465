import type { Expr, PGNode } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';

/** SQL text of the request, with positions for messages. */
export class SqlText {
  readonly text: string;
  /** Substitutions, in sentences: an answer computed in place of the one requested. */
  readonly instead = new Set<string>();
  readonly #names: readonly string[];
  readonly #person: string | undefined;
  readonly #declared: ReadonlySet<string>;
  constructor(text: string, names: Iterable<string> = [], person?: string) {
    this.text = text;
    this.#declared = new Set(names);
    this.#names = [...this.#declared, ...(person === undefined ? [] : [person])];
    this.#person = person;
  }
  /** True for a column that names persons and is not declared as an answer as well. */
  isOnlyPerson(name: string, table?: string): boolean {
    return this.isPerson(name, table) && !this.#declared.has(this.#person!);
  }
  /** True for the column that names the persons of the rows. */
  isPerson(name: string, table?: string): boolean {
    return this.#person !== undefined && this.named(name, table) === this.#person;
  }
  /** Resolves names where several tables are joined; `table` is the qualifier before a name. */
  scope: ((name: string, table?: string) => string) | undefined;
  /** SQL folds names without quotes to small letters: the one declared name that differs in case only is meant. */
  named(name: string, table?: string): string {
    return this.scope?.(name, table) ?? this.declared(name);
  }
  declared(name: string): string {
    return declaredSpelling(this.#names, name);
  }
  /** True where the policy, or the joined tables, have a column of that name. */
  isColumn(name: string): boolean {
    return this.#names.includes(name) || this.joined.has(name);
  }
  /** Columns of the joined tables. */
  joined: ReadonlySet<string> = new Set();
  where(offset: number): string {
    const before = this.text.slice(0, offset).split('\n');
    return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
  }
  at(node: PGNode | undefined): string {
    return this.where(node?._location?.start ?? 0);
  }
}

export const refuse = (
  sql: SqlText,
  construct: string,
  node: PGNode | undefined,
  hint = 'Supported: SELECT keys and aggregates FROM a table, joined tables or rows per person WHERE … GROUP BY keys HAVING … ORDER BY … LIMIT n (docs/reference/queries/sql.md).',
): Fault => new Fault('QUERY_UNSUPPORTED', `SQL: ${construct} is not supported (${sql.at(node)}).`, hint);

/** Refuses the first of the named parts a node has. */
export function refuseAll<N extends PGNode>(
  sql: SqlText,
  node: N,
  parts: Readonly<Record<string, string>>,
  { suffix = '', hint }: { readonly suffix?: string; readonly hint?: string | undefined } = {},
): void {
  for (const [key, construct] of Object.entries(parts)) {
    const found = (node as unknown as Record<string, unknown>)[key];
    if (found === undefined || found === null || (Array.isArray(found) && found.length === 0)) continue;
    const first = (Array.isArray(found) ? found[0] : found) as PGNode | string;
    throw refuse(sql, `${construct}${suffix}`, typeof first === 'object' && first._location ? first : node, hint);
  }
}

export function declaredSpelling(names: readonly string[], name: string): string {
  if (names.includes(name)) return name;
  const alike = names.filter((n) => n.toLowerCase() === name.toLowerCase());
  return alike.length === 1 ? alike[0]! : name;
}

/** The column a reference names. */
export function referencedColumn(sql: SqlText, expr: Expr): string {
  if (expr.type === 'ref' && expr.name !== '*') return sql.named(expr.name, expr.table?.name);
  throw refuse(sql, expr.type === 'ref' ? '*' : `an expression in place of a column`, expr);
}

/** Identities of persons can be counted, and used in no other way. */
export function refusePerson(sql: SqlText, expr: Expr): void {
  if (expr.type !== 'ref' || expr.name === '*' || !sql.isOnlyPerson(expr.name, expr.table?.name)) return;
  throw refuse(
    sql,
    `"${expr.name}", which names persons, in an expression or condition`,
    expr,
    `No release is about single persons. How many have such rows: COUNT(DISTINCT ${expr.name}) FILTER (WHERE kind = 'a').`,
  );
}
