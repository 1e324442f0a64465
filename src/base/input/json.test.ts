import { describe, expect, it } from 'vitest';
import { parseJson } from './json.js';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

describe('the JSON parser', () => {
  it('the JSON parser accepts nesting up to the limit and refuses deeper nesting, closed or not', () => {
    expect(() => parseJson(nested(64))).not.toThrow();
    for (const text of [nested(65), '{"a":'.repeat(65), '['.repeat(1e6)])
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }));
  });

  it('brackets inside strings do not count as nesting', () => {
    const text = JSON.stringify({ a: `${'['.repeat(100)}"\\`, b: '\\"{{' });
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it('malformed JSON fails as in JSON.parse', () => {
    for (const text of ['', '{', '"', '"\\', 'nul', '[1,]']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
