import { tuplesOf } from '../relation-tuples.js';
import { seen } from '../shown.js';
import type { RelationSource } from '../source.js';
import { relationView } from '../structure.js';
import { trino } from './dialect.js';
import type { Table } from './table.js';

/**
 * What has to stand behind WITH for a relation: its tuples as c0, c1, … are names, each tuple once, none incomplete. A symmetric one holds ties between two
 * different members, both ways round. The table is read once wherever it is mentioned: the cluster keeps nothing between two mentions.
 */
export function relationViews(table: Table, relation: RelationSource): readonly string[] {
  const { keys, extra, all, complete, once } = tuplesOf(trino, table, relation, spellsWhole);
  const whole = `SELECT ${[...keys, ...extra].join(', ')} FROM (${all}) AS tuples WHERE ${complete}`;
  const both = `SELECT ${['ends.c0', 'ends.c1', ...extra].join(', ')} FROM (${whole}) AS tied CROSS JOIN UNNEST(ARRAY[tied.c0, tied.c1], ARRAY[tied.c1, tied.c0]) AS ends(c0, c1)`;
  const view = `SELECT ${once} FROM (${relation.symmetric ? both : whole}) AS every GROUP BY ${keys.join(', ')}`;
  return [seen(relationView(relation.name), view)];
}

const spellsWhole = (text: string): string => `regexp_like(${text}, '\\A\\s*[+]?[0-9]+([.]0*)?\\s*\\z')`;
