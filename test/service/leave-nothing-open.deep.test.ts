import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { openTown, type ServedTown } from './served.js';

let town: ServedTown;
afterEach(() => town?.close());

const csv = `id,colour,house\n${Array.from({ length: 40 }, (_, k) => `${k},${['red', 'blue'][k % 2]},h${k >> 1}`).join('\n')}\n`;
const sending = (token: string, body: string | ReadableStream<Uint8Array>) => ({
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'x-file-name': 'colours.csv', 'content-type': 'text/csv' },
  body,
  duplex: 'half' as const,
});

/** A body that stays incomplete until `finish` is called. */
function slowBody(): { readonly body: ReadableStream<Uint8Array>; finish(): void } {
  let finish = (): void => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(sender) {
      sender.enqueue(new TextEncoder().encode(csv));
      finish = () => sender.close();
    },
  });
  return { body, finish: () => finish() };
}

describe('a file that is sent slowly', () => {
  it('a slow upload takes no turn of other work, and the number of uploads is limited', async () => {
    town = await openTown(undefined, { working: 1, waiting: 0, waitMilliseconds: 50, sending: 2 });
    const root = town.token('root', 'steward');
    const slow = [slowBody(), slowBody()];
    const sent = slow.map(({ body }) => town.send('/v1/drafts', sending(root, body)));
    await expect.poll(() => readdirSync(`${town.folder}/drafts`).length).toBe(2);
    expect((await town.ask(root, '/v1/policies/town/plan', { question: { kind: 'count' } })).status).toBe(200);
    const third = await town.send('/v1/drafts', sending(root, csv));
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '5']);
    slow[0]!.finish();
    expect((await sent[0]!).status).toBe(200);
    slow[1]!.finish();
    expect((await sent[1]!).status).toBe(200);
    // A refused upload holds no place either.
    for (const name of ['', '../x.csv', 'a b'])
      expect(
        (
          await town.send('/v1/drafts', {
            ...sending(root, csv),
            headers: { ...sending(root, csv).headers, 'x-file-name': name },
          })
        ).status,
      ).toBe(422);
    expect((await town.send('/v1/drafts', sending(root, csv))).status).toBe(200);
    expect((await town.ask(root, '/v1/drafts')).body.drafts).toHaveLength(3);
  });
});

describe('a long calculation', () => {
  it('a long calculation takes no turn of short requests, and their number is limited', async () => {
    town = await openTown(undefined, { working: 1, waiting: 0, waitMilliseconds: 50, figures: 1 });
    const root = town.token('root', 'steward');
    const long = async () => (await town.ask(root, '/v1/policies/village/leakage')).status;
    const short = async () => (await town.ask(root, '/v1/policies/town/plan', { question: { kind: 'count' } })).status;
    const working = (await town.service.turns.take())!;
    expect([await long(), await short()]).toEqual([200, 503]);
    working();
    const figured = (await town.service.figures.take())!;
    expect([await long(), await short()]).toEqual([503, 200]);
    figured();
    expect(await long()).toBe(200);
  });
});

describe('a file for which there was no turn', () => {
  it('the file is not kept: nobody could list or delete it', async () => {
    town = await openTown(undefined, { working: 1, waiting: 0, waitMilliseconds: 50 });
    const root = town.token('root', 'steward');
    const back = (await town.service.turns.take())!;
    expect((await town.send('/v1/drafts', sending(root, csv))).status).toBe(503);
    expect(readdirSync(`${town.folder}/drafts`)).toEqual([]);
    back();
    expect((await town.send('/v1/drafts', sending(root, csv))).status).toBe(200);
    expect(readdirSync(`${town.folder}/drafts`)).toHaveLength(1);
  });
});

describe('a draft', () => {
  it('a draft that became a policy is not restored by a late answer', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const { id } = (await town.send('/v1/drafts', sending(root, csv))).body;
    const { drafts } = town.service;
    await drafts.answer(id, { dependence: 'house' });
    const late = drafts.answer(id, { dependence: 'none' });
    // The last step of confirming, here or in another process.
    drafts.end(id, true);
    await expect(late).rejects.toThrow('There is no such draft');
    expect(drafts.list()).toEqual([]);
    expect(existsSync(`${town.folder}/drafts/${id}/colours.csv`)).toBe(true);
  });

  it('a draft becomes one policy, however many confirm it under however many names', async () => {
    town = await openTown();
    const root = town.token('root', 'steward');
    const { id } = (await town.send('/v1/drafts', sending(root, csv))).body;
    await town.ask(root, `/v1/drafts/${id}/answers`, { dependence: 'house' });
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((name) => town.ask(root, `/v1/drafts/${id}/confirm`, { name })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await town.ask(root, '/v1/policies')).body.policies).toHaveLength(3);
    expect(readdirSync(town.folder).filter((file) => /^(one|two|three)\.yaml$/.test(file))).toHaveLength(1);
    expect((await town.ask(root, `/v1/drafts/${id}/confirm`, { name: 'four' })).status).toBe(404);
  });
});

describe('a listener of a job', () => {
  const listening = async (
    end: (ann: string) => Promise<void> | void,
    headers: (ann: string) => Promise<Record<string, string>>,
  ) => {
    town = await openTown(undefined, { heartbeatMilliseconds: 20 });
    const ann = town.token('ann', 'analyst');
    let open = (): void => undefined;
    const gate = new Promise<object>((go) => {
      open = () => go({});
    });
    const { job } = town.service.jobs.begin(town.tokens.find(ann)!, 'town', () => gate);
    const events = await town.app.request(`http://fugu.test/v1/jobs/${job}/events`, { headers: await headers(ann) });
    expect(events.status).toBe(200);
    await end(ann);
    // Ends by itself: the job goes on.
    const text = await Promise.race([events.text(), after(600_000, 'event: done (it never ended)', { ref: false })]);
    expect(town.service.jobs.underWay).toBe(1);
    open();
    expect(text).not.toContain('event: done');
  };

  it('a listener receives nothing more once their token has ended', () =>
    listening(
      (ann) => void town.tokens.end(town.tokens.find(ann)!.id),
      async (ann) => ({ authorization: `Bearer ${ann}` }),
    ));

  it('a listener receives nothing more once their session has ended', () => {
    let cookie = '';
    return listening(
      () => town.service.sessions.end(cookie.split('=')[1]!),
      async (ann) => {
        const { headers } = await town.ask(undefined, '/v1/session', { token: ann });
        cookie = headers.get('set-cookie')!.split(';')[0]!;
        return { cookie };
      },
    );
  });

  it('a listener who can no longer be identified receives nothing more, and neither the job nor the service is harmed', () =>
    listening(
      (ann) => {
        const { id } = town.tokens.find(ann)!;
        writeFileSync(`${town.folder}/tokens/${id}.json`, 'not a token');
      },
      async (ann) => ({ authorization: `Bearer ${ann}` }),
    ));

  it('a job that this process never had is not found, with a hint at the recorded answer', async () => {
    town = await openTown();
    const ann = town.token('ann', 'analyst');
    const { status, body } = await town.ask(ann, `/v1/jobs/${'0'.repeat(40)}`);
    expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    expect(body.hint).toMatch(/known only to the process that runs it.*ask the same again/);
  });
});
