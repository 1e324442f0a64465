import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runTranscripts } from './climb.js';
import { judgeTranscript, normal } from './judge.js';
import { type AmendableTerms, csv, type PopulationDesign, type PopulationFiles, stepsRead } from './population.js';

/** `npm run transcripts -- 100000` is the long run; the suite takes a slice of it. */
const wanted = 60;

describe('a transcript of releases, streams, amendments and entered receipts', () => {
  it(`every transcript stays within the promise of its final terms, on neighbouring data alike (${wanted} of them)`, async () => {
    const figures = await runTranscripts({ wanted, seed: 1 });
    expect(figures.findings.slice(0, 3).map(({ what, steps, outcomes }) => ({ what, steps, outcomes }))).toEqual([]);
    expect(figures.releases).toBeGreaterThan(wanted / 2);
    expect(figures.refusals).toBeGreaterThan(0);
  });
});

describe('the command npm run transcripts', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('the command runs if the registry of known data is not turned off, and leaves none behind', async () => {
    const state = mkdtempSync(join(tmpdir(), 'fugu-state-'));
    vi.stubEnv('FUGU_REGISTRY', undefined);
    vi.stubEnv('XDG_STATE_HOME', state);
    const argv = vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'main.js', '2']);
    try {
      await import('./main.js');
      expect(existsSync(join(state, 'fugu'))).toBe(false);
    } finally {
      argv.mockRestore();
      rmSync(state, { recursive: true, force: true });
    }
  });
});

/** The judge must detect planted faults. */
describe('the judge of transcripts', () => {
  const design: PopulationDesign = { secret: 'row', neighbours: 'replace', maxRows: 1, x: { type: 'integer', step: 1, high: 4 } };
  const terms: AmendableTerms = { epsilon: 1, delta: 0, weekPublic: false, ties: 'none' };
  const row = (id: number) => ({ id, home: 0, week: id, g: 'a', x: '1' });
  const files: PopulationFiles = { A: [row(0), row(1), row(2)], B: [row(0)] };
  const count = { adds: ({ g }: { g: string }) => [g === 'a' ? 1 : 0], noise: { kind: 'laplace', scale: 1 } as const };
  const lossOf = (more: Partial<AmendableTerms>, ...at: readonly ('A' | 'B')[]) =>
    judgeTranscript(
      { design, terms: { ...terms, ...more }, files },
      at.map((file) => ({ file, ...count })),
      [],
    ).loss;

  it('the judge adds up the rows of one person in two files, and of all members of a home', () => {
    expect(lossOf({}, 'A')).toBe(1);
    expect(lossOf({}, 'A', 'B')).toBe(2);
    expect(lossOf({ ties: 'groups' }, 'A')).toBe(3);
    expect(lossOf({ ties: 'groups' }, 'A', 'B')).toBe(4);
  });

  it('the judge knows that a public week cannot change, and that a secret one can', () => {
    const inWeek = (week: number) => ({
      file: 'A' as const,
      adds: (r: { week: number; g: string }) => [r.week === week && r.g === 'a' ? 1 : 0],
      noise: { kind: 'laplace', scale: 1 } as const,
    });
    const loss = (weekPublic: boolean) =>
      judgeTranscript({ design, terms: { ...terms, weekPublic }, files }, [inWeek(0), inWeek(1)], []).loss;
    expect([loss(true), loss(false)]).toEqual([1, 2]);
  });

  it('the judge finds an exact answer that distinguishes neighbours, and a delta that is too large', () => {
    const exact = { file: 'A' as const, adds: count.adds, noise: { kind: 'none' } as const };
    expect(judgeTranscript({ design, terms, files }, [exact], []).ratio).toBe(Number.POSITIVE_INFINITY);
    const gaussian = (variance: number) => ({
      file: 'A' as const,
      adds: count.adds,
      noise: { kind: 'gaussian', variance } as const,
    });
    // The analytic Gaussian mechanism at (1, 1e-6) has a standard deviation of 4.2217.
    const ratio = (sd: number) =>
      judgeTranscript({ design, terms: { ...terms, delta: 1e-6 }, files }, [gaussian(sd * sd)], []).ratio;
    expect(ratio(4.23)).toBeLessThan(1);
    expect(ratio(4.21)).toBeGreaterThan(1);
  });

  it('the judge reads cells as documented, halves to even', () => {
    const x = { type: 'integer', step: 1, high: 40 } as const;
    expect(['34.5', '35.5', '-3', '99', ''].map((cell) => stepsRead(x, cell))).toEqual([34, 36, 0, 40, undefined]);
    expect(csv([row(3)])).toBe('id,home,week,g,x\np3,h0,3,a,1\n');
    expect(normal(-5) / 2.866515718791939e-7).toBeCloseTo(1, 9);
  });
});
