import { describe, expect, it } from 'vitest';
import { RateLimiter, Turns } from './turns.js';

describe('a queue of turns', () => {
  it('turns pass on in order, and a request is refused when the queue is full', async () => {
    const turns = new Turns(1, 2);
    const first = await turns.take();
    const order: string[] = [];
    const second = turns.take().then((back) => {
      order.push('second');
      back!();
    });
    const third = turns.take().then((back) => {
      order.push('third');
      back!();
    });
    expect(turns.waiting).toBe(2);
    expect(await turns.take()).toBeUndefined();
    first!();
    first!();
    await Promise.all([second, third]);
    expect([order, turns.busy, turns.waiting]).toEqual([['second', 'third'], 0, 0]);
  });

  it('a wait for a turn ends after its patience, and a turn that is free later is not lost', async () => {
    const turns = new Turns(1, 2);
    const first = await turns.take();
    expect(await turns.take(5)).toBeUndefined();
    expect([turns.busy, turns.waiting]).toEqual([1, 0]);
    first!();
    expect(turns.busy).toBe(0);
    expect(await turns.take(5)).toBeDefined();
  });
});

describe('a rate limit', () => {
  it('a rate limit admits a burst, and then a fixed number per second, for each name separately', () => {
    const rate = new RateLimiter(2, 1);
    expect([rate.wait('a', 0), rate.wait('a', 0)]).toEqual([0, 0]);
    expect(rate.wait('a', 0)).toBe(1);
    expect(rate.wait('b', 0)).toBe(0);
    expect(rate.wait('a', 500)).toBe(0.5);
    expect(rate.wait('a', 1000)).toBe(0);
    expect(rate.wait('a', 1000)).toBeGreaterThan(0);
  });
});
