import { Fault, type FaultPlace } from '../../../base/errors.js';
import type { Model } from './model.js';
import type { ValueLevels } from './value-levels.js';

/** A Bayesian network over categorical columns. */
export interface Network {
  readonly name: string;
  readonly variables: readonly NetworkVariable[];
  /** Privacy accounting of how it was learned; absent if the network was declared by somebody. */
  readonly origin?: NetworkOrigin;
  /** Digest of the values and levels it was learned over. */
  readonly resolution?: string;
}

export interface NetworkVariable {
  readonly name: string;
  readonly values: readonly string[];
  /** Levels of a column's declared values, one per network value; when absent, each value names itself. */
  readonly levels?: ValueLevels;
  /** Positions in `variables`. */
  readonly parents: readonly number[];
  /** P(variable | parents): C order over the parents as listed, then the variable itself (fastest). Each row sums to one. */
  readonly table: Float64Array;
}

export type NetworkOrigin =
  /** Read from the private rows and not paid for: no guarantee may rest on it silently. */
  | { readonly learned: 'unpaid' }
  | { readonly learned: 'paid'; readonly epsilon: string; readonly delta: string }
  | { readonly learned: 'public'; readonly from: string };

export const networkFormat = 'fugu-network/1';
/** A table with more cells than this is not something a person declared. */
const largestTable = 2 ** 22;
const largestNetwork = 10_000;

const invalid = (message: string, hint: string, place?: FaultPlace): Fault =>
  new Fault('MODEL_INVALID', message, hint, place ? { place } : {});

/**
 * The only way to make a network: distinct names, known parents without a cycle, tables of the right size, rows that are
 * distributions. Rows that are off by rounding are normalised; anything worse is a fault.
 */
export function makeNetwork(
  name: string,
  variables: readonly NetworkVariable[],
  origin?: NetworkOrigin,
  place?: FaultPlace,
): Network {
  if (variables.length === 0) throw invalid('The network has no variables.', 'Declare at least one.', place);
  if (variables.length > largestNetwork)
    throw new Fault('MODEL_TOO_LARGE', 'The network has too many variables.', `The limit is ${largestNetwork}.`);
  const seen = new Set<string>();
  const checked = variables.map((variable) => {
    if (seen.has(variable.name)) throw invalid(`Variable "${variable.name}" is declared twice.`, 'Remove one.', place);
    seen.add(variable.name);
    if (variable.values.length === 0 || new Set(variable.values).size !== variable.values.length)
      throw invalid(`Variable "${variable.name}" has no values or repeats one.`, 'List each value once.', place);
    if (variable.levels && variable.levels.length !== variable.values.length)
      throw invalid(`Variable "${variable.name}" has not as many levels as values.`, 'Give one level per value.', place);
    const parents = new Set(variable.parents);
    if (parents.size !== variable.parents.length || variable.parents.some((p) => !variables[p]))
      throw invalid(`Variable "${variable.name}" has an unknown or repeated parent.`, 'Name each parent once.', place);
    return { ...variable, table: distributions(variable, cells(variables, variable), place) };
  });
  refuseCycle(checked, place);
  return { name, variables: checked, ...(origin && { origin }) };
}

const cells = (variables: readonly NetworkVariable[], variable: NetworkVariable): number => {
  const size = variable.parents.reduce((product, p) => product * variables[p]!.values.length, variable.values.length);
  if (size > largestTable)
    throw new Fault('MODEL_TOO_LARGE', `The table of "${variable.name}" is too large.`, `The limit is ${largestTable} cells.`, {
      details: { size, limit: largestTable },
    });
  return size;
};

function distributions(variable: NetworkVariable, size: number, place?: FaultPlace): Float64Array {
  const wrong = (what: string): Fault =>
    invalid(`The table of "${variable.name}" ${what}.`, 'One probability per combination of parent values and own value.', place);
  if (variable.table.length !== size) throw wrong(`has ${variable.table.length} entries instead of ${size}`);
  const table = Float64Array.from(variable.table);
  const width = variable.values.length;
  for (let row = 0; row < size; row += width) {
    let total = 0;
    for (let v = row; v < row + width; v++) {
      if (!(table[v]! >= 0 && table[v]! <= 1.001)) throw wrong('has an entry that is not a probability');
      total += table[v]!;
    }
    if (Math.abs(total - 1) > 0.02) throw wrong(`has a row that sums to ${total.toPrecision(4)}`);
    if (total !== 1) for (let v = row; v < row + width; v++) table[v]! /= total;
  }
  return table;
}

function refuseCycle(variables: readonly NetworkVariable[], place?: FaultPlace): void {
  if (topologicalOrder(variables.map((v) => v.parents)).length < variables.length)
    throw invalid('The network has a directed cycle.', 'Parents must come before children in some order.', place);
}

/** Parents before children; shorter than the input when there is a cycle. */
export function topologicalOrder(parents: readonly (readonly number[])[]): readonly number[] {
  const children: number[][] = parents.map(() => []);
  const waiting = parents.map((list) => list.length);
  parents.forEach((list, x) => {
    for (const p of list) children[p]?.push(x);
  });
  const order = parents.map((_, x) => x).filter((x) => waiting[x] === 0);
  for (let i = 0; i < order.length; i++) for (const c of children[order[i]!]!) if (--waiting[c]! === 0) order.push(c);
  return order;
}

/** A network's table is one factor over the child and all its parents: splitting it into pairs would be unsound (xor). */
export const networkModel = (network: Network): Model => ({
  ids: network.variables.map((v) => v.name),
  values: network.variables.map((v) => v.values.map((_, i) => i)),
  factors: network.variables.map((v, x) => ({ records: [...v.parents, x], table: v.table })),
});
