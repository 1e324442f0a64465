import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../data/terms/read.js';

const start = 'data: { source: a.csv }\nprotect: { secret: row }\nbudget: { epsilon: 1 }\ndependence: none\n';
const faultOf = async (text: string) => {
  const fault = await parsePolicy(text, 'policy.yaml').then(
    () => undefined,
    (error) => error as { message: string; hint: string },
  );
  return fault && [fault.message, fault.hint];
};

describe('a malformed section of a policy', () => {
  it.each([
    ['relations: { friend: { table: f.csv, domain: 20 } }', 'Write {table: friends.csv, columns: [a, b], domain: 200000, symmetric: true}.'],
    ['relations: { friend: { table: f.csv, columns: [a, b] } }', 'Write {table: friends.csv, columns: [a, b], domain: 200000, symmetric: true}.'],
  ])('the fault of a malformed section shows its usage: %s', async (line, hint) => {
    expect((await faultOf(`${start}${line}\n`))?.[1]).toBe(hint);
  }); // biome-ignore format: one line

  it('the fault of an incomplete section names the missing key', async () => {
    expect((await faultOf(`${start}relations: { friend: { table: f.csv, columns: [a, b] } }\n`))?.[0]).toBe(
      'The domain is missing.',
    );
  });
});
