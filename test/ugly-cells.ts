import { divide, fromNumber, type Rational, rational, subtract } from '../src/base/exact/rational.js';

/** A cell as it stands in a file: its stored form and its meaning, by hand. */
export interface UglyCell {
  readonly sql: string;
  /** Its text; null for a missing answer. */
  readonly text: string | null;
  /** The exact number, where the stored type is one. */
  readonly number?: Rational;
}
export interface StoredType {
  readonly type: string;
  /** Form in which the engine shows it. */
  readonly shown: 'text' | 'integer' | 'real' | 'boolean';
  readonly tame: UglyCell;
  /** Values that a neighbour may have instead. */
  readonly cells: readonly UglyCell[];
}

/** A small fixed generator: a failing case must fail again. */
export function seededPick(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor((((Math.imul(state ^ (state >>> 13), 0x297a2d39) >>> 0) % 0x7fffffff) / 0x7fffffff) * n);
  };
}
export type PickBelow = ReturnType<typeof seededPick>;

const nothing: UglyCell = { sql: 'NULL', text: null };
const quote = (text: string): string =>
  text.includes('\0') ? text.split('\0').map(quote).join(' || chr(0) || ') : `'${text.replaceAll("'", "''")}'`;

const integer = (type: string, n: bigint): UglyCell => ({
  sql: `CAST('${n}' AS ${type})`,
  text: `${n}`,
  number: rational(n),
});
const interesting = [0n, 1n, 2n, 4n, 5n, 9n, 10n, 11n, 99n, 100n, 127n, 255n, 2n ** 24n + 1n, 2n ** 31n, 2n ** 32n, 2n ** 48n];
const brinks = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 64n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n];
function integers(type: string, low: bigint, high: bigint, pick: PickBelow): StoredType {
  const bits = (high - low).toString(2).length;
  const random = Array.from({ length: 12 }, () => {
    const size = 1 + pick(bits);
    let n = 0n;
    for (let i = 0; i < size; i++) n = 2n * n + BigInt(pick(2));
    return pick(2) === 0 ? n : -n;
  });
  const list = [low, low + 1n, high - 1n, high, ...interesting, ...brinks, 2n ** 126n, 2n ** 127n + 2n ** 64n + 1n, ...random];
  const fit = [...new Set(list.flatMap((n) => [n, -n]))].filter((n) => n >= low && n <= high);
  const shown = low >= -(2n ** 63n) && high < 2n ** 63n ? 'integer' : 'text';
  return { type, shown, tame: integer(type, 3n), cells: [nothing, ...fit.map((n) => integer(type, n))] };
}

const real = (type: 'FLOAT' | 'DOUBLE', x: number): UglyCell => ({
  sql: `CAST('${x}' AS ${type})`,
  text: `${x}`,
  ...(Number.isFinite(x) && { number: fromNumber(type === 'FLOAT' ? Math.fround(x) : x) }),
});
const reals = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 0.1, 0.5, 1, 1.5, 2.5, 3.3, 4.5, 10, 99, -1],
  ...[5e-324, 1e-45, 1e-9, 5.000000000000001e-7, 0.9999999999999999, 4.499999999999999, 4.500000000000001, -2.525, 7.225, 1 / 3],
  ...[2 ** 24 + 1, 1e15, 999999999999999, 1e22, 2 ** 53, 2 ** 53 + 2, 2 ** 63, -(2 ** 63), 2 ** 64, 1e30, 1e38, 3.4e38],
];
const doubles: StoredType = {
  type: 'DOUBLE',
  shown: 'real',
  tame: real('DOUBLE', 3),
  cells: [nothing, ...[...reals, 1e39, 1e300, Number.MAX_VALUE, -Number.MAX_VALUE].map((x) => real('DOUBLE', x))],
};
const floats: StoredType = {
  type: 'FLOAT',
  shown: 'real',
  tame: real('FLOAT', 3),
  cells: [nothing, ...reals.map((x) => real('FLOAT', x))],
};

/** Digits in all, and behind the point. */
const decimalTypes = [[4, 1], [9, 4], [15, 2], [16, 3], [18, 0], [18, 6], [19, 0], [38, 0], [38, 10]] as const; // biome-ignore format: one line
function decimals(width: number, scale: number, pick: PickBelow): StoredType {
  const type = `DECIMAL(${width},${scale})`;
  const cell = (units: bigint): UglyCell => {
    const digits = `${units < 0n ? -units : units}`.padStart(scale + 1, '0');
    const split = digits.length - scale;
    const text = `${units < 0n ? '-' : ''}${digits.slice(0, split)}${scale > 0 ? `.${digits.slice(split)}` : ''}`;
    return { sql: `CAST('${text}' AS ${type})`, text, number: rational(units, 10n ** BigInt(scale)) };
  };
  const most = 10n ** BigInt(width) - 1n;
  const one = 10n ** BigInt(scale);
  const random = Array.from({ length: 12 }, () => {
    let n = 0n;
    for (let i = 0; i < 1 + pick(width); i++) n = 10n * n + BigInt(pick(10));
    return n;
  });
  const list = [
    0n,
    1n,
    one,
    one / 2n,
    (5n * one) / 2n,
    (9n * one) / 2n,
    10n * one,
    99n * one,
    most,
    most - 1n,
    ...brinks,
    ...random,
  ];
  const fit = [...new Set(list.flatMap((n) => [n, -n]))].filter((n) => n <= most && -n <= most);
  return {
    type,
    shown: scale > 0 ? 'real' : width <= 18 ? 'integer' : 'text',
    tame: cell(3n * one),
    cells: [nothing, ...fit.map(cell)],
  };
}

const word = (text: string): UglyCell => ({ sql: quote(text), text });
/** Numbers, near numbers, codes, near codes, and bytes that hurt. */
export const uglyWords: readonly string[] = [
  ...[
    '0',
    '1',
    '2',
    '3',
    '10',
    '99',
    '-1',
    '5',
    '4.5',
    '0.5',
    '.5',
    '5.',
    '+5',
    '-0',
    '00',
    '007',
    '1.0',
    '2.00',
    '-1.0',
    '99.0',
  ],
  ...[
    '1e1',
    '1E+01',
    '2.5e-1',
    '1e400',
    '-1e400',
    '1e-400',
    '1e308',
    '1.7976931348623159e308',
    '4.9e-324',
    '2.4703282292062328e-324',
  ],
  ...[
    '9007199254740993',
    '9007199254740992.5',
    '9223372036854775808',
    '18446744073709551615',
    '1e30',
    '123456789012345678901234567890',
  ],
  ...[
    '0.30000000000000004',
    '0.1000000000000000055511151231257827021181583404541015625',
    '-2.525',
    '7.225',
    '0.0000005000000001',
  ],
  ...['1e0000000000000000001', '1e99999999999999999999', '1e-99999999999999999999', `${'0'.repeat(300)}5`, `1${'0'.repeat(400)}`],
  ...[
    'nan',
    'NaN',
    '-nan',
    'inf',
    '-Infinity',
    'infinity',
    'null',
    'NULL',
    'true',
    'false',
    'TRUE',
    't',
    'yes',
    '0x10',
    '0b1',
    '0o7',
    '1_0',
  ],
  ...[
    '1d',
    '1f',
    '1L',
    '1n',
    '1,5',
    '1 000',
    '5 5',
    '--1',
    '+-1',
    '1e',
    '1e+',
    'e5',
    '.',
    '+',
    '-',
    '1..2',
    '1.e3',
    '.e3',
    '1e1.5',
    '१',
    '٣',
    '５',
  ],
  ...[
    ' 1',
    '1 ',
    '\t1\n',
    '\v1\f',
    '\u00a01',
    '1\u00a0',
    '\u20031',
    '\ufeff1',
    '1\ufeff',
    '\u200b1',
    '\u00851',
    '\u20281',
    '1\0',
    '\x001',
    '\0',
  ],
  ...[
    'x',
    ' x ',
    '\tx\r\n',
    '\u00a0x',
    '\ufeffx',
    'x\0',
    'X',
    'dem',
    ' dem',
    'dem\n',
    'é',
    'e\u0301',
    '日本',
    '🦑',
    '\ufffd',
    '\ud7ff',
    'tv',
    'TV',
  ],
  ...[
    'tv;1',
    '1;2',
    '1; 2 ;0',
    ';',
    ';;',
    '1;',
    '1;1',
    'tv,1',
    '1, 2',
    '1,2',
    '1 ,2',
    '\ufeff1;tv',
    'tv;\0',
    ' ',
    '',
    '\t',
    '\r',
    '\n',
    '\r\n',
    '"',
    '""',
    '"1"',
  ],
  ...[
    "'",
    "'; DROP TABLE fugu_data; --",
    '\\',
    '\\x31',
    '$1',
    '%',
    '[1, 2]',
    '{}',
    '2020-01-02',
    'a,b;c|d',
    '1.5',
    '1.50',
    '1e3',
    '1000',
  ],
  ...['x'.repeat(300), `1${' '.repeat(300)}`, `${'1;'.repeat(200)}tv`],
];
/** Longer than any cell of a CSV may be. */
const longWords: readonly string[] = [
  'x'.repeat(70_000),
  `${' '.repeat(70_000)}1`,
  `1${' '.repeat(70_000)}`,
  `${'0'.repeat(70_000)}1`,
  `1;${'x'.repeat(70_000)}`,
  '"'.repeat(70_000),
];
const texts = (more: readonly string[]): StoredType => ({
  type: 'VARCHAR',
  shown: 'text',
  tame: word('3'),
  cells: [nothing, ...uglyWords.map(word), ...more.map(word)],
});

const odd = (type: string, tame: string, ...cells: readonly (readonly [sql: string, text: string | null])[]): StoredType => ({
  type,
  shown: 'text',
  tame: { sql: `CAST(${quote(tame)} AS ${type})`, text: tame },
  cells: [nothing, ...cells.map(([sql, text]) => ({ sql: `CAST(${sql} AS ${type})`, text }))],
});

const booleans: StoredType = {
  type: 'BOOLEAN',
  shown: 'boolean',
  tame: { sql: 'true', text: 'true', number: rational(1) },
  cells: [nothing, { sql: 'false', text: 'false', number: rational(0) }, { sql: 'true', text: 'true', number: rational(1) }],
};
const wholes = (type: string, bits: bigint, pick: PickBelow): StoredType =>
  integers(type, -(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n, pick);

/** Every type DuckDB stores, with cells at its edges. */
export function storedTypes(pick: PickBelow): readonly StoredType[] {
  const signed = (bits: bigint) => [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] as const;
  const unsigned = (bits: bigint) => [0n, 2n ** bits - 1n] as const;
  return [
    booleans,
    ...(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT'] as const).flatMap((type, i) => {
      const bits = 8n * 2n ** BigInt(i);
      return [integers(type, ...signed(bits), pick), integers(`U${type}`, ...unsigned(bits), pick)];
    }),
    floats,
    doubles,
    ...decimalTypes.map(([width, scale]) => decimals(width, scale, pick)),
    texts(longWords),
    odd(`ENUM('3', '1', ' 1', 'x', '0x10', '')`, '3', ["'1'", '1'], ["' 1'", ' 1'], ["'x'", 'x'], ["'0x10'", '0x10'], ["''", '']),
    odd(
      'DATE',
      '2020-01-02',
      ["'infinity'", 'infinity'],
      ["'-infinity'", '-infinity'],
      ["'5877642-06-25 (BC)'", '5877642-06-25 (BC)'],
      ["'5881580-07-10'", '5881580-07-10'],
    ),
    odd('TIME', '12:00:00', ["'24:00:00'", '24:00:00'], ["'00:00:00.000001'", '00:00:00.000001']),
    odd('TIMETZ', '12:00:00+00', ["'00:00:00+15:59:59'", '00:00:00+15:59:59']),
    odd(
      'TIMESTAMP',
      '2020-01-02 00:00:00',
      ["'infinity'", 'infinity'],
      ["'294247-01-10 04:00:54.775806'", '294247-01-10 04:00:54.775806'],
    ),
    odd('TIMESTAMP_S', '2020-01-02 00:00:00', ["'infinity'", 'infinity'], ["'294247-01-10 04:00:54'", '294247-01-10 04:00:54']),
    odd(
      'TIMESTAMP_MS',
      '2020-01-02 00:00:00',
      ["'-infinity'", '-infinity'],
      ["'290309-12-22 (BC) 00:00:00'", '290309-12-22 (BC) 00:00:00'],
    ),
    // The text of the last one is refused by a cast.
    odd('TIMESTAMP_NS', '2020-01-02 00:00:00', ["'infinity'", 'infinity'], ['make_timestamp_ns(-9223372036854775808)', null]),
    odd('INTERVAL', '1 day', ["'300000 years'", '300000 years'], ["'-1 month 5 days'", '-1 month 5 days']),
    odd('UUID', '00000000-0000-0000-0000-000000000001', [
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]),
    odd(
      'BLOB',
      '3',
      ["'1'::BLOB", '1'],
      ["'\\xFF\\x00'::BLOB", '\\xFF\\x00'],
      ["''::BLOB", ''],
      ["'\\xEF\\xBB\\xBF1'::BLOB", '\\xEF\\xBB\\xBF1'],
    ),
    odd('BIT', '11', ["'1'", '1'], ["'0101'", '0101'], ["'10'", '10']),
    odd('INTEGER[]', '[3]', ["'[1, 2]'", '[1, 2]'], ["'[]'", '[]'], ["'[NULL]'", '[NULL]']),
    odd('FLOAT[2]', '[3.0, 3.0]', ["'[1, NaN]'", '[1.0, nan]'], ["'[NULL, inf]'", '[NULL, inf]']),
    odd('DECIMAL(4,1)[]', '[3.0]', ["'[1]'", '[1.0]']),
    odd('STRUCT(a INTEGER, b VARCHAR)', "{'a': 3, 'b': x}", ["{'a': NULL, 'b': NULL}", "{'a': NULL, 'b': NULL}"]),
    odd('MAP(VARCHAR, INTEGER)', '{a=3}', ['MAP {}', '{}'], ["MAP {'1': 1}", '{1=1}']),
    odd(
      'UNION(n INTEGER, s VARCHAR)',
      '3',
      ['union_value(n := 1)', '1'],
      ["union_value(s := ' 1')", ' 1'],
      ["union_value(s := '')", ''],
    ),
    odd('JSON', '3', ["'1'", '1'], [`'"1"'`, '"1"'], ["'null'", 'null'], [`'{"a": [1]}'`, '{"a": [1]}']),
    odd(
      'BIGNUM',
      '3',
      ["'1'", '1'],
      [`'-${'9'.repeat(300)}'`, `-${'9'.repeat(300)}`],
      [`'1${'0'.repeat(400)}'`, `1${'0'.repeat(400)}`],
    ),
    odd('VARIANT', '3', ['1', '1'], ["'x'", 'x'], ['[1, 2]', '[1, 2]'], ['1.5', '1.5']),
  ];
}

const bitLength = (n: bigint): number => n.toString(2).length;
/** The double nearest to a fraction, halves to even; infinite beyond the largest. Integers only, so that no other reading can lend a rounding. */
export function nearestDouble(value: Rational): number {
  if (value.num === 0n) return 0;
  const negative = value.num < 0n;
  const top = negative ? -value.num : value.num;
  let exponent = bitLength(top) - bitLength(value.den) - 53;
  for (;;) {
    const lifted = Math.max(exponent, -1074);
    const [a, b] = lifted >= 0 ? [top, value.den << BigInt(lifted)] : [top << BigInt(-lifted), value.den];
    let q = a / b;
    const twice = 2n * (a % b);
    if (twice > b || (twice === b && q % 2n === 1n)) q++;
    if (q <= 2n ** 53n) {
      // q has at most 53 bits, so both products are exact.
      const x =
        lifted < -1000
          ? Number(q) * 2 ** -1000 * 2 ** (lifted + 1000)
          : lifted > 971
            ? Number.POSITIVE_INFINITY
            : Number(q) * 2 ** lifted;
      return negative ? -x : x;
    }
    exponent++;
  }
}

const blanks = new Set([' ', '\t', '\n', '\v', '\f', '\r']);
const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9';
/** The number in a text, digit by digit: [blanks] [sign] digits [. digits] [e [sign] digits] [blanks], a digit before or after the point. */
export function parseNumberText(text: string): Rational | undefined {
  const chars = [...text];
  let i = 0;
  const skip = () => {
    while (blanks.has(chars[i]!)) i++;
  };
  const sign = () => {
    if (chars[i] !== '+' && chars[i] !== '-') return 1n;
    return chars[i++] === '-' ? -1n : 1n;
  };
  const digits = () => {
    let found = '';
    while (isDigit(chars[i])) found += chars[i++];
    return found;
  };
  skip();
  const outer = sign();
  const whole = digits();
  let part = '';
  if (chars[i] === '.') {
    i++;
    part = digits();
  }
  if (whole === '' && part === '') return undefined;
  let power = 0n;
  if (chars[i] === 'e' || chars[i] === 'E') {
    i++;
    const inner = sign();
    const exponent = digits();
    if (exponent === '') return undefined;
    power = inner * BigInt(exponent);
  }
  skip();
  if (i < chars.length) return undefined;
  const units = outer * BigInt(whole + part);
  const scale = power - BigInt(part.length);
  // Beyond every double either way: too large is not a number, too small is zero.
  if (units === 0n || scale < -100_000n) return rational(0);
  if (scale > 100_000n) return rational(outer * 10n ** 400n);
  return scale >= 0n ? rational(units * 10n ** scale) : rational(units, 10n ** -scale);
}

/** The nearest grid position by the arithmetic the grid declares: two roundings to doubles, then halves to even. */
export function gridPositionOf(
  value: Rational,
  { low, step, last, missing }: { low: Rational; step: Rational; last: number; missing: readonly string[] },
): number {
  const x = nearestDouble(value);
  if (!Number.isFinite(x)) return -1;
  for (const code of missing) {
    const number = parseNumberText(code);
    if (number && nearestDouble(number) === x) return -1;
  }
  const from = nearestDouble(low);
  const top = nearestDouble(rational(low.num * step.den + BigInt(last) * step.num * low.den, low.den * step.den));
  if (x < from) return 0;
  if (x >= top) return last;
  const off = fromNumber(nearestDouble(subtract(fromNumber(x), fromNumber(from))));
  const rate = fromNumber(nearestDouble(divide(rational(1), step)));
  const at = fromNumber(nearestDouble(rational(off.num * rate.num, off.den * rate.den)));
  const below = at.num / at.den;
  const twice = 2n * (at.num - below * at.den);
  return Number(twice > at.den || (twice === at.den && below % 2n === 1n) ? below + 1n : below);
}

/** Every type PostgreSQL stores that a table of people may have, with cells at its edges; no text holds the letter 0 there. */
export function postgresTypes(pick: PickBelow): readonly StoredType[] {
  const renamed = (stored: StoredType, type: string): StoredType => {
    const cell = (c: UglyCell): UglyCell => ({ ...c, sql: c.sql.replace(` AS ${stored.type})`, ` AS ${type})`) });
    return { ...stored, type, tame: cell(stored.tame), cells: stored.cells.map(cell) };
  };
  // A value that a real cannot hold is refused when written.
  const held = ({ text }: UglyCell) => Number(text) === 0 || Math.fround(Number(text)) !== 0;
  const printable = ({ text }: UglyCell) => !text?.includes('\0');
  const letters = (type: string, more: readonly string[], most = Number.POSITIVE_INFINITY): StoredType => {
    const all = texts(more);
    return { ...all, type, cells: all.cells.filter((c) => printable(c) && (c.text?.length ?? 0) <= most) };
  };
  const bare = (stored: StoredType): StoredType => ({
    ...stored,
    cells: stored.cells.map((c) => ({ ...c, text: c.text?.replace(/ +$/, '') ?? null })),
  });
  return [
    booleans,
    wholes('SMALLINT', 16n, pick),
    wholes('INTEGER', 32n, pick),
    wholes('BIGINT', 64n, pick),
    wholes('NUMERIC(39,0)', 127n, pick),
    renamed({ ...floats, cells: floats.cells.filter(held) }, 'REAL'),
    renamed(doubles, 'DOUBLE PRECISION'),
    ...[...decimalTypes, [100, 50] as const].map(([width, scale]) =>
      renamed(decimals(width, scale, pick), `NUMERIC(${width},${scale})`),
    ),
    odd(
      'NUMERIC',
      '3',
      ["'NaN'", 'NaN'],
      ["'1e400'", `1${'0'.repeat(400)}`],
      ["'-0.50'", '-0.50'],
      ["'10'", '10'],
      ["'1e-500'", `0.${'0'.repeat(499)}1`],
    ),
    odd('NUMERIC(5,2)', '3.00', ["'NaN'", null]),
    letters('TEXT', longWords),
    letters('VARCHAR(400)', [], 400),
    bare(letters('CHAR(400)', [], 400)),
    letters('TEXT COLLATE "und-x-icu"', []),
    odd(
      'DATE',
      '2020-01-02',
      ["'infinity'", 'infinity'],
      ["'-infinity'", '-infinity'],
      ["'4713-01-01 BC'", '4713-01-01 BC'],
      ["'5874897-12-31'", '5874897-12-31'],
    ),
    odd('TIME', '12:00:00', ["'24:00:00'", '24:00:00'], ["'00:00:00.000001'", '00:00:00.000001']),
    odd(
      'TIMESTAMP',
      '2020-01-02 00:00:00',
      ["'infinity'", 'infinity'],
      ["'294276-12-31 23:59:59.999999'", '294276-12-31 23:59:59.999999'],
    ),
    odd('TIMESTAMPTZ', '2020-01-02 00:00:00+00', ["'infinity'", 'infinity']),
    odd('INTERVAL', 'P1D', ["'300 years'", 'P300Y'], ["'-1 month 5 days'", 'P-1M5D']),
    odd('UUID', '00000000-0000-0000-0000-000000000001', [
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]),
    odd('BYTEA', '\\x33', ["'\\x31'", '\\x31'], ["'\\xff00'", '\\xff00'], ["''", '\\x']),
    odd('BIT VARYING', '11', ["'1'", '1'], ["'0101'", '0101'], ["'10'", '10']),
    odd('INTEGER[]', '{3}', ["'{1,2}'", '{1,2}'], ["'{}'", '{}'], ["'{NULL}'", '{NULL}']),
    odd('JSON', '3', ["'1'", '1'], [`'"1"'`, '"1"'], ["'null'", 'null'], [`'{"a": [1]}'`, '{"a": [1]}']),
    odd('JSONB', '3', ["'1.50'", '1.50'], ["'1e400'", `1${'0'.repeat(400)}`], [`'"tv"'`, '"tv"']),
    odd('INET', '10.0.0.1/32', ["'::1'", '::1/128']),
    odd('INT4RANGE', '[3,4)', ["'empty'", 'empty'], ["'(,)'", '(,)']),
  ];
}

/** Every type that a cluster shows, with cells at its edges; they are written as text. */
export function trinoTypes(pick: PickBelow): readonly StoredType[] {
  return [
    booleans,
    wholes('TINYINT', 8n, pick),
    wholes('SMALLINT', 16n, pick),
    wholes('INTEGER', 32n, pick),
    wholes('BIGINT', 64n, pick),
    { ...floats, type: 'REAL' },
    doubles,
    ...decimalTypes.map(([width, scale]) => decimals(width, scale, pick)),
    texts(longWords),
    odd('DATE', '2020-01-02', ["'9999-12-31'", '9999-12-31'], ["'0001-01-01'", '0001-01-01']),
    odd('UUID', '00000000-0000-0000-0000-000000000001', [
      "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
    ]),
  ];
}
