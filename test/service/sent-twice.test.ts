import { afterEach, describe, expect, it } from 'vitest';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const synth = { question: { synth: { columns: ['party'], rows: 20 } }, epsilon: '1/4' };
const paid = async (root: string): Promise<number> =>
  (await town.ask(root, '/v1/policies/town/ledger')).body.entries.filter((e: { epsilon?: number }) => e.epsilon).length;

describe('a request sent again before it is answered', () => {
  it('the request is paid for once, even if its reservation cannot be resumed', async () => {
    town = await openTown();
    const [root, ann] = [town.token('root', 'steward'), town.token('ann', 'analyst')];
    const send = (token: string, label: string) => town.ask(token, '/v1/policies/town/release', { ...synth, label });
    const answers = await Promise.all([send(root, 'one'), send(root, 'two'), send(ann, 'three')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { body } of answers) expect(body.receipt.ledger.entry).toBe(answers[0]!.body.receipt.ledger.entry);
    expect(answers.filter(({ body }) => !body.receipt.ledger.replayed)).toHaveLength(1);
    expect(await paid(root)).toBe(1);
  });

  it('the request is paid for once under one key and as a job; fresh requests without a key each pay', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const send = (more: object, headers = {}) => town.ask(root, '/v1/policies/town/release', { ...synth, ...more }, headers);
    const key = { 'idempotency-key': 'k' };
    await Promise.all([send({ fresh: true }, key), send({ fresh: true }, key)]);
    expect(await paid(root)).toBe(1);
    await Promise.all([send({ fresh: true }), send({ fresh: true })]);
    expect(await paid(root)).toBe(3);
    for (let k = 0; k < 2; k++) await town.ask(root, '/v1/policies/town/jobs', { ...synth, epsilon: '1/8' });
    await town.service.jobs.ended();
    expect(await paid(root)).toBe(4);
  });

  it('the request is tried again if the first was refused', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const answers = await Promise.all([0, 1].map(() => town.ask(root, '/v1/policies/town/release', { ...synth, epsilon: '9' })));
    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
  });
});
