import { viewClause } from '../data-view.js';
import { relationTuples, serverOdds } from '../relation-tuples.js';
import type { ShownTable } from '../shown-table.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { trino } from './dialect.js';

/**
 * WITH clauses of a relation: distinct, complete tuples of names c0, c1, …; a symmetric one has ties between two different
 * members, in both directions. The cluster caches nothing between references, so the table is read once per reference.
 */
export function trinoRelationViews(table: ShownTable, relation: RelationSource): readonly string[] {
  const { listed, cells, named, complete, once } = relationTuples(trino, table, relation, { oddsIn });
  const whole = `SELECT ${listed} FROM (SELECT ${named} FROM (${cells}) AS cells) AS tuples WHERE ${complete}`;
  const ends = `ends.c0, ends.c1${relation.odds === undefined ? '' : ', odds'}`;
  const both = `SELECT ${ends} FROM (${whole}) AS tied CROSS JOIN UNNEST(ARRAY[tied.c0, tied.c1], ARRAY[tied.c1, tied.c0]) AS ends(c0, c1)`;
  return [viewClause(relationView(relation.name), once(relation.symmetric ? both : whole))];
}

const oddsIn = serverOdds(trino, (text) => `regexp_like(${text}, '\\A\\s*[+]?[0-9]+([.]0*)?\\s*\\z')`);
