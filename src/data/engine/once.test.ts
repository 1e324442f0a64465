import { describe, expect, it } from 'vitest';
import { once } from './once.js';

describe('a value that is computed once', () => {
  it('callers that waited for a failed computation repeat it', async () => {
    const kept: { size?: Promise<number> } = {};
    let begun = 0;
    const late = async (): Promise<number> => {
      throw new Error('late');
    };
    const inTime = async () => ++begun;
    const first = once(kept, 'size', late);
    const others = [once(kept, 'size', inTime), once(kept, 'size', inTime)];
    await expect(first).rejects.toThrow('late');
    expect(await Promise.all(others)).toEqual([1, 1]);
    expect(await once(kept, 'size', inTime)).toBe(1);
    await expect(once({} as typeof kept, 'size', late)).rejects.toThrow('late');
  });
});
