import { type CellNoise, departuresOf } from './departures.js';
import { choleskyRoot, dot, solveCholesky } from './matrix.js';

/** Most tables drawn, and the number of at least equally extreme ones that ends the simulation (Besag and Clifford 1991). */
const [most, enough] = [999, 30];
const rounding = 1e-9;

/**
 * p-value from simulated independent tables with these margins, sampling and noise (independence-test.proof.md, 5).
 * The random numbers follow from the table, so reading an answer again gives the same p-value.
 */
export function simulatedPValue(
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
    const root = made && choleskyRoot(made.spread);
    // A table without rows, or one that cannot be tested, counts as extreme; the tolerance makes equal departures count despite rounding.
    if (!root || dot(made.values, solveCholesky(root, made.values)) >= statistic * (1 - rounding)) farther++;
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

/** Multinomial sample of that many people. */
function multinomial(people: number, chances: readonly number[], random: () => number): readonly number[] {
  let [left, rest] = [people, 1];
  return chances.map((chance, k) => {
    const own = k === chances.length - 1 ? left : binomial(left, Math.min(1, chance / rest), random);
    left -= own;
    rest -= chance;
    return own;
  });
}

/** Small expected counts by geometric waiting times, large ones by the normal approximation. */
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
