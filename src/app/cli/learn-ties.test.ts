import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import { Fault } from '../../base/errors.js';
import { registerLearnCommand } from './learn.js';

let shop: Workshop;
const people = 4000;
/** Couples: p0-p1, p2-p3, ... who agree four times in five (odds ratio 16). */
const party = (i: number) => (Math.floor(i / 2) % 2 === (i % 2 === 1 && Math.floor(i / 4) % 5 === 0 ? 1 : 0) ? 'dem' : 'rep');
const csv = () =>
  `id,home,party,age,weight,media\n${Array.from({ length: people }, (_, i) => `p${i},h0,${party(i)},30,1,tv`).join('\n')}\n`;
const friends = () => `a,b\n${Array.from({ length: people / 2 }, (_, k) => `p${2 * k},p${2 * k + 1}`).join('\n')}\n`;
const relation = (more = '') =>
  `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 5000, symmetric: true${more} }\n`;
const ties = '[{ kind: ties, relation: friend }]';
beforeEach(() => {
  shop = openWorkshop(policyYaml({ dependence: ties, extra: relation() }));
  shop.write('people.csv', csv());
  shop.write('friends.csv', friends());
});
afterEach(() => shop.remove());

const run = (...words: string[]) => runCommand(registerLearnCommand, 'learn', 'ties', ...words);
const json = async (...words: string[]) => JSON.parse(await run(...words, '--json'));
const fault = async (...words: string[]): Promise<Fault> => {
  const error = await run(...words).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(Fault);
  return error as Fault;
};

describe('the command fugu learn ties', () => {
  it('fugu learn ties estimates an odds ratio from public pairs, and suggests a declaration', async () => {
    const lines = Array.from({ length: 2000 }, (_, k) => `${party(2 * k)},${party(2 * k + 1)}`);
    const pairs = shop.write('pairs.csv', `mine,theirs\n${lines.join('\n')}\n,dem\n`);
    const found = await json('--public', pairs, '--column', 'party');
    expect(found).toMatchObject({ origin: 'public', column: 'party', confidence: 0.95 });
    expect(found.oddsRatio).toBeCloseTo(16, 0);
    expect(found.interval[0]).toBeLessThan(16);
    expect(found.declare).toBeGreaterThanOrEqual(found.interval[1]);
    expect(found.declare).toBeLessThan(26);
    expect(await run('--public', pairs, '--column', 'party')).toMatch(/declare oddsRatio: \d+[\s\S]*cost nothing/);
  });

  it('fugu learn ties estimates it from the protected table, pays for it, and widens the interval for the noise', async () => {
    const found = await json(shop.policyFile, '--relation', 'friend', '--column', 'party', '--epsilon', '0.5');
    expect(found).toMatchObject({ origin: 'paid', unjudged: ['other'] });
    expect(found.receipt.ledger.entry).toBeGreaterThan(0);
    // Copies of two share the budget: half of 0.5 per record, two counts moved.
    expect(found.noiseScale).toBeCloseTo(8, 1);
    expect(found.interval[0]).toBeLessThanOrEqual(16);
    expect(found.interval[1]).toBeGreaterThanOrEqual(16);
    expect(found.interval[1]).toBeLessThan(80);
    const session = await shop.session();
    expect((await session.plan({ kind: 'count' })).budget.spent).toBeCloseTo(0.5, 9);
    await session.close();
    const again = await json(shop.policyFile, '--relation', 'friend', '--column', 'party', '--epsilon', '0.5');
    expect(again.oddsRatio).toBe(found.oddsRatio);
    expect(again.receipt.ledger.replayed).toBe(true);
  });

  it('fugu learn ties refuses an invalid request before anything is spent', async () => {
    const args = [shop.policyFile, '--relation', 'friend', '--epsilon', '0.5'];
    expect(await fault(...args)).toMatchObject({ code: 'USAGE' });
    expect(await fault(...args, '--column', 'age')).toMatchObject({ code: 'QUERY_UNSUPPORTED' });
    expect(await fault(...args, '--column', 'partei')).toMatchObject({ code: 'COLUMN_UNKNOWN' });
    expect(await fault(...args, '--column', 'party', '--pairs-each', '0')).toMatchObject({ code: 'USAGE' });
    expect(await fault(...args, '--column', 'party', '--confidence', '1')).toMatchObject({ code: 'USAGE' });
    expect(await fault(shop.policyFile, '--relation', 'kin', '--column', 'party', '--epsilon', '1')).toMatchObject({
      code: 'RELATION_UNKNOWN',
    });
    const hidden = shop.write('hidden.yaml', policyYaml({ extra: relation() }));
    expect((await fault(hidden, '--relation', 'friend', '--column', 'party', '--epsilon', '1')).message).toMatch(/private/);
    const open = shop.write(
      'open.yaml',
      policyYaml({ extra: relation(', private: false') }).replace('population: town', 'population: open'),
    );
    expect((await json(open, '--relation', 'friend', '--column', 'party', '--epsilon', '1')).noiseScale).toBeCloseTo(2, 6);
    expect(await fault()).toMatchObject({ code: 'USAGE' });
    expect(await fault('--public', join(shop.folder, 'none.csv'))).toMatchObject({ code: 'DATA_NOT_FOUND' });
    expect(await fault('--public', shop.write('one.csv', 'a\n1\n2\n'))).toMatchObject({ code: 'DATA_MALFORMED' });
  });

  it('fugu learn ties makes ties from public coordinates that a policy can read', async () => {
    const coords = shop.write(
      'coords.csv',
      `id,x,y\n${Array.from({ length: 40 }, (_, i) => `p${i},${(i % 8) * 2},${Math.floor(i / 8) * 2}`).join('\n')}\n`,
    );
    const out = join(shop.folder, 'near.csv');
    const made = await json('--distance', coords, '--radius', '0.5', '--least', '1.2', '--out', out);
    expect(made).toMatchObject({ people: 40, written: out });
    expect(made.ties).toBeGreaterThan(40);
    expect(made.notes.join(' ')).toMatch(/not protected/);
    const lines = readFileSync(out, 'utf8').trim().split('\n');
    expect(lines[0]).toBe('a,b,oddsRatio');
    expect(lines).toHaveLength(made.ties + 1);
    const policy = policyYaml({
      dependence: '[{ kind: ties, relation: near, oddsColumn: oddsRatio }]',
      extra: 'relations:\n  near: { table: near.csv, columns: [a, b], domain: 5000, symmetric: true, private: false }\n',
    });
    const session = await shop.session(shop.write('near.yaml', policy));
    expect((await session.plan({ kind: 'count' })).whatIf).toHaveLength(3);
    await session.close();
    const among = await json(
      '--distance',
      coords,
      '--radius',
      '0.3',
      '--out',
      out,
      '--pairs',
      shop.write('few.csv', 'a,b\np0,p1\np1,p1\n'),
    );
    expect(among.ties).toBe(1);
    expect(await fault('--distance', coords, '--out', out)).toMatchObject({ code: 'USAGE' });
    expect(await fault('--distance', coords, '--radius', '1', '--unit', 'yards', '--out', out)).toMatchObject({ code: 'USAGE' });
    expect(await fault('--distance', coords, '--radius', '1', '--unit', 'degrees', '--out', out)).toMatchObject({
      code: 'COLUMN_UNKNOWN',
    });
  });

  it('fugu learn ties makes ties between people with similar attributes', async () => {
    const file = shop.write(
      'attributes.csv',
      'id,job,town,club\nann,nurse,york,chess\nbob,nurse,york,chess\ncid,baker,york,go\ndan,smith,bath,\n',
    );
    const out = join(shop.folder, 'alike.csv');
    expect(await json('--affinity', file, '--threshold', '0.8', '--odds-ratio', '4', '--out', out)).toMatchObject({
      ties: 1,
      strongest: 4,
    });
    expect(readFileSync(out, 'utf8')).toBe('a,b,oddsRatio,similarity\nann,bob,4,1\n');
    expect(await json('--affinity', file, '--threshold', '0.3', '--out', out)).toMatchObject({ ties: 3 });
    expect(await json('--affinity', file, '--norm', 'l1', '--out', out)).toMatchObject({ ties: 0 });
    expect(await fault('--affinity', file, '--norm', 'l2', '--out', out)).toMatchObject({ code: 'USAGE' });
    expect(await fault('--affinity', file)).toMatchObject({ code: 'USAGE' });
    const twice = shop.write('twice.csv', 'id,job\nann,nurse\nann,baker\n');
    expect(await fault('--affinity', twice, '--out', out)).toMatchObject({ code: 'DATA_MALFORMED' });
  });
});
