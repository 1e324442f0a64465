import { type BoundPattern, goalKey } from './bind.js';
import { everyVariable } from './sensitivity.js';

/**
 * Number of assignments per occurrence: renamings of the variables that map goals, disequalities and filters to themselves. `free`:
 * every renaming moves every assignment, so occurrences are whole and the division is exact.
 */
export interface Automorphisms {
  readonly count: number;
  readonly free: boolean;
}

export function automorphisms(q: BoundPattern): Automorphisms {
  const variables = everyVariable(q);
  const goals = new Set(q.goals.map((g) => goalKey(g, q.relations)));
  const unequal = new Set(q.unequal.flatMap(([a, b]) => [`${a},${b}`, `${b},${a}`]));
  const filters = new Set(q.filters.map((f) => `${f.symbol}${f.op}${f.value}`));
  const to = new Map<number, number>();
  const image = (s: number) => (s < q.constants.length ? s : to.get(s));
  let count = 0;
  let free = q.head.length === variables.length && !q.sum;

  const fits = (): boolean =>
    q.goals.every((g) => {
      const mapped = g.symbols.map(image);
      return (
        mapped.some((s) => s === undefined) ||
        goals.has(goalKey({ relation: g.relation, symbols: mapped as number[] }, q.relations))
      );
    }) &&
    q.unequal.every(([a, b]) => {
      const [x, y] = [image(a), image(b)];
      return x === undefined || y === undefined || unequal.has(`${x},${y}`);
    }) &&
    q.filters.every((f) => image(f.symbol) === undefined || filters.has(`${image(f.symbol)}${f.op}${f.value}`));

  const extend = (i: number): void => {
    if (i === variables.length) {
      count++;
      const moves = variables.some((s) => to.get(s) !== s);
      if (moves && !variables.some((s) => unequal.has(`${s},${to.get(s)}`))) free = false;
      return;
    }
    for (const target of variables) {
      if ([...to.values()].includes(target)) continue;
      to.set(variables[i]!, target);
      if (fits()) extend(i + 1);
      to.delete(variables[i]!);
    }
  };
  extend(0);
  return { count, free };
}
