import { describe, expect, it } from 'vitest';
import { parseJson } from './json.js';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('JSON', () => {
  it('may be nested as deep as the limit and no deeper, closed or not', () => {
    expect(() => parseJson(nested(64))).not.toThrow();
    for (const text of [nested(65), '{"a":'.repeat(65), '['.repeat(1e6)])
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  it('may hold any brackets in its texts', () => {
    const text = JSON.stringify({ a: `${'['.repeat(100)}"\\`, b: '\\"{{' });
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('that is no JSON fails as JSON.parse does', () => {
    for (const text of ['', '{', '"', '"\\', 'nul', '[1,]']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
