import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { policyJsonSchema } from './shape.js';

const published = new URL('../../../policy.schema.json', import.meta.url);

it('the published JSON Schema is current (UPDATE_SCHEMA=1 rewrites it)', () => {
  const now = `${JSON.stringify(policyJsonSchema(), null, 2)}\n`;
  if (process.env.UPDATE_SCHEMA) writeFileSync(published, now);
  expect(readFileSync(published, 'utf8')).toBe(now);
});

it('the JSON Schema accepts what people type: numbers, not only their text', () => {
  const text = JSON.stringify(policyJsonSchema());
  expect(text).toContain('"number"');
  expect(JSON.parse(text).required).toEqual(['data', 'protect', 'budget', 'dependence']);
});
