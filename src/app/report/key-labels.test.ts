import { describe, expect, it } from 'vitest';
import { number } from '../../../test/sample-policy.js';
import type { NumberColumn } from '../../policy/policy.js';
import { binLabel } from './key-labels.js';

const label = (low: string, high: string, step: string, code: string) =>
  binLabel({ ...(number('x', low, high, step) as NumberColumn), type: 'number' }, code);

describe('the label of a bin', () => {
  it('a bin ends below the next one, and the last bin ends at its bound', () => {
    expect(label('1', '4.5', '0.0001', '1 to 1.3499')).toBe('1 to below 1.35');
    expect(label('1', '4.5', '0.0001', '4.15 to 4.5')).toBe('4.15 to 4.5');
    expect(label('-50000', '150000', '1', '90000 to 104999')).toBe('90,000 to below 105,000');
    expect(label('0', '1', '0.1', '0.5')).toBe('0.5');
  });
});
