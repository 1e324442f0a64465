import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { attackStream } from '../src/app/api/attack-stream.js';
import { stream } from '../src/app/api/stream.js';
import { registerAttackCommand } from '../src/app/cli/attack.js';
import { runCommand } from './command.js';

let folder: string;
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Fifteen people who mostly stay where they are. */
async function streamed(): Promise<{ policy: string; lines: string }> {
  folder = mkdtempSync(join(tmpdir(), 'fugu-attack-'));
  const days = 10;
  const rows = Array.from({ length: 15 }, (_, p) =>
    Array.from({ length: days }, (_, d) => `p${p},${d + 1},${(p + Math.floor((d + p) / 6)) % 2 === 0 ? 'home' : 'away'}`),
  ).flat();
  writeFileSync(join(folder, 'moves.csv'), `person,day,place\n${rows.join('\n')}\n`);
  writeFileSync(join(folder, 'daily.json'), '[[0.9, 0.1], [0.1, 0.9]]');
  const policy = join(folder, 'moves.yaml');
  writeFileSync(
    policy,
    `data: { source: moves.csv }
protect: { secret: row }
budget: { epsilon: 20 }
ledger: ledger.db
dependence: [{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]
columns:
  day: { type: integer, bounds: [1, 60], public: true }
  place: { type: category, values: [home, away] }
`,
  );
  const lines: string[] = [];
  const request = { query: { kind: 'histogram', column: 'place' }, through: days, epsilon: 2 } as const;
  for await (const step of await stream(policy, request)) lines.push(JSON.stringify(step));
  expect(lines).toHaveLength(days);
  return { policy, lines: lines.join('\n') };
}

describe('an attack on a stream', () => {
  it('the attack learns more along the sequence than step by step, and no more than promised and than leakage over time states', async () => {
    const { policy, lines } = await streamed();
    const file = join(folder, 'moves.jsonl');
    writeFileSync(file, lines);
    const found = await attackStream(policy, { stream: file, show: 15 });
    expect(found).toMatchObject({ private: true, persons: 15, attacked: 15, promised: { epsilon: 20 } });
    const [independent, along] = found.attackers;
    expect(along!.most).toBeGreaterThan(independent!.most);
    expect([independent!.beyond, along!.beyond]).toEqual([0, 0]);
    for (const { steps } of found.exposed)
      for (const { gain, leakage, along: belief, limit } of steps) {
        expect(gain).toBeLessThanOrEqual(leakage! + 1e-9);
        expect(belief).toBeLessThanOrEqual(limit + 1e-9);
      }
  });

  it('the attack finds the promise broken if each step promises only for itself, and draws the posterior', async () => {
    const { policy, lines } = await streamed();
    const file = join(folder, 'moves.jsonl');
    // As if every step had been paid for without the sequence.
    const each = lines.split('\n').map((line) => {
      const released = JSON.parse(line);
      const cost = released.receipt.profile.perRecord['*'].split('/').map(Number);
      released.receipt.guarantee.epsilon = 0.5 * (cost[0] / (cost[1] ?? 1));
      return JSON.stringify(released);
    });
    writeFileSync(file, each.join('\n'));
    const document = JSON.parse(await runCommand(registerAttackCommand, 'attack', policy, '--stream', file, '--json'));
    expect(document.attackers[1].beyond).toBeGreaterThan(0);
    expect(readFileSync(document.page, 'utf8')).toContain('It did not keep the promise');
    expect(readFileSync(document.page, 'utf8').match(/<svg/g)!.length).toBeGreaterThanOrEqual(3);
  });

  it('the attack refuses files that are no stream, and names files to attack', async () => {
    const { policy } = await streamed();
    const file = join(folder, 'x.jsonl');
    writeFileSync(file, '{"step":1}\n');
    await expect(attackStream(policy, { stream: file })).rejects.toMatchObject({ code: 'DATA_MALFORMED' });
    await expect(runCommand(registerAttackCommand, 'attack', policy)).rejects.toMatchObject({ code: 'USAGE' });
  });
});
