import { push } from '../graph/push.js';
import { linesPerUnit, mostInTable, type Pusher, tangents } from '../graph/tangents.js';
import type { MessageGraph } from './sweep.js';

/**
 * Converges messages of pairwise ties by updates in the order of the list and back; one round trip settles a tree listed in walk
 * order. Plain doubles: it proves nothing, belief-propagation.ts does.
 */
export interface ConvergeOptions {
  /** Stop when no message moved by more than this and this part of itself. */
  readonly within: number;
  readonly part: number;
  /** Updates of one message that may be spent. */
  readonly work: number;
  /** Working memory: an array by incidence, in which the messages are returned, and one with two entries per node. */
  readonly on: { readonly through: Float64Array; readonly state: Float64Array };
  /** Messages to start from, instead of none. */
  readonly start?: Float64Array;
  /** Stop when some record leaks more than this although its cap is larger. */
  readonly hopeless?: { readonly most: number; readonly caps: Float64Array };
}

export interface Converged {
  readonly found: Float64Array;
  readonly hopeless: boolean;
  readonly rounds: number;
}

export function converge(
  graph: MessageGraph,
  costs: Float64Array,
  caps: Float64Array,
  twin: number,
  pushed: (p: number, loss: number) => number,
  { within, part, work, on, start, hopeless }: ConvergeOptions,
): Converged {
  const { member, nodes, records } = graph;
  const size = member.length;
  // At 2u the total of node u, at 2u + 1 the largest message over one of its ties.
  const { through, state } = on;
  through.fill(0);
  for (let u = 0; u < nodes; u++) {
    state[2 * u] = costs[u]!;
    state[2 * u + 1] = caps[u]! - costs[u]!;
  }
  if (start)
    for (let p = 0; p < size; p++) {
      through[p] = pushed(p, start[p]!);
      state[2 * member[p]!]! += through[p]!;
    }
  const toTwin: Pusher = tangents(twin);
  const fromTwin = new Float64Array(twin > 0 ? nodes : 0);
  const meetTwins = () => {
    for (let u = 0; u < records; u++) {
      const brought = toTwin(Math.min(state[2 * u]! - fromTwin[u]!, state[2 * u + 1]!));
      state[2 * u]! += brought - fromTwin[u]!;
      fromTwin[u] = brought;
    }
  };
  const over = (): boolean => {
    if (!hopeless) return false;
    for (let u = 0; u < records; u++) if (state[2 * u]! > hopeless.most && hopeless.caps[u]! > hopeless.most) return true;
    return false;
  };
  const table = graph.commonOdds === undefined ? undefined : tangents(graph.commonOdds).table;
  let rounds = 0;
  let moved = 0;
  let given = false;
  do {
    if (twin > 0) meetTwins();
    const back = rounds % 2 === 0;
    moved = table
      ? alongTable(member, through, state, table, graph.commonOdds!, part, back)
      : along(member, through, state, pushed, part, back);
    rounds++;
    given = over();
  } while (!given && (moved > within || rounds < 2) && rounds * size < work);
  // The message over a tie is the total of its other end without this tie.
  for (let p = 0; p < size; p += 2) {
    const [u, w] = [2 * member[p]!, 2 * member[p + 1]!];
    const a = Math.max(0, Math.min(state[w]! - through[p + 1]!, state[u + 1]!));
    const b = Math.max(0, Math.min(state[u]! - through[p]!, state[w + 1]!));
    through[p] = a;
    through[p + 1] = b;
  }
  return { found: through, hopeless: given, rounds };
}

/** Updates both messages of every tie in turn; returns the largest change beyond the relative part. */
function along(
  member: Uint32Array,
  through: Float64Array,
  state: Float64Array,
  pushed: (p: number, loss: number) => number,
  part: number,
  back: boolean,
): number {
  const size = member.length;
  let moved = 0;
  for (let k = 0; k < size; k += 2) {
    const p = back ? size - 2 - k : k;
    const [u, w] = [2 * member[p]!, 2 * member[p + 1]!];
    const first = pushed(p, Math.max(0, Math.min(state[w]! - through[p + 1]!, state[u + 1]!)));
    const change = first - through[p]!;
    state[u]! += change;
    through[p] = first;
    const second = pushed(p + 1, Math.max(0, Math.min(state[u]! - first, state[w + 1]!)));
    const other = second - through[p + 1]!;
    state[w]! += other;
    through[p + 1] = second;
    moved = Math.max(moved, Math.abs(change) - part * first, Math.abs(other) - part * second);
  }
  return moved;
}

/** The same for equal ties, without any calls: large graphs spend most of their time here. */
function alongTable(
  member: Uint32Array,
  through: Float64Array,
  state: Float64Array,
  table: Float64Array,
  logOdds: number,
  part: number,
  back: boolean,
): number {
  const size = member.length;
  let moved = 0;
  for (let k = 0; k < size; k += 2) {
    const p = back ? size - 2 - k : k;
    const u = 2 * member[p]!;
    const w = 2 * member[p + 1]!;
    let loss = state[w]! - through[p + 1]!;
    if (loss > state[u + 1]!) loss = state[u + 1]!;
    if (loss < 0) loss = 0;
    let line = loss < mostInTable ? 2 * Math.floor(loss * linesPerUnit + 0.5) : -1;
    const first = line < 0 ? push(loss, logOdds) : table[line]! + table[line + 1]! * loss;
    let change = first - through[p]!;
    state[u]! += change;
    through[p] = first;
    change = (change < 0 ? -change : change) - part * first;
    if (change > moved) moved = change;
    loss = state[u]! - first;
    if (loss > state[w + 1]!) loss = state[w + 1]!;
    if (loss < 0) loss = 0;
    line = loss < mostInTable ? 2 * Math.floor(loss * linesPerUnit + 0.5) : -1;
    const second = line < 0 ? push(loss, logOdds) : table[line]! + table[line + 1]! * loss;
    change = second - through[p + 1]!;
    state[w]! += change;
    through[p + 1] = second;
    change = (change < 0 ? -change : change) - part * second;
    if (change > moved) moved = change;
  }
  return moved;
}
