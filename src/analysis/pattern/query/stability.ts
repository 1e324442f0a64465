import { compare, type Rational, rational, toText } from '../../../base/exact/rational.js';
import type { BoundPattern } from './bind.js';

/**
 * Stability (Rastogi et al. 2009) by an exact criterion (stability.proof.md): for every partition that respects the disequalities and
 * every set F grounded by a changed tuple, at least as many goals are not inside F as blocks outside F.
 */
export interface Stability {
  readonly stable: boolean;
  /** Least density of any derivative image; undefined when none has a free variable, or when a size cap stopped the search. */
  readonly density: Rational | undefined;
  /** The derivative that shows instability, as text. */
  readonly witness: string | undefined;
  /** Stable, and the query itself is dense: required for protection against negative leakage. */
  readonly dense: boolean;
  /** False if the query exceeds the search limit; it then counts as not stable. */
  readonly decided: boolean;
}

const maxSymbols = 10;
const maxGoals = 12;

export function stability(q: BoundPattern): Stability {
  const symbols = q.constants.length + q.variables.length;
  if (symbols > maxSymbols || q.goals.length > maxGoals)
    return {
      stable: false,
      density: undefined,
      witness: `not shown stable: more than ${maxSymbols} symbols or ${maxGoals} goals`,
      dense: false,
      decided: false,
    };
  let least: { goals: number; free: number; image: Image; fixed: number } | undefined;
  let dense = true;
  for (const image of images(q)) {
    const constants = (1 << q.constants.length) - 1;
    if (image.goals.length < count(image.all & ~constants)) dense = false;
    for (const fixed of closure(constants, image)) {
      const free = count(image.all & ~fixed);
      if (free === 0) continue;
      const goals = image.goals.filter((g) => (g.mask & ~fixed) !== 0).length;
      if (!least || goals * least.free < least.goals * free) least = { goals, free, image, fixed };
    }
  }
  const density = least && rational(least.goals, least.free);
  const stable = !density || compare(density, rational(1)) >= 0;
  return { stable, density, witness: stable ? undefined : words(q, least!), dense, decided: true };
}

interface Image {
  /** Block of every symbol; constant c is in block c. */
  readonly block: readonly number[];
  readonly all: number;
  /** Distinct goal images: the first goal with this image, and the blocks it touches. */
  readonly goals: readonly { readonly of: number; readonly mask: number }[];
}

/** Restricted-growth enumeration: each variable joins an earlier block or opens the next one. */
function* images(q: BoundPattern): Generator<Image> {
  const constants = q.constants.length;
  const symbols = constants + q.variables.length;
  const partners: number[][] = Array.from({ length: symbols }, () => []);
  for (const [a, b] of q.unequal) {
    partners[a]!.push(b);
    partners[b]!.push(a);
  }
  const block = Array.from({ length: symbols }, (_, i) => i);
  const walk = function* (s: number, blocks: number): Generator<Image> {
    if (s === symbols) {
      yield imageOf(q, block, blocks);
      return;
    }
    for (let b = 0; b <= blocks; b++) {
      if (partners[s]!.some((p) => p < s && block[p] === b)) continue;
      block[s] = b;
      yield* walk(s + 1, Math.max(blocks, b + 1));
    }
  };
  yield* walk(constants, constants);
}

function imageOf(q: BoundPattern, block: readonly number[], blocks: number): Image {
  const goals = new Map<string, { of: number; mask: number }>();
  for (const [of, goal] of q.goals.entries()) {
    const mapped = goal.symbols.map((s) => block[s]!);
    const mask = mapped.reduce((m, b) => m | (1 << b), 0);
    const key = `${goal.relation}:${q.relations[goal.relation]!.symmetric ? mask : mapped.join()}`;
    if (!goals.has(key)) goals.set(key, { of, mask });
  }
  return { block: [...block], all: (1 << blocks) - 1, goals: [...goals.values()] };
}

/** Every union of the constant blocks with the blocks of a non-empty set of goal images. */
function closure(constants: number, image: Image): Set<number> {
  const found = new Set<number>(image.goals.map((g) => constants | g.mask));
  for (const fixed of found) for (const g of image.goals) found.add(fixed | g.mask);
  return found;
}

const count = (mask: number): number => {
  let bits = 0;
  for (let m = mask; m; m &= m - 1) bits++;
  return bits;
};

function words(q: BoundPattern, found: { goals: number; free: number; image: Image; fixed: number }): string {
  const { image, fixed } = found;
  const constants = q.constants.length;
  const label = (b: number): string => {
    if (b < constants) return `'${q.constants[b]}'`;
    const symbol = image.block.findIndex((x, s) => x === b && s >= constants);
    return (fixed & (1 << b)) === 0 ? q.variables[symbol - constants]! : `${q.variables[symbol - constants]}0`;
  };
  const write = (g: { of: number }) => {
    const goal = q.goals[g.of]!;
    return `${q.relations[goal.relation]!.name}(${goal.symbols.map((s) => label(image.block[s]!)).join(', ')})`;
  };
  const added = image.goals.filter((g) => (g.mask & ~fixed) === 0).map(write);
  const left = image.goals.filter((g) => (g.mask & ~fixed) !== 0).map(write);
  const free: string[] = [];
  for (let b = constants; 1 << b <= image.all; b++) if ((fixed & (1 << b)) === 0) free.push(label(b));
  const holds = left.length > 0 ? ` with ${left.join(', ')}` : ' of the whole domain';
  return `adding ${added.join(' and ')} can add every (${free.join(', ')})${holds}: ${found.goals} goal${found.goals === 1 ? '' : 's'}, ${found.free} free variable${found.free === 1 ? '' : 's'} (density ${toText(rational(found.goals, found.free))})`;
}
