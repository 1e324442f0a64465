import { viewClause } from '../data-view.js';
import { relationTuples } from '../relation-tuples.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { trino } from './dialect.js';
import type { TrinoTable } from './table.js';

/**
 * WITH clauses of a relation: distinct, complete tuples of names c0, c1, …; a symmetric one has ties between two different
 * members, in both directions. The cluster caches nothing between references, so the table is read once per reference.
 */
export function trinoRelationViews(table: TrinoTable, relation: RelationSource): readonly string[] {
  const { keys, extra, all, complete, once } = relationTuples(trino, table, relation, spellsWhole);
  const whole = `SELECT ${[...keys, ...extra].join(', ')} FROM (${all}) AS tuples WHERE ${complete}`;
  const both = `SELECT ${['ends.c0', 'ends.c1', ...extra].join(', ')} FROM (${whole}) AS tied CROSS JOIN UNNEST(ARRAY[tied.c0, tied.c1], ARRAY[tied.c1, tied.c0]) AS ends(c0, c1)`;
  const view = `SELECT ${once} FROM (${relation.symmetric ? both : whole}) AS every GROUP BY ${keys.join(', ')}`;
  return [viewClause(relationView(relation.name), view)];
}

const spellsWhole = (text: string): string => `regexp_like(${text}, '\\A\\s*[+]?[0-9]+([.]0*)?\\s*\\z')`;
