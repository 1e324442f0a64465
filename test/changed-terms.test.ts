import { afterEach, describe, expect, it } from 'vitest';
import { Fault, open } from '../src/index.js';
import { changedTerms } from '../src/ledger/changed-terms.js';
import { openWorkshop, policyYaml, type Workshop } from './workshop.js';

let shop: Workshop;
afterEach(() => shop?.remove());

async function refusedWith(first: string, then: string): Promise<string> {
  shop = openWorkshop(first, 60);
  {
    await using fugu = await open(shop.policyFile);
    await fugu.release({ kind: 'count' }, { epsilon: 0.1 });
  }
  shop.write('policy.yaml', then);
  await using fugu = await open(shop.policyFile);
  const fault = await fugu.release({ kind: 'count' }, { epsilon: 0.1 }).catch((error: unknown) => error as Fault);
  expect(fault).toBeInstanceOf(Fault);
  expect((fault as Fault).code).toBe('LEDGER_MISMATCH');
  return (fault as Fault).message;
}

describe('a ledger that knows other terms', () => {
  it.each<[string, string, string, RegExp]>([
    [
      'ties',
      policyYaml(),
      policyYaml({ dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' }),
      /dependence was none and is .*groups.*home.*4/,
    ],
    ['a strength', policyYaml({ dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]' }), policyYaml({ dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' }), /oddsRatio: 2.* and is .*oddsRatio: 4/], // biome-ignore format: one line
    ['a budget', policyYaml(), policyYaml({ budget: '{ epsilon: 2 }' }), /: epsilon was 1 and is 2\.$/],
    [
      'an adversary',
      policyYaml(),
      policyYaml({ protect: '{ secret: row, unit: id, adversary: uninformed }' }),
      /: adversary was informed and is uninformed\.$/,
    ],
  ])('says which line has changed: %s', async (_, first, then, said) => {
    expect(await refusedWith(first, then)).toMatch(said);
  });

  it('an account from before the lines were kept is told by what it knows', () => {
    expect(
      changedTerms('epsilon 1, secret row, adversary informed', 'epsilon 1, secret row, adversary informed; dependence none'),
    ).toBeUndefined();
  });
});
