import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { push } from './push.js';
import { TangentTables, tangents } from './tangents.js';

const odds = fc.oneof(fc.double({ min: 1e-6, max: 40, noNaN: true }), fc.constant(Number.POSITIVE_INFINITY));

describe('push by tangents', () => {
  it('the tangents are never below push, and at most a part in two million above it', () => {
    fc.assert(
      fc.property(odds, fc.array(fc.double({ min: 0, max: 12, noNaN: true }), { minLength: 50, maxLength: 50 }), (d, losses) => {
        const passed = tangents(d);
        for (const e of [1, 1e-3, 1e-9].flatMap((scale) => losses.map((x) => (x < 1e-200 ? 0 : x * scale)))) {
          // push itself is rounded up, so what it exceeds push by may be less than nothing by that much.
          const [line, exact] = [passed(e), push(e, d)];
          if (!(line >= exact * (1 - 2 ** -47) && line <= exact * (1 + 5e-7))) expect([e, line]).toEqual([e, exact]);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('the tangents are above push between their points, at the ends of the table and beyond', () => {
    for (const d of [0.01, 0.7, Math.log(4), 3, 12]) {
      const passed = tangents(d);
      const below = Array.from({ length: 8 * 1024 }, (_, k) => k / 1024).filter((e) => passed(e) < push(e, d) * (1 - 2 ** -47));
      expect(below).toEqual([]);
      expect(passed(1e6)).toBe(push(1e6, d));
      expect(passed(0)).toBe(0);
    }
    expect(tangents(0)(3)).toBe(0);
  });

  it('no tables are made for few pushes, nor for too many different strengths', () => {
    expect(new TangentTables(100).of(1)).toBeUndefined();
    const many = new TangentTables(1e6);
    const made = Array.from({ length: 40 }, (_, k) => many.of(k + 1));
    expect(made.filter((table) => table !== undefined)).toHaveLength(32);
    expect(many.of(3)).toBe(made[2]);
  });
});
