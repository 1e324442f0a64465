import { tangents } from '../graph/tangents.js';
import { exceeds, type Hopeless, type MessageQuestion } from './sweep.js';

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
  readonly start?: Float64Array | undefined;
  /** Stop when some record leaks more than this although its cap is larger. */
  readonly hopeless?: Hopeless | undefined;
}

export interface Converged {
  readonly found: Float64Array;
  readonly hopeless: boolean;
  readonly rounds: number;
}

export function converge(
  { graph, costs, caps, twin }: MessageQuestion,
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
  const toTwin = tangents(twin);
  const fromTwin = new Float64Array(twin > 0 ? nodes : 0);
  const meetTwins = () => {
    for (let u = 0; u < records; u++) {
      const brought = toTwin(Math.min(state[2 * u]! - fromTwin[u]!, state[2 * u + 1]!));
      state[2 * u]! += brought - fromTwin[u]!;
      fromTwin[u] = brought;
    }
  };
  /** Updates both messages of every tie in turn; returns the largest change beyond the relative part. */
  const along = (back: boolean): number => {
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
  };
  let rounds = 0;
  let moved = 0;
  let given = false;
  do {
    if (twin > 0) meetTwins();
    moved = along(rounds % 2 === 0);
    rounds++;
    given = hopeless !== undefined && exceeds(state, records, hopeless);
  } while (!given && (moved > within || rounds < 2) && rounds * size < work);
  withoutTie(member, through, state);
  return { found: through, hopeless: given, rounds };
}

/** Replaces what passed through each tie by its message: the total of the other end without this tie. */
function withoutTie(member: Uint32Array, through: Float64Array, state: Float64Array): void {
  for (let p = 0; p < member.length; p += 2) {
    const [u, w] = [2 * member[p]!, 2 * member[p + 1]!];
    const a = Math.max(0, Math.min(state[w]! - through[p + 1]!, state[u + 1]!));
    const b = Math.max(0, Math.min(state[u]! - through[p]!, state[w + 1]!));
    through[p] = a;
    through[p + 1] = b;
  }
}
