import * as z from 'zod';
import { Fault } from '../../../base/errors.js';
import { parseJson } from '../../../base/input/json.js';
import { makeNetwork, type Network, type NetworkVariable } from './network.js';
import { readOrigin } from './network-json.js';
import { valueLevels } from './value-levels.js';

/** BIF has no field for who paid for a network, nor for what its values stand for; both travel in comments that are read back. */
const originComment = /^\/\/ fugu origin: (.*)$/m;
const levelsComment = /^\/\/ fugu levels: (.*)$/m;
const levelsDocument = z.strictObject({ resolution: z.string().optional(), columns: z.record(z.string(), valueLevels) });

function readLevels(text: string, file: string): z.infer<typeof levelsDocument> {
  const levelsRead = levelsComment.exec(text)?.[1];
  if (levelsRead === undefined) return { columns: {} };
  try {
    return levelsDocument.parse(parseJson(levelsRead));
  } catch {
    throw new Fault('MODEL_INVALID', 'The levels of the network are not readable.', 'Learn it again, or write JSON.', {
      place: { file },
    });
  }
}

/** Reads the Bayesian Interchange Format (0.15, as bnlearn and pgmpy write it): variables, tables, rows by parent values, `default`. */
export function readBif(text: string, file: string): Network {
  const scan = scanner(text, file);
  let name = 'network';
  const variables: BifVariable[] = [];
  const tables: BifTable[] = [];
  while (!scan.atEnd()) {
    const word = scan.word();
    if (word === 'network') {
      name = scan.word();
      skipBlock(scan);
    } else if (word === 'variable') variables.push(readVariable(scan));
    else if (word === 'probability') tables.push(readProbability(scan));
    else throw scan.wrong('Expected network, variable or probability');
  }
  const position = new Map(variables.map((v, i) => [v.name, i]));
  const find = (wanted: string): number => {
    const at = position.get(wanted);
    if (at === undefined)
      throw new Fault('MODEL_INVALID', `Variable "${wanted}" is not declared.`, 'Declare it with a variable block.', {
        place: { file },
      });
    return at;
  };
  const result: (NetworkVariable | undefined)[] = variables.map(() => undefined);
  for (const t of tables) {
    const child = find(t.child);
    const parents = t.parents.map(find);
    const variable = variables[child]!;
    const given = parents.map((p) => variables[p]!);
    result[child] = { ...variable, parents, table: tableOf(t, variable, given, file) };
  }
  const levelsRead = readLevels(text, file);
  const complete = result.map((v, i) => {
    if (!v)
      throw new Fault('MODEL_INVALID', `Variable "${variables[i]!.name}" has no probability block.`, 'Add one.', {
        place: { file },
      });
    return Object.hasOwn(levelsRead.columns, v.name) ? { ...v, levels: levelsRead.columns[v.name]! } : v;
  });
  const origin = readOrigin(originComment.exec(text)?.[1] ?? '');
  const network = makeNetwork(name, complete, origin, { file });
  return levelsRead.resolution === undefined ? network : { ...network, resolution: levelsRead.resolution };
}

interface BifVariable {
  readonly name: string;
  readonly values: readonly string[];
}
interface BifTable {
  readonly child: string;
  readonly parents: readonly string[];
  readonly rows: readonly (readonly [key: readonly string[] | 'table' | 'default', numbers: readonly number[]])[];
}

/** Probabilities of a variable in the order of its parents' values; -1 where no row says one. */
function tableOf(t: BifTable, child: BifVariable, parents: readonly BifVariable[], file: string): Float64Array {
  const sizes = parents.map(({ values }) => values.length);
  const width = child.values.length;
  const size = sizes.reduce((a, b) => a * b, width);
  if (size > 2 ** 22)
    throw new Fault('MODEL_TOO_LARGE', `The table of "${t.child}" is too large.`, 'The limit is 4194304 cells.');
  const table = new Float64Array(size).fill(-1);
  for (const [key, numbers] of t.rows) {
    if (key === 'table' && parents.length > 0)
      throw new Fault(
        'MODEL_INVALID',
        `"${t.child}" has parents and a bare table.`,
        'Writers disagree on its order: write one row per combination of parent values.',
        {
          place: { file },
        },
      );
    if (key === 'table') table.set(numbers.slice(0, size));
    else if (key === 'default')
      for (let at = 0; at < size; at += width) if (table[at] === -1) table.set(numbers.slice(0, width), at);
    if (typeof key === 'string') continue;
    let row = 0;
    key.forEach((value, k) => {
      const at = parents[k]?.values.indexOf(value) ?? -1;
      row = at < 0 ? Number.NaN : row * sizes[k]! + at;
    });
    if (key.length !== parents.length || numbers.length !== width || !(row * width < size))
      throw new Fault('MODEL_INVALID', `A row of "${t.child}" does not fit its parents.`, 'One value per parent.', {
        place: { file },
      });
    table.set(numbers, row * width);
  }
  return table;
}

const quoteless = /^[A-Za-z0-9_.+-][^\s(){}[\]|,;"]*$/;
const token = (text: string): string => (quoteless.test(text) ? text : `"${text.replaceAll('"', "'")}"`);

export function writeBif(network: Network): string {
  const lines = network.origin ? [`// fugu origin: ${JSON.stringify(network.origin)}`] : [];
  const levels = network.variables.flatMap((v) => (v.levels ? [[v.name, v.levels] as const] : []));
  if (levels.length > 0)
    lines.push(`// fugu levels: ${JSON.stringify({ resolution: network.resolution, columns: Object.fromEntries(levels) })}`);
  lines.push(`network ${token(network.name)} {`, '}');
  for (const v of network.variables)
    lines.push(
      `variable ${token(v.name)} {`,
      `  type discrete [ ${v.values.length} ] { ${v.values.map(token).join(', ')} };`,
      '}',
    );
  for (const v of network.variables) {
    const parents = v.parents.map((p) => network.variables[p]!);
    const width = v.values.length;
    const given = parents.length ? ` | ${parents.map((p) => token(p.name)).join(', ')}` : '';
    lines.push(`probability ( ${token(v.name)}${given} ) {`);
    for (let row = 0; row * width < v.table.length; row++) {
      let left = row;
      const values = parents
        .map((_, i) => parents.length - 1 - i)
        .map((i) => {
          const value = parents[i]!.values[left % parents[i]!.values.length]!;
          left = Math.floor(left / parents[i]!.values.length);
          return token(value);
        })
        .reverse();
      const numbers = [...v.table.subarray(row * width, (row + 1) * width)].join(', ');
      lines.push(parents.length ? `  (${values.join(', ')}) ${numbers};` : `  table ${numbers};`);
    }
    lines.push('}');
  }
  return `${lines.join('\n')}\n`;
}

interface Scanner {
  atEnd(): boolean;
  peek(): string;
  word(): string;
  expect(symbol: string): void;
  take(symbol: string): boolean;
  number(): number;
  wrong(message: string): Fault;
}

function scanner(text: string, file: string): Scanner {
  const pattern = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"([^"]*)"|[(){}[\]|,;]|[^\s(){}[\]|,;"]+/gy;
  const tokens: { text: string; at: number }[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    end = match.index + match[0].length;
    if (/^(\s|\/\/|\/\*)/.test(match[0])) continue;
    tokens.push({ text: match[1] ?? match[0], at: match.index });
  }
  let position = 0;
  const wrong = (message: string): Fault => {
    const at = tokens[position]?.at ?? text.length;
    const line = text.slice(0, at).split('\n').length;
    return new Fault('MODEL_INVALID', `${message}.`, 'See the Bayesian Interchange Format.', { place: { file, line } });
  };
  if (end < text.length) {
    position = tokens.length;
    throw wrong('The file holds an unfinished quotation');
  }
  const word = (): string => {
    const t = tokens[position];
    if (!t) throw wrong('The file ends too early');
    position++;
    return t.text;
  };
  return {
    atEnd: () => position >= tokens.length,
    peek: () => tokens[position]?.text ?? '',
    word,
    take: (symbol) => tokens[position]?.text === symbol && ++position > 0,
    expect: (symbol) => {
      if (tokens[position]?.text !== symbol) throw wrong(`Expected "${symbol}"`);
      position++;
    },
    number: () => {
      const x = Number(word());
      if (!Number.isFinite(x)) {
        position--;
        throw wrong('Expected a number');
      }
      return x;
    },
    wrong,
  };
}

function skipBlock(scan: Scanner): void {
  scan.expect('{');
  while (!scan.take('}')) scan.word();
}

function list<T>(scan: Scanner, end: string, item: () => T): T[] {
  const items: T[] = [];
  while (!scan.take(end)) {
    items.push(item());
    scan.take(',');
  }
  return items;
}

function readVariable(scan: Scanner): BifVariable {
  const name = scan.word();
  let values: string[] = [];
  scan.expect('{');
  while (!scan.take('}'))
    if (scan.word() === 'type') {
      scan.expect('discrete');
      scan.expect('[');
      const count = scan.number();
      scan.expect(']');
      scan.expect('{');
      values = list(scan, '}', scan.word);
      if (values.length !== count) throw scan.wrong(`"${name}" announces ${count} values and lists ${values.length}`);
      scan.expect(';');
    } else while (!scan.take(';')) scan.word();
  return { name, values };
}

function readProbability(scan: Scanner): BifTable {
  scan.expect('(');
  const child = scan.word();
  const parents = scan.take('|') || scan.peek() === ')' ? list(scan, ')', scan.word) : [];
  const rows: BifTable['rows'][number][] = [];
  scan.expect('{');
  while (!scan.take('}')) {
    if (scan.take('(')) rows.push([list(scan, ')', scan.word), list(scan, ';', scan.number)]);
    else {
      const kind = scan.word();
      if (kind === 'table' || kind === 'default') rows.push([kind, list(scan, ';', scan.number)]);
      else while (!scan.take(';')) scan.word();
    }
  }
  return { child, parents, rows };
}
