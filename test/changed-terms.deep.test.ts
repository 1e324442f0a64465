import { afterEach, describe, expect, it } from 'vitest';
import { registerLedgerCommand as registerLedger } from '../src/app/cli/ledger.js';
import { amendTerms, Fault, open } from '../src/index.js';
import { changedTerms } from '../src/release/ledger/changed-terms.js';
import { runCommand } from './command.js';
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

describe('a ledger that holds other terms', () => {
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
  ])('the fault names the line that has changed: %s', async (_, first, then, expected) => {
    expect(await refusedWith(first, then)).toMatch(expected);
  });

  it('an account from before lines were kept is compared by the terms it has', () => {
    expect(
      changedTerms('epsilon 1, secret row, adversary informed', 'epsilon 1, secret row, adversary informed; dependence none'),
    ).toBeUndefined();
  });
});

describe('the hint of a ledger that holds other terms', () => {
  const row = policyYaml();
  const added = policyYaml({ protect: '{ secret: row, unit: id, neighbours: add-remove }' });
  const person = policyYaml({ protect: '{ secret: person, unit: id, maxRows: 2 }' });
  const answer = policyYaml({ protect: '{ secret: answer }' });
  const open_ = (of: string) => of.replace('values: [dem, rep, other] }', 'values: [dem, rep, other], public: true }');
  const tied = policyYaml({ dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' });
  const more = policyYaml({ budget: '{ epsilon: 2 }' });

  it.each<[string, string, string, 'amend' | 'population']>([
    ['replace, then add-remove', row, added, 'population'],
    ['add-remove, then replace', added, row, 'population'],
    ['a row, then a person', row, person, 'population'],
    ['a person, then a row', person, row, 'population'],
    ['an answer, then a row', answer, row, 'amend'],
    ['a row, then an answer', row, answer, 'population'],
    ['what was public and given away, then not', open_(answer), answer, 'population'],
    ['other ties', row, tied, 'amend'],
    ['another budget', row, more, 'amend'],
  ])('the hint proposes a way that works: %s', async (_, first, then, way) => {
    shop = openWorkshop(first, 60);
    const query = { kind: 'histogram', column: 'party' } as const;
    const ask = async () => {
      await using fugu = await open(shop.policyFile);
      return await fugu.release(query, { epsilon: 0.1 });
    };
    await ask();
    shop.write('policy.yaml', then);
    const fault = (await ask().catch((error: unknown) => error)) as Fault;
    expect(fault).toMatchObject({ code: 'LEDGER_MISMATCH' });
    expect(/ledger POLICY amend/.test(fault.hint) ? 'amend' : 'population').toBe(way);
    const ledger = await runCommand(registerLedger, 'ledger', shop.policyFile);
    expect(ledger).toMatch(
      way === 'amend' ? /until "[ \w]*fugu ledger POLICY amend/ : /cannot take them over: write "population: NAME"/,
    );
    if (way === 'amend') await amendTerms(shop.policyFile, { reason: 'as the hint says' });
    else {
      expect(fault.hint).toMatch(/write "population: NAME"/);
      await expect(amendTerms(shop.policyFile, { reason: 'all the same' })).rejects.toMatchObject({ code: 'LEDGER_MISMATCH' });
      shop.write('policy.yaml', then.replace('population: town', 'population: "town, by the new terms"'));
    }
    expect((await ask()).tables).toHaveLength(1);
  });
});
