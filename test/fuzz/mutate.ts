import type { SeededRandom } from './random.js';

/** Numbers at the limits of the readers. */
const numbers = [
  '0',
  '-0',
  '1',
  '-1',
  '0.1',
  '.5',
  '5.',
  '1e308',
  '1e-308',
  '1e309',
  '1e-324',
  '5e-324',
  '1e999999999',
  '-1e-400',
  '1.7976931348623157e308',
  '9007199254740993',
  '18446744073709551616',
  '2147483648',
  'NaN',
  'Infinity',
  '-Infinity',
  'inf',
  '.inf',
  '1/3',
  '1/0',
  '0/0',
  '0x10',
  '1_000',
  '٣',
  '1e',
  '--1',
  '1'.repeat(400),
  `0.${'0'.repeat(330)}1`,
  '1'.repeat(1001),
  `1e-${'9'.repeat(30)}`,
] as const;
/** Names that mean something to a language, a database, a terminal or a file system. */
const words = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'prototype',
  '*',
  '',
  ' ',
  '.',
  '..',
  '/',
  '%00',
  'NULL',
  'null',
  'true',
  'undefined',
  'NaN',
  '(missing)',
  'used:x',
  'once:rows',
  'levels:a',
  'data',
  'age',
  'party',
  'friend',
  'sum',
  'count',
  'x',
  '\u001b[2J',
  '\u0007',
  '\u0000',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\u202e',
  'é',
  'e\u0301',
  '💥',
  "'",
  '"',
  '`',
  '\\',
  '\\u0000',
  '\n',
  '\r\n',
  '\t',
  ';',
  '--',
  '/*',
  '*/',
  '$1',
  '$$',
  '%',
  '@',
  '&a',
  '*a',
  '<<',
  '!!x',
  '|',
  '>',
  '-',
  '?',
  ':',
  '#',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  ',',
  '<',
  '=',
  '!=',
  '..',
] as const;

type Mutation = (text: string, random: SeededRandom, other: string) => string;
const place = (text: string, random: SeededRandom) => random.below(text.length + 1);
const slice = (text: string, random: SeededRandom): [number, number] => {
  const from = place(text, random);
  return [from, Math.min(text.length, from + 1 + random.below(random.chance(0.2) ? text.length + 1 : 12))];
};

const mutations: readonly Mutation[] = [
  (text, random) => {
    const [from, to] = slice(text, random);
    return text.slice(0, from) + text.slice(to);
  },
  (text, random) => {
    const [from, to] = slice(text, random);
    return text.slice(0, to) + text.slice(from, to) + text.slice(to);
  },
  (text, random) => {
    const at = place(text, random);
    return text.slice(0, at) + random.pick(words) + text.slice(at);
  },
  (text, random) => {
    const at = place(text, random);
    return text.slice(0, at) + String.fromCharCode(random.below(random.chance(0.8) ? 128 : 65_536)) + text.slice(at + 1);
  },
  // A number elsewhere in the text becomes another one.
  (text, random) => {
    const found = [...text.matchAll(/-?\d+(?:\.\d+)?(?:e-?\d+)?/gi)];
    if (found.length === 0) return text + random.pick(numbers);
    const one = random.pick(found);
    return text.slice(0, one.index) + random.pick(numbers) + text.slice(one.index + one[0].length);
  },
  // So does a word.
  (text, random) => {
    const found = [...text.matchAll(/\w+/g)];
    if (found.length === 0) return random.pick(words);
    const one = random.pick(found);
    const by = random.chance(0.5) ? random.pick(words) : random.pick(found)[0];
    return text.slice(0, one.index) + by + text.slice(one.index + one[0].length);
  },
  (text, random, other) => text.slice(0, place(text, random)) + other.slice(place(other, random)),
  (text, random) => text.slice(0, place(text, random)),
  // Length, width and depth.
  (text, random) => {
    const [from, to] = slice(text, random);
    const times = random.pick([10, 100, 100, 1000, 5000]);
    return text.slice(0, to) + text.slice(from, to).slice(0, 40).repeat(times) + text.slice(to);
  },
  (text, random) => {
    const [open, close] = random.pick([
      ['(', ')'],
      ['[', ']'],
      ['{', '}'],
      ['{"a":', '}'],
      ['((', '))'],
      ['- ', ''],
      ['? ', ''],
      ['NOT ', ''],
    ] as const);
    const [from, to] = slice(text, random);
    const times = random.pick([1, 5, 50, 500, 5000]);
    return (
      text.slice(0, from) +
      open.repeat(times) +
      text.slice(from, to) +
      (random.chance(0.7) ? close.repeat(times) : '') +
      text.slice(to)
    );
  },
  (text, random) => {
    const swapped = [...text];
    const [a, b] = [random.below(Math.max(1, swapped.length)), random.below(Math.max(1, swapped.length))];
    [swapped[a], swapped[b]] = [swapped[b] ?? '', swapped[a] ?? ''];
    return swapped.join('');
  },
];

/** One to six mutations; one in twelve cases stays unchanged. */
export function mutate(text: string, random: SeededRandom, other: string): string {
  if (random.chance(1 / 12)) return text;
  let mutated = text;
  for (let k = 1 + random.below(random.chance(0.5) ? 2 : 6); k > 0; k--) mutated = random.pick(mutations)(mutated, random, other);
  return mutated.slice(0, 400_000);
}

/** Values that a JSON document may hold where another was expected. */
const values: readonly unknown[] = [
  null,
  true,
  '',
  '*',
  '__proto__',
  'age',
  'party',
  '1',
  'dem',
  '\u001b[2J',
  'x'.repeat(2000),
  [],
  {},
  [[]],
  [null],
  0,
  -0,
  1,
  -1,
  0.5,
  1e-5,
  2 ** 53,
  1e20,
  1e100,
  1e-100,
  1e308,
  5e-324,
  'inf',
  [1, 2],
  ['age', 'age'],
  { kind: 'count' },
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'],
];

/** Words that are right somewhere. */
const vocabulary = [
  'age',
  'income',
  'party',
  'grade',
  'media',
  'w',
  'a',
  'b',
  'dem',
  'rep',
  '1',
  '2',
  'count',
  'sum',
  'mean',
  'variance',
  'share',
  'histogram',
  'crosstab',
  'quantile',
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  'not in',
  'missing',
  'present',
  'kmeans',
  'classify',
  'pattern',
  'degrees',
  'lloyd',
  'grid',
  'output',
  'objective',
  'svm',
  'histogram',
  'sequence',
  '0.1',
  '1',
  'triangles',
  '3-stars',
  'friend',
  'laplace',
  'ladder',
  'stationary',
  'any',
];

/** Replaces one value of a JSON text. Text that is not JSON stays unchanged. */
export function mutateJson(text: string, random: SeededRandom): string {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return text;
  }
  const holders: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      holders.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(document);
  for (let k = 1 + random.below(3); k > 0 && holders.length > 0; k--) {
    const [node, key] = random.pick(holders);
    const change = random.below(6);
    if (change === 0) delete node[key];
    else if (change === 1 && Array.isArray(node))
      node.push(...Array.from({ length: random.pick([1, 3, 200]) }, () => node[Number(key)]));
    else if (change === 2) node[random.pick(words) || 'x'] = node[key];
    else if (change === 3) node[key] = random.pick(holders)[0][random.pick(holders)[1]] ?? null;
    else if (typeof node[key] === 'string' && random.chance(0.8)) node[key] = random.pick(vocabulary);
    else if (typeof node[key] === 'number' && random.chance(0.6)) node[key] = random.pick([0, 1, 2, 3, 5, 0.5, 30, 1e6, -1, 1e9]);
    else node[key] = random.pick(values);
  }
  try {
    return JSON.stringify(document) ?? 'null';
  } catch {
    return text;
  }
}
