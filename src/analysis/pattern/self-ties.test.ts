import { afterEach, describe, expect, it } from 'vitest';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { analysePattern } from '../../query/pattern/analyse.js';
import type { Ladder } from '../../query/pattern/ladders.js';
import { exactAnswer } from './exact-answer.js';
import { planPattern } from './pattern.js';
import { truncated } from './person.js';

/** A person with eight friends, and perhaps with themselves, against the same person without any: the exact loss of a whole release at epsilon 1. */
let shop: Workshop;
afterEach(() => shop?.remove());

const leaves = Array.from({ length: 8 }, (_, k) => `p${k + 1}`);
const star = leaves.map((leaf) => `p0,${leaf}\n`).join('');
const ownTies = ['p0', ...leaves].map((name) => `${name},${name}\n`).join('');
const withoutCentre = leaves.map((name) => `${name},${name}\n`).join('');

interface World {
  readonly answer: bigint;
  readonly kept: { readonly count: bigint; readonly ladder: Ladder };
  readonly scale: number;
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
  const a = analysePattern(text, { relations: session.policy.relations });
  const plan = await planPattern(session, text, { epsilon: '1', mechanism: 'laplace' });
  const found = {
    answer: (await exactAnswer(session.desk.engine, a)).open(),
    kept: (await truncated(session.desk.engine, a, degree)).open(),
    scale: plan.pattern.candidates.find((c) => c.mechanism === 'laplace')!.scale,
  };
  await session.close();
  shop.remove();
  return found;
}

const laplaceLoss = (one: World, other: World): number => Math.abs(Number(one.answer - other.answer)) / one.scale;

/** The law of a ladder's answers, rung by rung. */
function law({ count, ladder }: World['kept'], decay: number): (o: number) => number {
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
  const [p, q] = [law(one.kept, 0.5), law(other.kept, 0.5)];
  let worst = 0;
  for (let o = -400; o <= 400; o++) worst = Math.max(worst, Math.abs(p(o) - q(o)));
  return worst;
}

describe('the centre of a star of eight, with ties to oneself', () => {
  it.each(['q(x, y) :- friend(x, y)', 'edges', 'q(x) :- friend(x, y)', '2-paths'])(
    'loses at most epsilon in %j',
    async (text) => {
      for (const degree of [1, 8]) {
        const full = await world(star + ownTies, text, degree);
        const bare = await world(withoutCentre, text, degree);
        expect(laplaceLoss(full, bare)).toBeLessThanOrEqual(1);
        expect(ladderLoss(full, bare)).toBeLessThanOrEqual(1);
        if (text.startsWith('q(x, y)')) {
          expect(laplaceLoss(full, bare)).toBe(1);
          // The planted twin: a count that sees the tie of the centre to itself.
          expect(laplaceLoss({ ...full, answer: full.answer + 1n }, bare)).toBeGreaterThan(1.06);
        }
      }
    },
  );

  it('is nobody’s alone, though a column of the ties is called like the unit', async () => {
    // As an owner of its ties, each would be cut at its own part, while eight others move with it.
    const plan = async () => (await world(star, 'edges', 8, '[id, b]')).scale;
    expect(await plan()).toBe(8);
  });
});
