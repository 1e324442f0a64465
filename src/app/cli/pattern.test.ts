import { describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/command.js';
import { registerPatternCommand } from './pattern.js';

const pattern = async (...words: string[]) => JSON.parse(await runCommand(registerPatternCommand, 'pattern', ...words, '--json'));
const triangle = 'q(x,y,z) :- R(x,y), R(y,z), R(z,x), x != y, y != z, z != x';

describe('the command fugu pattern', () => {
  it('fugu pattern prints the facts that follow from the text alone', async () => {
    const found = await pattern(triangle, '--domain', '10000', '--epsilon', '1', '--log', 'natural');
    expect(found).toMatchObject({
      stable: true,
      witness: null,
      subgoals: 3,
      variables: 3,
      globalSensitivity: 29994,
      chosen: 'residual-ladder',
    });
    expect(found.lambda / 7.04e6).toBeCloseTo(1, 2);
    for (const candidate of found.candidates)
      expect(candidate).toMatchObject({
        mechanism: expect.any(String),
        scale: expect.any(Number),
        expectedError: expect.any(Number),
        guarantee: expect.any(String),
      });
  });

  it('fugu pattern rounds lambda up by default, and the result is never smaller', async () => {
    const safe = await pattern(triangle, '--domain', '10000', '--epsilon', '1');
    expect(Number.isInteger(safe.lambda)).toBe(true);
    expect(safe.lambda).toBeGreaterThan(7.04e6 * 2);
  });

  it('fugu pattern shows the witness of an unstable query and leaves Algorithm 2.1 out', async () => {
    const found = await pattern('q() :- R(x,y), R(z,w)', '--domain', '1000', '--epsilon', '1', '--gamma', '0.1');
    expect(found).toMatchObject({ stable: false, witness: expect.stringMatching(/can add every/) });
    expect(found.candidates.map((c: { mechanism: string }) => c.mechanism)).not.toContain('algorithm-2.1');
  });

  it('fugu pattern protects absence and positive correlations on request', async () => {
    const paper = async (...words: string[]) => {
      const found = await pattern(...words, '--epsilon', '1', '--gamma', '0.1');
      return found.candidates.find((c: { mechanism: string }) => c.mechanism === 'algorithm-2.1');
    };
    const paths = ['q(x,y,z) :- R(x,y), R(y,z), x != y, y != z, z != x', '--domain', '1000000'];
    expect(await paper(...paths)).toMatchObject({ meets: true });
    expect(await paper(...paths, '--together', '2')).toMatchObject({ meets: false });
    expect(await paper(...paths, '--absence')).toBeUndefined();
    const [one, two] = [
      await paper(triangle, '--domain', '10000'),
      await paper(triangle, '--domain', '10000', '--together', '2'),
    ];
    expect(two.scale).toBe(2 * one.scale);
  });

  it('fugu pattern prints and uses a lambda of power g where absence is protected, as section 4.3 of the paper needs', async () => {
    const words = [triangle, '--domain', '10000000000000', '--epsilon', '1', '--gamma', '0.1', '--log', 'natural'];
    const [presence, absence] = [await pattern(...words), await pattern(...words, '--absence')];
    const base = 8 * (3 + 1) * 3 ** 2 * Math.log(1e13);
    expect(presence.lambda / base ** 2).toBeCloseTo(1, 9);
    expect(absence.lambda / base ** 3).toBeCloseTo(1, 9);
    const scale = (found: typeof presence) =>
      found.candidates.find((c: { mechanism: string }) => c.mechanism === 'algorithm-2.1').scale;
    expect(scale(absence) / scale(presence)).toBeCloseTo(base, 3);
  });

  it('fugu pattern refuses a clustering coefficient with adversarial privacy, as a release does', async () => {
    const args = ['clustering coefficient', '--domain', '100000000000', '--epsilon', '1', '--gamma', '0.1'];
    await expect(pattern(...args)).rejects.toMatchObject({ code: 'QUERY_UNSUPPORTED' });
  });

  it('fugu pattern continues with other mechanisms where gamma is too small for the domain, as a release does', async () => {
    for (const more of [[], ['--symmetric']]) {
      const found = await pattern('2-paths', '--domain', '10000', '--epsilon', '1', '--gamma', '0.00001', ...more);
      const plain = await pattern('2-paths', '--domain', '10000', '--epsilon', '1', ...more);
      expect(found.chosen).toBe(plain.chosen);
    }
  });

  it('fugu pattern plans the clustering coefficient as two counts', async () => {
    const found = await pattern('clustering coefficient', '--domain', '1000', '--epsilon', '1', '--symmetric');
    expect(found.parts).toHaveLength(2);
  });

  it.each([
    [['q(x) :- R(x,y', '--domain', '100', '--epsilon', '1'], 'PATTERN_SYNTAX'],
    [[triangle, '--domain', '1.5', '--epsilon', '1'], 'USAGE'],
    [[triangle, '--domain', '100', '--epsilon', '0'], 'BUDGET_INVALID'],
    [[triangle, '--domain', '100', '--epsilon', '1', '--together', '0'], 'USAGE'],
    [[triangle, '--domain', '100', '--epsilon', '1', '--log', 'ten'], 'USAGE'],
    [['q(x) :- R(x,y), x != x', '--domain', '100', '--epsilon', '1'], 'PATTERN_UNSATISFIABLE'],
  ])('fugu pattern refuses %j with %s', async (args, code) => {
    await expect(pattern(...args)).rejects.toMatchObject({ code });
  });
});
