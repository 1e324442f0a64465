import { describe, expect, it } from 'vitest';
import type { Policy } from '../../policy/policy.js';
import { synthCsv } from './synth-csv.js';

const declared = (more: object) => ({ missing: [], ...more });

describe('synthetic rows as a CSV', () => {
  it('synthetic rows write a missing answer as the data does, even where a number column uses a text for it', () => {
    const columns = new Map(
      Object.entries({
        age: declared({ type: 'integer', missing: ['NA', 'refused'] }),
        pay: declared({ type: 'number', decimal: ',' }),
        party: declared({ type: 'category', missing: ['-9'] }),
      }),
    ) as unknown as Policy['columns'];
    const rows = synthCsv(
      [
        { name: 'home', type: 'number', whole: true, values: [1, 1] },
        { name: 'age', type: 'number', whole: true, values: [31, null] },
        { name: 'pay', type: 'number', values: [1.5, null] },
        { name: 'party', type: 'text', values: ['a, b', '-9'] },
      ],
      { columns },
    );
    expect(rows).toBe('home,age,pay,party\n1,31,"1,5","a, b"\n1,NA,,-9\n');
  });
});
