import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { openWorkshop, policyYaml, type Workshop } from '../../../test/workshop.js';
import type { PolicyAttack } from '../../evaluate/attack/policy/attack.js';
import { registerAttackCommand } from './attack.js';
import { registerReleaseCommand as registerRelease } from './release.js';

const households = '[{ kind: groups, by: home, column: party, oddsRatio: 400 }]';
let workshop: Workshop;
let strangers: string;
let tied: string;

beforeAll(async () => {
  // Members of a home agree, except in one home in ten.
  workshop = openWorkshop(policyYaml({ budget: '{ epsilon: 3 }' }));
  const rows = Array.from({ length: 900 }, (_, i) => {
    const home = Math.floor(i / 3);
    const party = ['dem', 'rep', 'other'][(home + (home % 10 === 0 ? i : 0)) % 3];
    return `p${i},h${home},${party},${20 + (i % 60)},1,tv`;
  });
  workshop.write('people.csv', `id,home,party,age,weight,media\n${rows.join('\n')}\n`);
  tied = workshop.write('tied.yaml', policyYaml({ budget: '{ epsilon: 3 }', dependence: households }).replace('town', 'village'));
  strangers = join(workshop.folder, 'out');
  const query = ['--query', '{"kind":"histogram","column":"party"}', '--epsilon', '3'];
  await runCommand(registerRelease, 'release', workshop.policyFile, ...query, '--out', strangers, '--json');
  await runCommand(registerRelease, 'release', tied, ...query, '--out', join(workshop.folder, 'out-tied'), '--json');
});
afterAll(() => workshop.remove());

const attack = async (policy: string, ...words: string[]): Promise<PolicyAttack & { page: string }> =>
  JSON.parse(await runCommand(registerAttackCommand, 'attack', policy, ...words, '--json'));

/** The promise holds for the worst answer: overwrite the noise with the answer that reveals most. */
function extreme(folder: string): void {
  const file = join(folder, 'party.csv');
  const name = existsSync(file) ? file : join(folder, 'histogram-party.csv');
  const lines = readFileSync(name, 'utf8').trim().split('\n');
  const moved = lines.map((line, k) => {
    const cells = line.split(',');
    if (k > 0) cells[1] = `${Number(cells[1]) + (k === 1 ? 1 : -1) * Math.round(4 * Number(cells[2]))}`;
    return cells.join(',');
  });
  writeFileSync(name, `${moved.join('\n')}\n`);
}

describe('the command fugu attack', () => {
  it('fugu attack finds the promise kept for a release that paid for the ties, whatever the answer', async () => {
    const folder = join(workshop.folder, 'out-tied');
    extreme(folder);
    const found = await attack(tied, '--release', folder);
    expect(found.promised.epsilon).toBe(3);
    for (const a of found.attackers) expect(a.most).toBeLessThanOrEqual(3);
    // Knowledge of the ties helps: the gain exceeds that of an attacker without ties.
    const [, , alone, knowing] = found.attackers;
    expect(knowing!.most).toBeGreaterThan(1.5 * alone!.most);
  });

  it('fugu attack shows that a release without the ties breaks its promise to people in households', async () => {
    extreme(strangers);
    const found = await attack(tied, '--release', strangers);
    const [everyone, , , knowing] = found.attackers;
    expect(everyone!.beyond).toBe(0);
    expect(everyone!.most).toBeLessThanOrEqual(3 + 1e-9);
    expect(knowing!.most).toBeGreaterThan(3);
    expect(knowing!.beyond).toBeGreaterThan(100);
    const exposed = found.exposed[0]!;
    expect(exposed.ties).toBe(2);
    expect(exposed.beliefs.map((b) => b.prior.reduce((s, p) => s + p, 0))).toEqual([1, 1, 1, 1].map((n) => expect.closeTo(n, 9)));
  });

  it('fugu attack writes a page that is marked private and loads nothing', async () => {
    const { page, exposed } = await attack(tied, '--release', strangers, '--show', '2');
    expect(exposed).toHaveLength(2);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('Not for publication');
    expect(html).toContain('Knows the ties, knows everyone but the tied');
    expect(html).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)/);
    rmSync(page);
    const text = await runCommand(
      registerAttackCommand,
      'attack',
      tied,
      '--release',
      strangers,
      '--out',
      join(workshop.folder, 'a.html'),
    );
    expect(text).toContain('The promise was broken');
    expect(existsSync(page)).toBe(false);
  });

  it('fugu attack reports equal posteriors with and without ties when none are declared', async () => {
    const found = await attack(workshop.policyFile, '--release', strangers);
    expect(found.attackers[0]!.most).toBeCloseTo(found.attackers[3]!.most, 12);
  });

  it('fugu attack refuses folders and columns that it cannot read', async () => {
    await expect(attack(tied, '--release', workshop.folder)).rejects.toThrowError(/cannot be read/);
    await expect(attack(tied, '--release', strangers, '--column', 'age')).rejects.toThrowError(/no histogram of "age"/);
    writeFileSync(join(workshop.folder, 'receipt.json'), '{}');
    await expect(attack(tied, '--release', workshop.folder)).rejects.toThrowError(/receipt.json/);
  });
});
