import { afterEach, describe, expect, it } from 'vitest';
import { type Answered, openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const count = { question: { kind: 'count', by: ['party'] }, epsilon: '1/4' };

async function over(token: string, job: string): Promise<Answered> {
  for (;;) {
    const answer = await town.ask(token, `/v1/jobs/${job}`);
    if (answer.status !== 200 || !['waiting', 'running'].includes(answer.body.state)) return answer;
    await new Promise((go) => setTimeout(go, 10));
  }
}

/** A job that works until it is released, so that others wait. */
function held(token: string): () => void {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((go) => {
    open = go;
  });
  town.service.jobs.begin(town.tokens.find(token)!, 'town', async () => {
    await gate;
    return {};
  });
  return open;
}

describe('jobs of a service', () => {
  it('a job works while nobody waits, and reports its outcome to those who may know', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const begun = await town.ask(ann, '/v1/policies/town/jobs', count);
    expect(begun).toMatchObject({ status: 202, body: { policy: 'town' } });
    const { job } = begun.body;
    const events = (await town.ask(ann, `/v1/jobs/${job}/events`)).body as string;
    expect(events.trim().split('\n\n').at(-1)).toMatch(/^event: done\n/);
    const done = await over(ann, job);
    expect(done.body).toMatchObject({ state: 'done', outcome: { state: 'recorded' }, answer: { receipt: { label: 'count' } } });
    expect((await town.ask(ann, '/v1/policies/town/release', count)).body.receipt.ledger.replayed).toBe(true);
    expect((await town.ask(town.token('bob', 'analyst'), `/v1/jobs/${job}`)).status).toBe(404);
    expect((await town.ask(town.token('eve', 'steward', { policies: ['village'] }), `/v1/jobs/${job}`)).status).toBe(404);
    expect((await town.ask(town.token('root', 'steward'), `/v1/jobs/${job}`)).body.state).toBe('done');
  });

  it('a job reports the fault it ended in, and the state of the budget', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const { job } = (await town.ask(ann, '/v1/policies/town/jobs', { question: { kind: 'count', by: ['nothing'] } })).body;
    expect((await over(ann, job)).body).toMatchObject({
      state: 'failed',
      outcome: { state: 'not spent' },
      problem: { code: 'COLUMN_UNKNOWN', status: 422 },
    });
  });

  it('a job cancelled before anything is reserved spends nothing, and otherwise keeps its reservation', async () => {
    town = await openTown(undefined, { jobsWorking: 1 });
    const ann = town.token('ann', 'analyst');
    const open = held(ann);
    const jobs = await Promise.all(
      ['1/8', '1/9', '1/10', '1/11'].map(
        async (epsilon) => (await town.ask(ann, '/v1/policies/town/jobs', { ...count, epsilon })).body.job as string,
      ),
    );
    const cancelled = await town.send(`/v1/jobs/${jobs[3]}`, { method: 'DELETE', headers: { authorization: `Bearer ${ann}` } });
    expect(cancelled.body.state).toBe('cancelled');
    open();
    const ends = await Promise.all(jobs.map((job) => over(ann, job)));
    expect(ends.map(({ body }) => body.state)).toEqual(['done', 'done', 'done', 'cancelled']);
    await town.service.jobs.ended();
    expect((await town.ask(ann, `/v1/jobs/${jobs[3]}`)).body).toMatchObject({
      state: 'cancelled',
      outcome: { state: 'not spent' },
    });
    // One that is over is as it was.
    await town.send(`/v1/jobs/${jobs[0]}`, { method: 'DELETE', headers: { authorization: `Bearer ${ann}` } });
    expect((await over(ann, jobs[0]!)).body.state).toBe('done');
    expect((await town.ask(ann, '/v1/policies/town/ledger')).body.entries).toHaveLength(3);
  });

  it('a job cancelled after its reservation still records its answer: nothing is given back', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const { jobs } = town.service;
    const served = town.service.policyOf({ id: '', name: '', role: 'steward', policies: undefined }, 'town')!;
    const caller = { ...town.tokens.find(ann)! };
    let found = '';
    const { job } = jobs.begin(caller, 'town', async ({ outcomes, decide }) => {
      const { note } = outcomes;
      outcomes.note = (outcome) => {
        note.call(outcomes, outcome);
        if (outcome.state === 'spent') jobs.find(caller, found).cancel();
      };
      return served.of('ann', { outcomes, decide }).release({ kind: 'count', by: ['party'] });
    });
    found = job;
    await jobs.ended();
    const view = jobs.find(caller, job).view();
    expect(view).toMatchObject({ state: 'cancelled', outcome: { state: 'recorded' } });
    expect(view).not.toHaveProperty('answer');
    const again = await town.ask(ann, '/v1/policies/town/release', { question: { kind: 'count', by: ['party'] } });
    expect(again.body.receipt.ledger.replayed).toBe(true);
  });

  it('one token cannot start jobs without limit, and nobody can once the service stops', async () => {
    town = await openTown(undefined, { jobsWorking: 1, jobsEach: 2 });
    const ann = town.token('ann', 'analyst');
    const begin = (epsilon: string) => town.ask(ann, '/v1/policies/town/jobs', { ...count, epsilon });
    const open = held(ann);
    expect([(await begin('1/8')).status, (await begin('1/9')).status]).toEqual([202, 429]);
    town.service.stop();
    expect((await begin('1/11')).status).toBe(503);
    open();
    await town.service.jobs.ended();
    const entries = (
      await town.service.policyOf({ id: '', name: '', role: 'steward', policies: undefined }, 'town')!.of('x').entries()
    ).length;
    expect(entries).toBe(0);
  });
});
