import { type CellNoise, departuresOf } from './departures.js';
import { dot, rootOf, solved } from './matrix.js';

/** So many tables at most, and none more once so many were as far off as the one at hand (Besag and Clifford 1991). */
const [most, enough] = [999, 30];
const rounding = 1e-9;

/**
 * How often tables of independent answers with these margins, sampled and noised like the one at hand, depart as far (independent.proof.md, 5). The numbers that
 * it draws follow from the table: an answer that is read again says the same.
 */
export function simulatedChance(
  statistic: number,
  { total, p, q }: { readonly total: number; readonly p: readonly number[]; readonly q: readonly number[] },
  noise: CellNoise,
  factor: number,
): number {
  const random = numbersFrom([statistic, total, ...p, ...q]);
  const people = Math.max(1, Math.round(total / factor));
  const chances = p.flatMap((x) => q.map((y) => x * y));
  const draw = noiseFrom(noise, random);
  let [farther, drawn] = [0, 0];
  while (drawn < most && farther < enough) {
    drawn++;
    const cells = multinomial(people, chances, random).map((x) => factor * x + draw());
    const made = departuresOf(
      p.map((_, i) => cells.slice(i * q.length, (i + 1) * q.length)),
      noise.variance,
      factor,
    );
    const root = made && rootOf(made.spread);
    // A table without rows, or one that cannot be judged, speaks for independence as much as any. One that departs as far does so whichever way it was rounded.
    if (!root || dot(made.values, solved(root, made.values)) >= statistic * (1 - rounding)) farther++;
  }
  return farther >= enough ? farther / drawn : (farther + 1) / (drawn + 1);
}

/** Numbers in 0 .. 1 that follow from others (sfc32). */
function numbersFrom(seed: readonly number[]): () => number {
  const words = new Uint32Array(Float64Array.from(seed).buffer);
  let [a, b, c, k] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = (): number => {
    const t = (a + b + k) | 0;
    k = (k + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return (t >>> 0) / 2 ** 32;
  };
  for (const word of words) {
    a ^= word;
    next();
  }
  for (let i = 0; i < 12; i++) next();
  return next;
}

const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

function noiseFrom({ variance, laplace }: CellNoise, random: () => number): () => number {
  if (variance === 0) return () => 0;
  if (!laplace) return () => Math.round(Math.sqrt(variance) * normal(random));
  // A discrete Laplace noise of scale s has the variance 1 / (2 sinh(1 / 2s)^2).
  const scale = 1 / (2 * Math.asinh(Math.SQRT1_2 / Math.sqrt(variance)));
  const geometric = () => Math.floor(-scale * Math.log(1 - random()));
  return () => geometric() - geometric();
}

/** So many people, each in one cell. */
function multinomial(people: number, chances: readonly number[], random: () => number): readonly number[] {
  let [left, rest] = [people, 1];
  return chances.map((chance, k) => {
    const own = k === chances.length - 1 ? left : binomial(left, Math.min(1, chance / rest), random);
    left -= own;
    rest -= chance;
    return own;
  });
}

/** Few by the waits between them, many by the normal law. */
function binomial(n: number, p: number, random: () => number): number {
  if (n === 0 || p <= 0) return 0;
  if (p > 0.5) return n - binomial(n, 1 - p, random);
  if (n * p > 60) return Math.min(n, Math.max(0, Math.round(n * p + Math.sqrt(n * p * (1 - p)) * normal(random))));
  const waits = Math.log1p(-p);
  let found = 0;
  for (let at = Math.ceil(Math.log(1 - random()) / waits); at <= n; at += Math.max(1, Math.ceil(Math.log(1 - random()) / waits)))
    found++;
  return found;
}
