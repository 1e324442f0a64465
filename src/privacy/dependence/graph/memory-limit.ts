import { Fault } from '../../../base/errors.js';
import { databaseShare } from '../../../base/input/limits.js';
import { getHeapStatistics } from '../../../base/platform/host.js';

/**
 * Memory limit for reading ties. Sizes are computed from counts of public structure before anything is allocated, so that too
 * large a policy is refused, not crashed on (docs/explanation/decisions/0015-memory.md).
 */
export interface MemoryLimit {
  /** Refuses a total of more bytes than the limit. */
  require(bytes: number): void;
}

export const unlimitedMemory: MemoryLimit = { require: () => undefined };

export const memoryLimit = (allowed: number): MemoryLimit => ({
  require(bytes) {
    if (bytes <= allowed) return;
    const whole = bytes / (1 - databaseShare);
    throw new Fault(
      'ENGINE_MEMORY',
      `The declared ties need about ${inWords(bytes)} of memory, and ${inWords(allowed)} are allowed for them.`,
      `Set FUGU_MEMORY=${Math.ceil((whole * 1.05) / 1e9)}GB or more if the machine has it, or declare fewer ties.`,
      { details: { needed: Math.ceil(bytes), allowed: Math.floor(allowed) } },
    );
  },
});

/** Objects and strings live on a heap with a limit of its own, which typed arrays do not count towards. */
export function refuseBeyondHeap(bytes: number): void {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics();
  if (bytes <= 0.8 * (limit - used)) return;
  throw new Fault(
    'ENGINE_MEMORY',
    `The declared ties need about ${inWords(bytes)} of JavaScript heap, and ${inWords(limit - used)} are left of it.`,
    `Set NODE_OPTIONS=--max-old-space-size=${Math.ceil((bytes / 0.8 + used) / 2 ** 20 / 1024) * 1024}, or declare fewer ties.`,
    { details: { needed: Math.ceil(bytes), allowed: Math.floor(limit - used) } },
  );
}

const inWords = (bytes: number): string =>
  bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;

/** Memory of a stored graph and its walk. */
export const storedBytes = (nodes: number, incidences: number): number => 34 * nodes + 44 * incidences;
/** Memory of one question: sums by node for forests, messages by incidence for loops. */
const queryBytes = (nodes: number, incidences: number): number => 72 * nodes + 76 * incidences;

/**
 * Memory for a graph and all questions of a plan. The largest is the what-if of one more tie per record, which copies the graph.
 */
export function graphBytes(nodes: number, incidences: number): number {
  const twins = [2 * nodes, 2 * incidences + 2 * nodes] as const;
  return storedBytes(nodes, incidences) + storedBytes(...twins) + queryBytes(...twins);
}

interface Sized {
  readonly nodes: number;
  readonly member: { readonly length: number };
}
/** Memory limit for further graphs, with the existing ones deducted. */
export const memoryAfter = (graphs: readonly Sized[], memory: MemoryLimit): MemoryLimit => ({
  require: (bytes) => memory.require(bytes + graphs.reduce((sum, g) => sum + storedBytes(g.nodes, g.member.length), 0)),
});

/** Several graphs over the same records become one, by way of a map of their pairs. */
export function combinedBytes(graphs: readonly Sized[]): number {
  const incidences = graphs.reduce((sum, g) => sum + g.member.length, 0);
  refuseBeyondHeap(24 * incidences);
  return graphBytes(Math.max(...graphs.map((g) => g.nodes)), incidences);
}
