import type { PlaceGrid } from '../source.js';

/** Doubles go through text: a literal such as 0.1 would be read as a decimal. */
export const real = (x: number): string => `CAST('${x}' AS DOUBLE)`;

/** Neither NULL nor NaN nor infinite nor a missing code. NaN sorts above every number, so the range keeps out NaN and both infinities. */
export function presentIn(y: string, { missing }: PlaceGrid): string {
  const finite = `${y} BETWEEN ${real(-Number.MAX_VALUE)} AND ${real(Number.MAX_VALUE)}`;
  return missing.length > 0 ? `(${finite} AND ${y} NOT IN (${missing.map(real).join(', ')}))` : finite;
}

/** Where a present double stands on the grid: positionOf of policy/grid.ts, as an integer of 64 bits. */
export function placeIn(y: string, { from, top, rate }: PlaceGrid): string {
  const clamped = `CASE WHEN ${y} < ${real(from)} THEN ${real(from)} WHEN ${y} < ${real(top)} THEN ${y} ELSE ${real(top)} END`;
  return `TRY_CAST((${clamped}${from === 0 ? '' : ` - ${real(from)}`}) * ${real(rate)} AS BIGINT)`;
}

/** The place of a double in the least integer that holds all places, NULL where it has none. It cannot fail: a place lies between 0 and the last. */
export function storedPlace(y: string, grid: PlaceGrid): string {
  const type = grid.last < 2 ** 15 ? 'SMALLINT' : grid.last < 2 ** 31 ? 'INTEGER' : 'BIGINT';
  return `CASE WHEN ${presentIn(y, grid)} THEN TRY_CAST(${placeIn(y, grid)} AS ${type}) END`;
}
