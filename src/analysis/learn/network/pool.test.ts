import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { generatedSurvey } from '../../../../bench/learn.js';
import { splitColumns } from './coded.js';
import { learnChunks } from './learn-chunks.js';

/** Worker threads need compiled code: `npm test` builds first. */
const built = new URL('../../../../dist/analysis/learn/network/learn-chunks.js', import.meta.url);

describe('learning in chunks', () => {
  const table = generatedSurvey(24, 500, 3);
  const chunks = splitColumns(24, 8);

  it('learning reports its progress chunk by chunk', async () => {
    const seen: number[] = [];
    await learnChunks(table, chunks, { progress: (done, total) => seen.push(done / total) });
    expect(seen).toEqual([1 / 3, 2 / 3, 1]);
  });

  it.skipIf(!existsSync(built))('a worker pool finds the same networks, twice in a row and concurrently', async () => {
    const compiled = (await import(built.href)) as { learnChunks: typeof learnChunks };
    const alone = await learnChunks(table, chunks, { threads: 0 });
    expect(await compiled.learnChunks(table, chunks, { threads: 2 })).toEqual(alone);
    const both = await Promise.all([compiled.learnChunks(table, chunks), compiled.learnChunks(table, chunks, { maxParents: 1 })]);
    expect(both[0]).toEqual(alone);
    expect(both[1]).toEqual(await learnChunks(table, chunks, { threads: 0, maxParents: 1 }));
  });
});
