import { isNumber } from '../../../policy/domain.js';
import type { StructuralZeros } from '../../graphical/fit.js';
import type { CodedColumn } from '../../learn/network/read-coded.js';

/** Distance of two members in a column of their own, in few values: equal or not; for numbers also the number of bins between. */
export interface MemberDistance {
  /** Index among the own columns. */
  readonly of: number;
  readonly width: number;
  /** 0 is equal; the last is any other, or the largest distance and more. */
  readonly places: number;
}

const bins = 4;
/** Cells of the joint marginal of both members' columns and their distance, which the model must hold. */
const maxDistanceCells = 2 ** 14;

/** Distances for wide columns only; a table of both answers covers columns with few. */
export function memberDistances(coded: readonly CodedColumn[], own: readonly number[]): readonly MemberDistance[] {
  return own.flatMap((c, of) => {
    const { column, size: width } = coded[c]!;
    const places = isNumber(column) && width > bins + 1 ? bins : 2;
    return width > 3 && width * width * places <= maxDistanceCells ? [{ of, width, places }] : [];
  });
}

export const distanceLabels = (places: number): readonly string[] =>
  Array.from({ length: places }, (_, k) => {
    if (k === 0) return 'the same';
    if (k < places - 1) return `${k} apart`;
    return places === 2 ? 'another' : `${k} or more`;
  });

/** A missing answer, the last value, equals no other. */
export function distanceBetween({ width, places }: MemberDistance, a: number, b: number): number {
  if (a === b) return 0;
  const none = width - 1;
  return a === none || b === none ? places - 1 : Math.min(Math.abs(a - b), places - 1);
}

/** Structural zeros: the distance of two answers follows from the answers. */
export function distanceZeros(distance: MemberDistance, one: number, another: number, at: number): StructuralZeros {
  const { width, places } = distance;
  const cells: number[] = [];
  for (let a = 0; a < width; a++)
    for (let b = 0; b < width; b++)
      for (let p = 0; p < places; p++) if (distanceBetween(distance, a, b) !== p) cells.push((a * width + b) * places + p);
  return { columns: [one, another, at], cells };
}
