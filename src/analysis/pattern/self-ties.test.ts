import { afterEach, describe, expect, it } from 'vitest';
import { now } from '../../../test/now.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { toNumber, zero } from '../../base/exact/rational.js';
import { everyRecord } from '../../privacy/mechanism/record-class.js';
import { releaseContextOf } from '../../release/session/session.js';
import { exactAnswer } from './exact-answer.js';
import { preparePattern } from './prepare.js';
import { analysePatternText } from './query/analyse.js';
import type { SensitivityLadder } from './query/ladders.js';
import { truncatedCount } from './strategies/truncated-noise.js';

/**
 * A person with eight friends, and perhaps a self-tie, against the same person without any: the exact privacy loss of a whole release
 * at epsilon 1.
 */
let shop: Workshop;
afterEach(() => shop?.remove());

const leaves = Array.from({ length: 8 }, (_, k) => `p${k + 1}`);
const star = leaves.map((leaf) => `p0,${leaf}\n`).join('');
const ownTies = ['p0', ...leaves].map((name) => `${name},${name}\n`).join('');
const withoutCentre = leaves.map((name) => `${name},${name}\n`).join('');

interface World {
  readonly answer: bigint;
  readonly kept: { readonly count: bigint; readonly ladder: SensitivityLadder };
  readonly scale: number;
  readonly decay: number;
  /** Cost charged for a person. */
  readonly charged: number;
}
async function world(ties: string, text: string, degree: number, columns = '[a, b]'): Promise<World> {
  shop = openWorkshop(
    policyYaml({
      protect: '{ secret: person, unit: id, maxRows: 1 }',
      extra: `relations:\n  friend: { table: friends.csv, columns: ${columns}, domain: 9, symmetric: true }\n`,
    }),
    9,
  );
  shop.write('friends.csv', `${columns.slice(1, -1).replace(' ', '')}\n${ties || 'p1,\n'}`);
  const session = await shop.session();
  const a = analysePatternText(text, { relations: session.policy.relations });
  const drawn = async (mechanism: 'laplace' | 'truncation-ladder') =>
    (await preparePattern(session, text, { epsilon: '1', mechanism, degree })).drawn.mechanisms[0]!;
  const [plain, ladder] = [await drawn('laplace'), await drawn('truncation-ladder')];
  const charged = [plain, ladder].map(({ cost }) => toNumber(cost.perRecord.get(everyRecord)!));
  const found = {
    answer: (await exactAnswer(await now(releaseContextOf(session).engine), a)).open(),
    kept: (await truncatedCount(await now(releaseContextOf(session).engine), a, degree)).open(),
    scale: toNumber(plain.distribution.kind === 'laplace' ? plain.distribution.scale : zero),
    decay: toNumber(ladder.distribution.kind === 'ladder' ? ladder.distribution.decay : zero),
    charged: Math.min(...charged),
  };
  await session.close();
  shop.remove();
  return found;
}

const laplaceLoss = (one: World, other: World): number => Math.abs(Number(one.answer - other.answer)) / one.scale;

/** Distribution of a ladder's answers, rung by rung. */
function ladderDistribution({ count, ladder }: World['kept'], decay: number): (o: number) => number {
  const width = (u: number) => Math.max(1, Number(ladder.width(u)));
  let total = 1;
  for (let u = 1; u < 80 / decay; u++) total += 2 * width(u - 1) * Math.exp(-decay * u);
  return (o) => {
    let [rung, reach] = [0, 0];
    for (; reach < Math.abs(o - Number(count)); rung++) reach += width(rung);
    return -decay * rung - Math.log(total);
  };
}
function ladderLoss(one: World, other: World): number {
  const [p, q] = [ladderDistribution(one.kept, one.decay), ladderDistribution(other.kept, other.decay)];
  let worst = 0;
  for (let o = -400; o <= 400; o++) worst = Math.max(worst, Math.abs(p(o) - q(o)));
  return worst;
}

describe('the centre of a star of eight, with self-ties', () => {
  it.each(['q(x, y) :- friend(x, y)', 'edges', 'q(x) :- friend(x, y)', '2-paths'])(
    'the centre loses at most epsilon in %j',
    async (text) => {
      for (const degree of [1, 8]) {
        const full = await world(star + ownTies, text, degree);
        const bare = await world(withoutCentre, text, degree);
        expect(full.charged).toBe(1);
        expect(laplaceLoss(full, bare)).toBeLessThanOrEqual(full.charged);
        expect(ladderLoss(full, bare)).toBeLessThanOrEqual(full.charged);
        if (text.startsWith('q(x, y)')) {
          expect(laplaceLoss(full, bare)).toBe(1);
          // Planted fault: a count that includes the centre's self-tie.
          expect(laplaceLoss({ ...full, answer: full.answer + 1n }, bare)).toBeGreaterThan(1.06);
        }
      }
    },
  );

  it('the centre has no results of its own, though a column of the ties is named like the unit', async () => {
    expect((await world(star, 'edges', 8, '[id, b]')).scale).toBe(8);
    // Planted fault: a race of owners, each cut separately, while all others move with the centre.
    expect(raceLoss(63)).toBeGreaterThan(4.4);
  });
});

/** The exact privacy loss of R2T at epsilon 1 between the ties of a star, each owner counted separately, and none. */
function raceLoss(k: number): number {
  const levels = k.toString(2).length;
  const at = (list: readonly number[]) =>
    Array.from({ length: levels }, (_, i) => {
      const scale = 2 ** (i + 1) * levels;
      const cut = list.reduce((sum, c) => sum + Math.min(c, 2 ** (i + 1)), 0);
      return { scale, shift: Math.ceil(scale * Math.log(20 * levels)) - cut };
    });
  const below = (x: number, scale: number) => {
    const q = Math.exp(-1 / scale);
    return x < 0 ? x / scale - Math.log(1 + q) : Math.log1p(-Math.exp(-(x + 1) / scale) / (1 + q));
  };
  const chance = (levelsOf: ReturnType<typeof at>, o: number) => {
    const most = (x: number) => levelsOf.reduce((sum, { scale, shift }) => sum + below(x + shift, scale), 0);
    return o === 0 ? most(0) : most(o) + Math.log1p(-Math.exp(most(o - 1) - most(o)));
  };
  const [one, other] = [at([k, ...new Array<number>(k).fill(1)]), at([])];
  let worst = 0;
  for (let o = 0; o < 2000; o++) worst = Math.max(worst, Math.abs(chance(one, o) - chance(other, o)));
  return worst;
}
