import { expect, it } from 'vitest';
import { category, number, samplePolicy } from '../../../test/sample-policy.js';
import { pairReach } from '../../policy/pairs/examples.js';
import { pairsPicture } from './pairs-picture.js';

it('the picture of pairs shows which values can be distinguished, and over how many pairs', () => {
  const policy = samplePolicy([number('age', '0', '90'), category('region', ['n', 's', 'e', 'w']), category('land', ['x'])], {
    pairs: {
      digest: 'd',
      declarations: [],
      columns: new Map([
        ['age', { form: 'steps', steps: 10, missing: 'apart', size: 91 }],
        ['region', { form: 'blocks', blockOf: [0, 0, 1, 1], missing: 'apart', size: 4 }],
        ['land', { form: 'same', missing: 'apart', size: 1 }],
      ]),
    },
  });
  const reach = pairReach(policy);
  expect(reach.map(({ column, from }) => [column, from])).toEqual([
    ['age', '45'],
    ['region', 's'],
  ]);
  expect(reach[0]!.values).toContainEqual({ value: '65', steps: 2 });
  expect(reach[1]!.values).toEqual([
    { value: 'n', steps: 1 },
    { value: 's', steps: 0 },
    { value: 'e', steps: null },
    { value: 'w', steps: null },
  ]);
  const { body, label, width } = pairsPicture(reach);
  expect(label).toBe(
    'age: 45 is not distinguished from 35, 55. region: s is not distinguished from n; it may be distinguished from e, w',
  );
  expect(body.match(/<rect/g)).toHaveLength(reach[0]!.values.length + 4);
  expect([body.includes('>2x<'), body.includes('>open<'), width < 900]).toEqual([true, true, true]);
});
