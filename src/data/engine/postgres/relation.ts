import { viewClause } from '../data-view.js';
import { relationTuples, serverOdds } from '../relation-tuples.js';
import type { ShownTable } from '../shown-table.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { postgres } from './dialect.js';

/**
 * WITH clauses of a relation: distinct, complete tuples of names c0, c1, …; a symmetric one has ties between
 * two different members, in both directions. Computed once per statement, however often it is joined.
 */
export function postgresRelationViews(table: ShownTable, relation: RelationSource): readonly string[] {
  const { listed, cells, named, complete, once } = relationTuples(postgres, table, relation, { oddsIn });
  const view = relationView(relation.name);
  const odds = relation.odds === undefined ? '' : ', odds';
  const ordered = relation.symmetric ? `least(c0, c1) AS c0, greatest(c0, c1) AS c1${odds}` : listed;
  const tuples = once(`SELECT ${ordered} FROM (SELECT ${named} FROM (${cells}) AS cells) AS named WHERE ${complete}`);
  const all = relation.symmetric
    ? `SELECT c0, c1${odds} FROM ${view}_once UNION ALL SELECT c1, c0${odds} FROM ${view}_once`
    : `SELECT * FROM ${view}_once`;
  return [`${view}_once AS MATERIALIZED (${tuples})`, viewClause(view, all)];
}

const oddsIn = serverOdds(postgres, (text) => `${postgres.short!(text)} ~ '^\\s*[+]?[0-9]+([.]0*)?\\s*$'`);
