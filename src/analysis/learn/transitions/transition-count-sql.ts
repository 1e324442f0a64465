/**
 * Counts of state b one step after state a, from rows with `who`, moment p0 and state p1. A moment with several rows of one person is
 * not counted, so that a row is in two pairs at most, whatever the others are (learn-transitions.proof.md).
 */
export function transitionCountSql(rows: string): string {
  const moments = `SELECT who, p0 AS moment, min(p1) AS what, count(*) AS copies FROM (${rows}) AS steps WHERE who IS NOT NULL AND p0 IS NOT NULL GROUP BY who, p0`;
  const next = (column: string) => `lead(${column}) OVER (PARTITION BY who ORDER BY moment)`;
  const pairs = `SELECT what AS before, moment, copies, ${next('what')} AS now, ${next('moment')} AS later, ${next('copies')} AS later_copies FROM (${moments}) AS moments`;
  const alone = 'copies = 1 AND later_copies = 1';
  return `SELECT before, now, count(*) FROM (${pairs}) AS pairs WHERE ${alone} AND later = moment + 1 AND before IS NOT NULL AND now IS NOT NULL GROUP BY before, now`;
}
