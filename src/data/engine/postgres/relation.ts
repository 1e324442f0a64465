import { viewClause } from '../data-view.js';
import { relationTuples } from '../relation-tuples.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { postgres } from './dialect.js';
import type { PostgresTable } from './table.js';

/**
 * WITH clauses of a relation: distinct, complete tuples of names c0, c1, …; a symmetric one has ties between
 * two different members, in both directions. Computed once per statement, however often it is joined.
 */
export function postgresRelationViews(table: PostgresTable, relation: RelationSource): readonly string[] {
  const view = relationView(relation.name);
  const once = `${view}_once`;
  const odds = relation.odds === undefined ? '' : ', odds';
  const all = relation.symmetric
    ? `SELECT c0, c1${odds} FROM ${once} UNION ALL SELECT c1, c0${odds} FROM ${once}`
    : `SELECT * FROM ${once}`;
  return [`${once} AS MATERIALIZED (${tuplesOnce(table, relation)})`, viewClause(view, all)];
}

function tuplesOnce(table: PostgresTable, relation: RelationSource): string {
  const { keys, extra, all, complete, once } = relationTuples(postgres, table, relation, spellsWhole);
  const sorted = relation.symmetric ? ['least(c0, c1) AS c0', 'greatest(c0, c1) AS c1'] : keys;
  return `SELECT ${once} FROM (SELECT ${[...sorted, ...extra].join(', ')} FROM (${all}) AS tuples WHERE ${complete}) AS sorted GROUP BY ${keys.join(', ')}`;
}

const spellsWhole = (text: string): string => `${postgres.short!(text)} ~ '^\\s*[+]?[0-9]+([.]0*)?\\s*$'`;
