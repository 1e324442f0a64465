import { Fault } from '../../base/errors.js';
import { detectDelimiter, parseCsv } from '../../base/input/csv.js';
import { within } from '../../base/input/limits.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';
import { resolve } from '../../base/platform/paths.js';
import { codesOf, codeText } from '../code.js';
import type { CategoryColumn } from '../policy.js';
import type { DeclareContext, FaultOf } from './declare.js';
import type { FormEntry } from './shape.js';

type Joined = readonly (readonly number[])[];

/** Reads a CSV file of two columns of codes: each line is a pair in both directions. A first line without codes is a header. */
export function graphOf(column: CategoryColumn, name: string, { directory }: DeclareContext, wrong: FaultOf): Joined {
  const file = resolve(directory, name);
  const text = readNamedText(file, 'tableBytes', (why) =>
    wrong(`The file of pairs ${unreadableText[why]}.`, 'Its path is relative to the policy.'),
  );
  const malformed = (message: string, hint: string, line?: number) =>
    new Fault('DATA_MALFORMED', message, hint, { place: { file, ...(line && { line }) } });
  const rows = parseCsv(text, detectDelimiter(text.split(/\r?\n/, 1)[0] ?? ''));
  if (!rows) throw malformed('A quote in the file of pairs is never closed.', 'Every " needs its partner.');
  const place = placesIn(column);
  const lines = rows.map(({ line, cells }) => ({ line, codes: cells.map(codeText) }));
  const isHeader = lines[0]?.codes.every((code) => !place.has(code));
  const pairs = lines.slice(isHeader ? 1 : 0).map(({ line, codes }): readonly [number, number] => {
    if (codes.length !== 2)
      throw malformed('A line of the file of pairs does not hold two codes.', 'Write one pair per line: 1,2', line);
    const unknown = codes.find((code) => !place.has(code));
    if (unknown !== undefined)
      throw malformed(
        `A line of the file of pairs holds no code of "${column.name}".`,
        'Both ends of a pair are declared codes.',
        line,
      );
    return [place.get(codes[0]!)!, place.get(codes[1]!)!];
  });
  if (!pairs.some(([a, b]) => a !== b))
    throw malformed(
      `The file of pairs holds no pair of "${column.name}".`,
      `Write one pair per line; or same: [${column.name}].`,
    );
  return bothWays(pairs, codesOf(column).length);
}

/** Any code of one named secret against any of another (Kifer and Machanavajjhala 2014). */
export function secretsOf(column: CategoryColumn, { secrets, between }: FormEntry, wrong: FaultOf): Joined {
  const place = placesIn(column);
  const named = new Map(
    Object.entries(secrets!).map(([name, codes]) => [
      name,
      codes.map((code) => {
        const at = place.get(code);
        if (at === undefined)
          throw wrong(`The secret "${name}" holds "${code}", which is no code of "${column.name}".`, 'List declared codes.');
        return at;
      }),
    ]),
  );
  const names = [...named.keys()];
  const compared = between ?? names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b] as const));
  const sets = compared.map(([a, b]) => {
    const unknown = [a, b].find((name) => !named.has(name));
    if (unknown !== undefined) throw wrong(`No secret is called "${unknown}".`, `Name two of ${names.join(', ')}.`);
    const [from, to] = [named.get(a)!, named.get(b)!];
    if (a === b || from.some((p) => to.includes(p)))
      throw wrong(`The secrets "${a}" and "${b}" can hold at once.`, 'Secrets that are compared have no code in common.');
    return [from, to] as const;
  });
  if (sets.length === 0) throw wrong('Fewer than two secrets are named.', 'Write secrets: {ill: [1, 2], well: [3]}.');
  within(
    'pairs',
    sets.reduce((sum, [from, to]) => sum + from.length * to.length, 0),
  );
  return bothWays(
    sets.flatMap(([from, to]) => from.flatMap((p) => to.map((q) => [p, q] as const))),
    codesOf(column).length,
  );
}

const placesIn = (column: CategoryColumn): ReadonlyMap<string, number> => new Map(codesOf(column).map((code, k) => [code, k]));

function bothWays(pairs: readonly (readonly [number, number])[], size: number): Joined {
  within('pairs', pairs.length);
  const joined = Array.from({ length: size }, () => new Set<number>());
  for (const [a, b] of pairs)
    if (a !== b) {
      joined[a]!.add(b);
      joined[b]!.add(a);
    }
  return joined.map((set) => [...set].sort((a, b) => a - b));
}
