import { addUp, mulUp } from '../../../base/exact/outward.js';
import { type Bag, type EliminationLimit, eliminate, type IsingTie } from './elimination.js';

/** Connected component of two-valued records with attractive ties. */
export interface IsingComponent {
  readonly costs: readonly number[];
  readonly ties: readonly IsingTie[];
}

/**
 * Upper bound on sum over j of c_ij e_j for every record i, c the correlation in the Ising model without fields
 * (attractive-bound.proof.md). Undefined if the tables would exceed the limit.
 */
export function correlationSums({ costs, ties }: IsingComponent, cost: EliminationLimit): Float64Array | undefined {
  const bags = eliminate(costs.length, ties, cost);
  if (!bags) return undefined;
  const whole = costs.reduce((sum, e) => addUp(sum, e), 0);
  const tables = bags.map((bag) => tableOf(bag, costs));
  for (const [k, bag] of bags.entries())
    passUp(bag, tables[k]!, bag.parent === undefined ? undefined : [bags[bag.parent]!, tables[bag.parent]!]);
  const out = new Float64Array(costs.length);
  const views: View[] = [];
  for (let k = bags.length - 1; k >= 0; k--) {
    const bag = bags[k]!;
    const above = bag.parent === undefined ? undefined : agreeing(bag, bags[bag.parent]!);
    const view = viewOf(tables[k]!, whole, above && [above, views[bag.parent!]!]);
    views[k] = view;
    const { sum, off } = ofFirst(view, whole);
    out[bag.nodes[0]!] = Math.min(whole, addUp(sum, mulUp(off, certain)));
  }
  return out;
}

/**
 * Unit roundoff of a double. Rounding errors are tracked to first order with every number; the factor `certain` exceeds all
 * neglected terms.
 */
const unit = 2 ** -53;
const certain = 1.01;

/**
 * Sums over the records eliminated up to a bag: by the values of its nodes (a row), and by those of all but the first (the
 * message to its parent).
 */
interface Table {
  readonly weight: Float64Array;
  /** Contribution of those records to S. */
  readonly worth: Float64Array;
  readonly message: Float64Array;
  readonly messageWorth: Float64Array;
  /** The largest |worth|. */
  reach: number;
  /** Relative for weights, absolute for worths. */
  weightOff: number;
  worthOff: number;
  messageWorthOff: number;
}

function tableOf({ nodes, ties }: Bag, costs: readonly number[]): Table {
  const rows = 2 ** nodes.length;
  const weight = new Float64Array(rows).fill(1);
  for (const { bits, disagreement } of ties)
    for (let row = 0; row < rows; row++) if ((row & bits) !== 0 && (row & bits) !== bits) weight[row]! *= disagreement;
  const own = costs[nodes[0]!]!;
  const worth = Float64Array.from(weight, (_, row) => (row & 1 ? own : -own));
  const none = { messageWorthOff: 0, worthOff: 0 };
  const messages = { message: new Float64Array(rows / 2), messageWorth: new Float64Array(rows / 2) };
  return { weight, worth, ...messages, reach: own, weightOff: ties.length * unit, ...none };
}

/** Pass up: sums over the first record of a bag; the result is the message to the parent. */
function passUp(bag: Bag, table: Table, up: readonly [Bag, Table] | undefined): void {
  const { weight, worth, message, messageWorth } = table;
  for (let rest = 0; rest < message.length; rest++) {
    const minus = weight[2 * rest]!;
    const plus = weight[2 * rest + 1]!;
    message[rest] = minus + plus;
    if (message[rest]! > 0) messageWorth[rest] = (minus * worth[2 * rest]! + plus * worth[2 * rest + 1]!) / message[rest]!;
  }
  table.messageWorthOff = table.worthOff + (2 * table.weightOff + 6 * unit) * table.reach;
  if (!up) return;
  const [parent, to] = up;
  const rows = agreeing(bag, parent);
  for (let row = 0; row < rows.length; row++) {
    to.weight[row]! *= message[rows[row]!]!;
    to.worth[row]! += messageWorth[rows[row]!]!;
  }
  scale(to.weight);
  to.reach = addUp(to.reach, table.reach);
  to.weightOff += table.weightOff + 2 * unit;
  to.worthOff += table.messageWorthOff + unit * to.reach;
}

/** Rows of the parent, each with the index of the child's message that agrees with it. */
function agreeing(child: Bag, parent: Bag): Uint32Array {
  const rows = new Uint32Array(2 ** parent.nodes.length);
  for (const [k, place] of child.places.entries())
    for (let row = 0; row < rows.length; row++) if (row & (1 << place)) rows[row]! |= 1 << k;
  return rows;
}

/** Scales by a power of two, which is exact, so that the largest weight of a table stays near 1. */
function scale(weight: Float64Array): void {
  let most = 0;
  for (const w of weight) if (w > most) most = w;
  const by = 2 ** -Math.ceil(Math.log2(most));
  for (let row = 0; row < weight.length; row++) weight[row]! *= by;
}

/** Marginal of all records on a bag: probability of each row, and the conditional expectation of S. */
interface View {
  readonly chance: Float64Array;
  readonly worth: Float64Array;
  readonly chanceOff: number;
  readonly worthOff: number;
}

/** Pass down: the rest of the graph depends on a bag only through the nodes shared with its parent. */
function viewOf(table: Table, whole: number, above: readonly [Uint32Array, View] | undefined): View {
  const { weight, message, messageWorth } = table;
  const known = new Float64Array(message.length);
  const beyond = new Float64Array(message.length);
  let knownOff = 0;
  let beyondOff = 0;
  if (above) {
    const [rows, view] = above;
    for (let row = 0; row < rows.length; row++) {
      known[rows[row]!]! += view.chance[row]!;
      beyond[rows[row]!]! += view.chance[row]! * view.worth[row]!;
    }
    for (let rest = 0; rest < known.length; rest++)
      beyond[rest] = known[rest]! > 0 ? beyond[rest]! / known[rest]! - messageWorth[rest]! : 0;
    knownOff = view.chanceOff + rows.length * unit;
    beyondOff = view.worthOff + (2 * knownOff + (rows.length + 4) * unit) * whole + table.messageWorthOff;
  } else known[0] = 1;
  const chance = new Float64Array(weight.length);
  const worth = new Float64Array(weight.length);
  for (let row = 0; row < weight.length; row++) {
    const rest = row >> 1;
    if (!(message[rest]! > 0)) continue;
    chance[row] = (known[rest]! * weight[row]!) / message[rest]!;
    worth[row] = table.worth[row]! + beyond[rest]!;
  }
  const chanceOff = knownOff + 2 * table.weightOff + 4 * unit;
  return { chance, worth, chanceOff, worthOff: table.worthOff + beyondOff + unit * whole };
}

/** Expectation of S given that the first record of the bag is +1. */
function ofFirst({ chance, worth, chanceOff, worthOff }: View, whole: number): { sum: number; off: number } {
  let plus = 0;
  let sum = 0;
  for (let row = 1; row < chance.length; row += 2) {
    plus += chance[row]!;
    sum += chance[row]! * worth[row]!;
  }
  return { sum: sum / plus, off: worthOff + (2 * chanceOff + (2 * chance.length + 4) * unit) * whole };
}
