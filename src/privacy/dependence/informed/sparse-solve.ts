/**
 * Solves own_u s_u - sum over neighbours w of weight s_w = brought_u if positive definite: eliminates leaves and paths, then
 * conjugate gradients to residuals of at most `within`. Plain doubles: it proves nothing.
 */
export interface System {
  /** The neighbours of node u are neighbour[nodeStart[u] .. nodeStart[u + 1]]; no two are one. */
  readonly nodeStart: Uint32Array;
  readonly neighbour: Uint32Array;
  /** The weight of an entry of `neighbour`: the same from both sides. */
  readonly weight: (x: number) => number;
  /** Both are overwritten. */
  readonly own: Float64Array;
  readonly brought: Float64Array;
}

/** Undefined where it is not positive definite or takes more steps than this. */
export function sparseSolve(system: System, within: number, mostSteps: number): Float64Array | undefined {
  const { brought } = system;
  const leaves = eliminateLeaves(system);
  if (!leaves) return undefined;
  const between = eliminatePaths(system, leaves.ties);
  if (!between) return undefined;
  const found = conjugateGradients(between.kernel, within, mostSteps);
  if (!found) return undefined;
  // Eliminated nodes are substituted back in reverse order.
  const s = brought;
  const { nodes } = between.kernel;
  for (let k = 0; k < nodes.length; k++) s[nodes[k]!] = found[k]!;
  const { own } = system;
  const { at, ends, weights } = between;
  for (let k = at.length - 1; k >= 0; k--) {
    const u = at[k]!;
    s[u] = (brought[u]! + weights[2 * k]! * s[ends[2 * k]!]! + weights[2 * k + 1]! * s[ends[2 * k + 1]!]!) / own[u]!;
  }
  for (let k = leaves.at.length - 1; k >= 0; k--) {
    const u = leaves.at[k]!;
    const x = leaves.by[k]!;
    s[u] = (brought[u]! + system.weight(x) * s[system.neighbour[x]!]!) / own[u]!;
  }
  return s;
}

/** Eliminates leaves repeatedly; `ties`: the remaining ties of each node, 0 for eliminated ones. */
function eliminateLeaves({ nodeStart, neighbour, weight, own, brought }: System) {
  const nodes = own.length;
  const ties = new Uint32Array(nodes);
  const at = new Uint32Array(nodes);
  let size = 0;
  for (let u = 0; u < nodes; u++) {
    ties[u] = nodeStart[u + 1]! - nodeStart[u]!;
    if (ties[u] === 1) at[size++] = u;
  }
  const by = new Uint32Array(nodes);
  for (let k = 0; k < size; k++) {
    const u = at[k]!;
    let x = nodeStart[u]!;
    while (x < nodeStart[u + 1]! && ties[neighbour[x]!] === 0) x++;
    // In a tree the last node has no neighbour left; this cannot happen if every component has a loop.
    if (x === nodeStart[u + 1]! || !(own[u]! > 0)) return undefined;
    const w = neighbour[x]!;
    const c = weight(x);
    own[w]! -= (c * c) / own[u]!;
    brought[w]! += (c * brought[u]!) / own[u]!;
    by[k] = x;
    ties[u] = 0;
    if (--ties[w]! === 1) at[size++] = w;
  }
  return { ties, at: at.slice(0, size), by: by.slice(0, size) };
}

/** Rest of a system after elimination: node k was nodes[k]. */
interface Kernel {
  readonly nodes: Uint32Array;
  readonly start: Uint32Array;
  readonly neighbour: Uint32Array;
  readonly weight: Float64Array;
  readonly own: Float64Array;
  readonly brought: Float64Array;
}

/** Eliminates nodes with two remaining ties, along each path from end to end. */
function eliminatePaths(system: System, ties: Uint32Array) {
  const { nodeStart, neighbour, weight, own, brought } = system;
  const nodes = own.length;
  /** One more than the number of a node in the kernel. */
  const place = new Uint32Array(nodes);
  let [kept, rows] = [0, 0];
  for (let u = 0; u < nodes; u++) {
    if (ties[u]! > 2) place[u] = ++kept;
    else if (ties[u] === 2) rows++;
  }
  const at = new Uint32Array(rows);
  const ends = new Uint32Array(2 * rows);
  const weights = new Float64Array(2 * rows);
  const gone = new Uint8Array(nodes);
  const joined: Joined = { ends: new Uint32Array(2 * rows), weight: new Float64Array(rows), count: 0 };
  let size = 0;
  /**
   * Follows a path from `first` over one of its entries to the next node that stays; false if the system is not positive
   * definite.
   */
  const follow = (first: number, entry: number): boolean => {
    let before = first;
    let u = neighbour[entry]!;
    let passing = weight(entry);
    while (place[u] === 0) {
      gone[u] = 1;
      let x = nodeStart[u]!;
      while (ties[neighbour[x]!] === 0 || neighbour[x] === before) x++;
      const next = neighbour[x]!;
      const c = weight(x);
      const d = own[u]!;
      if (!(d > 0)) return false;
      own[first]! -= (passing * passing) / d;
      own[next]! -= (c * c) / d;
      brought[first]! += (passing * brought[u]!) / d;
      brought[next]! += (c * brought[u]!) / d;
      at[size] = u;
      ends[2 * size] = first;
      ends[2 * size + 1] = next;
      weights[2 * size] = passing;
      weights[2 * size + 1] = c;
      size++;
      passing = (passing * c) / d;
      before = u;
      u = next;
    }
    if (u === first) own[first]! -= 2 * passing;
    else {
      joined.ends[2 * joined.count] = place[first]! - 1;
      joined.ends[2 * joined.count + 1] = place[u]! - 1;
      joined.weight[joined.count++] = passing;
    }
    return true;
  };
  for (let u = 0; u < nodes; u++) {
    if (place[u] === 0) continue;
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) {
      const w = neighbour[x]!;
      if (place[w] === 0 && ties[w] === 2 && gone[w] === 0 && !follow(u, x)) return undefined;
    }
  }
  // Separate rings are left: each is opened anywhere.
  for (let u = 0; u < nodes; u++) {
    if (ties[u] !== 2 || place[u] !== 0 || gone[u] === 1) continue;
    place[u] = ++kept;
    let x = nodeStart[u]!;
    while (ties[neighbour[x]!] === 0) x++;
    if (!follow(u, x)) return undefined;
  }
  return { kernel: kernelOf(system, place, kept, joined), at: at.slice(0, size), ends, weights };
}

/** Pairs of kernel nodes that an eliminated path connected. */
interface Joined {
  readonly ends: Uint32Array;
  readonly weight: Float64Array;
  count: number;
}

function kernelOf(system: System, place: Uint32Array, kept: number, joined: Joined): Kernel {
  const { nodeStart, neighbour, weight } = system;
  const nodes = new Uint32Array(kept);
  const start = new Uint32Array(kept + 1);
  const [own, brought] = [new Float64Array(kept), new Float64Array(kept)];
  for (let u = 0; u < place.length; u++) {
    if (place[u] === 0) continue;
    const k = place[u]! - 1;
    nodes[k] = u;
    own[k] = system.own[u]!;
    brought[k] = system.brought[u]!;
    for (let x = nodeStart[u]!; x < nodeStart[u + 1]!; x++) if (place[neighbour[x]!]! > 0) start[k + 1]!++;
  }
  for (let k = 0; k < 2 * joined.count; k++) start[joined.ends[k]! + 1]!++;
  for (let k = 0; k < kept; k++) start[k + 1]! += start[k]!;
  const next = start.slice(0, kept);
  const list = new Uint32Array(start[kept]!);
  const weights = new Float64Array(start[kept]!);
  for (let k = 0; k < kept; k++)
    for (let x = nodeStart[nodes[k]!]!; x < nodeStart[nodes[k]! + 1]!; x++) {
      const to = place[neighbour[x]!]!;
      if (to === 0) continue;
      list[next[k]!] = to - 1;
      weights[next[k]!++] = weight(x);
    }
  for (let p = 0; p < 2 * joined.count; p++) {
    const k = joined.ends[p]!;
    list[next[k]!] = joined.ends[p ^ 1]!;
    weights[next[k]!++] = joined.weight[p >>> 1]!;
  }
  return { nodes, start, neighbour: list, weight: weights, own, brought };
}

function conjugateGradients(
  { start, neighbour, weight, own, brought }: Kernel,
  within: number,
  mostSteps: number,
): Float64Array | undefined {
  const nodes = own.length;
  const s = new Float64Array(nodes);
  const left = brought;
  const direction = new Float64Array(nodes);
  const image = new Float64Array(nodes);
  let size = 0;
  for (let u = 0; u < nodes; u++) {
    if (!(own[u]! > 0)) return undefined;
    direction[u] = left[u]! / own[u]!;
    size += left[u]! * direction[u]!;
  }
  for (let step = 0; step < mostSteps && size > 0; step++) {
    let bend = 0;
    for (let u = 0; u < nodes; u++) {
      let sum = own[u]! * direction[u]!;
      for (let x = start[u]!; x < start[u + 1]!; x++) sum -= weight[x]! * direction[neighbour[x]!]!;
      image[u] = sum;
      bend += direction[u]! * sum;
    }
    if (!(bend > 0)) return undefined;
    const stride = size / bend;
    let next = 0;
    let furthest = 0;
    for (let u = 0; u < nodes; u++) {
      s[u] = s[u]! + stride * direction[u]!;
      const rest = left[u]! - stride * image[u]!;
      left[u] = rest;
      next += (rest * rest) / own[u]!;
      if (rest > furthest) furthest = rest;
      else if (-rest > furthest) furthest = -rest;
    }
    if (furthest <= within) return s;
    const turn = next / size;
    size = next;
    for (let u = 0; u < nodes; u++) direction[u] = left[u]! / own[u]! + turn * direction[u]!;
  }
  return size > 0 ? undefined : s;
}
