import { distinctPairs } from './distinct-pairs.js';
import { assemble, type FactorGraph, manyIncidences } from './factor-graph.js';
import { largestCompared, mixHash, ShapeSet } from './shape-set.js';
import { type GraphWalk, walkGraph } from './walk.js';

export interface DistinctComponents {
  readonly graph: FactorGraph;
  readonly used?: Uint8Array;
  readonly values?: Float64Array;
}

/**
 * One component of each shape: equal factors, D, used records and values under renumbering. Bounds agree to the last bit; only
 * questions about the worst record, or one of each kind, may be put to the result.
 */
export function distinctComponents(graph: FactorGraph, used?: Uint8Array, values?: Float64Array): DistinctComponents {
  if (!values && 2 * graph.factors >= manyIncidences && graph.pairwise && graph.nodes === graph.records) {
    const few = distinctPairs(graph, used);
    return { graph: few.graph, ...(used && { used: Uint8Array.from(few.nodes, (u) => used[u]!) }) };
  }
  const w = walkGraph(graph);
  const kept = keptNodes(graph, w, { ...(used && { used }), ...(values && { values }) });
  if (2 * kept.count > graph.nodes) return { graph, ...(used && { used }), ...(values && { values }) };
  const nodes = new Uint32Array(kept.count);
  let size = 0;
  for (let u = 0; u < graph.nodes; u++) if (kept.is[u]) nodes[size++] = u;
  const local = new Uint32Array(graph.nodes);
  for (let k = 0; k < size; k++) local[nodes[k]!] = k;
  const made = inOrder(graph, nodes, local, kept.is);
  return {
    graph: made,
    ...(used && { used: Uint8Array.from({ length: made.records }, (_, k) => used[nodes[k]!]!) }),
    ...(values && { values: Float64Array.from({ length: made.records }, (_, k) => values[nodes[k]!]!) }),
  };
}

/** Nodes and factors in the order they have. */
function inOrder(graph: FactorGraph, nodes: Uint32Array, local: Uint32Array, kept: Uint8Array): FactorGraph {
  const { start, member, logOdds } = graph;
  let [factors, incidences] = [0, 0];
  for (let f = 0; f < graph.factors; f++)
    if (kept[member[start[f]!]!]) {
      factors++;
      incidences += start[f + 1]! - start[f]!;
    }
  const starts = new Uint32Array(factors + 1);
  const members = new Uint32Array(incidences);
  const odds = new Float64Array(incidences);
  let [f, at] = [0, 0];
  for (let k = 0; k < graph.factors; k++) {
    if (!kept[member[start[k]!]!]) continue;
    for (let p = start[k]!; p < start[k + 1]!; p++) {
      members[at] = local[member[p]!]!;
      odds[at++] = logOdds[p]!;
    }
    starts[++f] = at;
  }
  const records = nodes.reduce((sum, u) => sum + (u < graph.records ? 1 : 0), 0);
  return assemble({ records, nodes: nodes.length, start: starts, member: members, logOdds: odds });
}

/** Nodes of the first component of each shape, and of all components too large to compare. */
function keptNodes(graph: FactorGraph, w: GraphWalk, attributes: NodeAttributes) {
  const is = new Uint8Array(graph.nodes);
  const shapes = new ShapeSet(hashOf, same);
  const local = new Uint32Array(graph.nodes);
  /** Kinds of kept records without ties: unused, used or hidden, with their value. */
  const alone = new Set<string>();
  let count = 0;
  for (let c = 0; c < w.components; c++) {
    const [from, to] = [w.componentStart[c]!, w.componentStart[c + 1]!];
    if (to === from + 1) {
      const u = w.order[from]!;
      const kind = `${kindOf(graph, u, attributes)} ${attributes.values?.[u] ?? 0}`;
      if (alone.has(kind)) continue;
      alone.add(kind);
      is[u] = 1;
      count++;
      continue;
    }
    const nodes = w.order.subarray(from, to);
    if (nodes.length <= largestCompared && !shapes.add(shapeOf(graph, nodes.slice().sort(), attributes, local))) continue;
    for (const u of nodes) is[u] = 1;
    count += nodes.length;
  }
  return { is, count };
}

/** Attributes of records other than their ties. */
interface NodeAttributes {
  readonly used?: Uint8Array;
  readonly values?: Float64Array;
}
const kindOf = ({ records }: FactorGraph, u: number, { used }: NodeAttributes): number => (u >= records ? 2 : (used?.[u] ?? 1));
/** As a number that equals itself. */
const comparable = (x: number | undefined): number => (x === undefined || Number.isNaN(x) ? Number.NEGATIVE_INFINITY : x);

/** Canonical description of a component, with its nodes numbered in order. */
function shapeOf(graph: FactorGraph, nodes: Uint32Array, attributes: NodeAttributes, local: Uint32Array): Float64Array {
  const { nodeStart, incidence, factorOf, start, member, logOdds } = graph;
  for (let k = 0; k < nodes.length; k++) local[nodes[k]!] = k;
  const factors: number[] = [];
  const each = attributes.values ? 2 : 1;
  let size = each * nodes.length + 1;
  for (const u of nodes)
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) {
      const f = factorOf[incidence[x]!]!;
      if (start[f] !== incidence[x]) continue;
      factors.push(f);
      size += 1 + 2 * (start[f + 1]! - start[f]!);
    }
  factors.sort((a, b) => a - b);
  const shape = new Float64Array(size);
  shape[0] = nodes.length;
  for (let k = 0; k < nodes.length; k++) shape[k + 1] = kindOf(graph, nodes[k]!, attributes);
  if (attributes.values)
    for (let k = 0; k < nodes.length; k++) shape[nodes.length + k + 1] = comparable(attributes.values[nodes[k]!]);
  let at = each * nodes.length + 1;
  for (const f of factors) {
    shape[at++] = start[f + 1]! - start[f]!;
    for (let p = start[f]!; p < start[f + 1]!; p++) {
      shape[at++] = local[member[p]!]!;
      shape[at++] = logOdds[p]!;
    }
  }
  return shape;
}

const same = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && a.every((x, k) => x === b[k]);

function hashOf(shape: Float64Array): number {
  const words = new Uint32Array(shape.buffer, shape.byteOffset, 2 * shape.length);
  let hash = shape.length;
  for (const word of words) hash = mixHash(hash, word);
  return hash;
}
