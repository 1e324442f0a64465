import { lowerLimit, upperLimit } from './confidence.js';

/** One output of a release: a number or a list of them, exactly as the analyst sees it. */
export type Output = number | readonly number[];

/** Finding of a black-box audit: with the stated confidence the privacy loss between the two worlds is at least `epsilon`. */
export interface AuditFinding {
  readonly epsilon: number;
  readonly confidence: number;
  /** Description of the event. */
  readonly event: string;
  /** Frequency of the event on the held-out half, in the world where it is likelier and in the other. */
  readonly hits: readonly [number, number];
  readonly tries: readonly [number, number];
}

export interface StatisticalOptions {
  readonly confidence?: number;
  /** More numbers to look at, besides the coordinates, their sum, their fineness and their joint position. */
  readonly features?: readonly OutputFeature[];
}
export interface OutputFeature {
  readonly name: string;
  readonly of: (output: readonly number[]) => number;
}

const defaultConfidence = 1 - 1e-6;
const bins = 48;

/**
 * Lower-bounds the loss between two worlds from their outputs alone. One half of the outputs chooses an event (of any feature, in either
 * direction), the other half counts it once, so no correction for the search is needed: Clopper-Pearson on both counts, half the error each.
 */
export function auditOutputs(
  first: readonly Output[],
  second: readonly Output[],
  options: StatisticalOptions = {},
): AuditFinding {
  const confidence = options.confidence ?? defaultConfidence;
  const worlds = [first, second].map((outputs) => outputs.map((o) => (typeof o === 'number' ? [o] : o)));
  const [training, held] = [0, 1].map((half) => worlds.map((outputs) => outputs.filter((_, k) => k % 2 === half)));
  const choice = choose(training!, featuresOf(worlds[0]![0] ?? [], options.features ?? []));
  if (!choice) return { epsilon: 0, confidence, event: 'nothing to look at', hits: [0, 0], tries: [0, 0] };
  const [likely, other] = choice.order.map((w) => held![w]!) as [number[][], number[][]];
  const hits = [likely, other].map((outputs) => outputs.reduce((n, o) => n + (choice.event(o) ? 1 : 0), 0)) as [number, number];
  const alpha = (1 - confidence) / 2;
  const low = lowerLimit(hits[0], likely.length, alpha);
  const high = upperLimit(hits[1], other.length, alpha);
  return {
    epsilon: Math.max(0, low > 0 ? Math.log(low / high) : 0),
    confidence,
    event: choice.name,
    hits,
    tries: [likely.length, other.length],
  };
}

export interface Worlds {
  readonly first: () => Output | Promise<Output>;
  readonly second: () => Output | Promise<Output>;
}

/** Draws from both worlds in turns, so that a drift of the machine does not look like a difference. */
export async function auditSamplers(worlds: Worlds, samples: number, options: StatisticalOptions = {}): Promise<AuditFinding> {
  const first: Output[] = [];
  const second: Output[] = [];
  for (let k = 0; k < samples; k++) {
    const [a, b] = [worlds.first(), worlds.second()];
    first.push(a instanceof Promise ? await a : a);
    second.push(b instanceof Promise ? await b : b);
  }
  return auditOutputs(first, second, options);
}

/** A feature cut into few cells; an event is a set of cells. */
interface Cut {
  readonly name: string;
  readonly cell: (output: readonly number[]) => number;
}

interface Choice {
  readonly name: string;
  readonly event: (output: readonly number[]) => boolean;
  /** Index of the world where the event is likelier, then of the other. */
  readonly order: readonly [number, number];
}

function featuresOf(sample: readonly number[], more: readonly OutputFeature[]): OutputFeature[] {
  const coordinates = sample.map((_, k): OutputFeature => ({ name: `coordinate ${k + 1}`, of: (o) => o[k]! }));
  const fineness = sample.map(
    (_, k): OutputFeature => ({ name: `lowest bit of coordinate ${k + 1}`, of: (o) => lowestBit(o[k]!) }),
  );
  const sum: OutputFeature[] =
    sample.length > 1 ? [{ name: 'sum of the coordinates', of: (o) => o.reduce((s, x) => s + x, 0) }] : [];
  return [...coordinates, ...sum, ...fineness, ...more];
}

const view = new DataView(new ArrayBuffer(8));
/** Exponent of the last bit set in a double: floating-point noise discloses the number it was added to by it. */
export function lowestBit(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return 2000;
  view.setFloat64(0, x);
  const exponent = (view.getUint32(0) >>> 20) & 0x7ff;
  const [high, low] = [view.getUint32(0) & 0xfffff, view.getUint32(4)];
  const trailing = low !== 0 ? 31 - Math.clz32(low & -low) : high !== 0 ? 32 + 31 - Math.clz32(high & -high) : 52;
  return Math.max(exponent, 1) - 1075 + trailing;
}

/** Cells by quantiles of the pooled training outputs; few distinct values get a cell each. */
function cutBy(feature: OutputFeature, pooled: readonly (readonly number[])[]): Cut {
  const values = Float64Array.from(pooled, feature.of).sort();
  const edges = [...new Set(Array.from({ length: bins - 1 }, (_, k) => values[Math.floor(((k + 1) * values.length) / bins)]!))];
  // Rare values at the ends carry the strongest evidence: a few edges out in the tails.
  for (const share of [1e-3, 1e-2]) {
    edges.push(values[Math.floor(share * (values.length - 1))]!, values[Math.ceil((1 - share) * (values.length - 1))]!);
  }
  const sorted = [...new Set(edges)].sort((a, b) => a - b);
  const cell = (output: readonly number[]) => {
    const x = feature.of(output);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= x) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return { name: feature.name, cell };
}

/** The joint position of up to four coordinates, each in its lower, middle or upper third. */
function jointCut(pooled: readonly (readonly number[])[]): Cut | undefined {
  const width = Math.min(4, pooled[0]?.length ?? 0);
  if (width < 2) return undefined;
  const thirds = Array.from({ length: width }, (_, k) => {
    const values = Float64Array.from(pooled, (o) => o[k]!).sort();
    return [values[Math.floor(values.length / 3)]!, values[Math.floor((2 * values.length) / 3)]!] as const;
  });
  const cell = (o: readonly number[]) =>
    thirds.reduce((c, [low, high], k) => c * 3 + (o[k]! <= low ? 0 : o[k]! <= high ? 1 : 2), 0);
  return { name: `joint position of ${width} coordinates`, cell };
}

/** The event with the best cautious ratio on the training half: cells in order of likelihood ratio, every prefix tried. */
function choose(training: readonly (readonly (readonly number[])[])[], features: readonly OutputFeature[]): Choice | undefined {
  const pooled = training.flat();
  if (pooled.length === 0) return undefined;
  const joint = jointCut(pooled);
  let best: { score: number; choice: Choice } | undefined;
  for (const { name, cell } of [...features.map((f) => cutBy(f, pooled)), ...(joint ? [joint] : [])]) {
    const counts = training.map((outputs) => {
      const tally = new Map<number, number>();
      for (const o of outputs) tally.set(cell(o), (tally.get(cell(o)) ?? 0) + 1);
      return tally;
    });
    const cells = [...new Set(counts.flatMap((tally) => [...tally.keys()]))];
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const count = (w: 0 | 1, c: number) => counts[order[w]]!.get(c) ?? 0;
      const ranked = [...cells].sort((a, b) => (count(0, b) + 1) / (count(1, b) + 1) - (count(0, a) + 1) / (count(1, a) + 1));
      const taken = new Set<number>();
      let [hits, misses] = [0, 0];
      for (const c of ranked) {
        taken.add(c);
        hits += count(0, c);
        misses += count(1, c);
        const score = cautiousRatio(hits, training[order[0]]!.length, misses, training[order[1]]!.length);
        if (best && score <= best.score) continue;
        const chosen = new Set(taken);
        best = { score, choice: { name, event: (o) => chosen.has(cell(o)), order } };
      }
    }
  }
  return best?.choice;
}

/** A quick stand-in for the Clopper-Pearson ratio, five standard errors wide; only ranks events. */
function cautiousRatio(hits: number, tries: number, misses: number, others: number): number {
  const wide = 25;
  const low = (hits + wide / 2 - 5 * Math.sqrt(hits * (1 - hits / tries) + wide / 4)) / (tries + wide);
  const high = (misses + wide / 2 + 5 * Math.sqrt(misses * (1 - misses / others) + wide / 4)) / (others + wide);
  return low > 0 ? Math.log(low / high) : Number.NEGATIVE_INFINITY;
}
