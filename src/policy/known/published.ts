import { Fault } from '../../base/errors.js';
import { divide, parseRational, type Rational } from '../../base/exact/rational.js';
import { detectDelimiter, parseCsv } from '../../base/input/csv.js';
import { readNamedText, unreadableText } from '../../base/input/named-file.js';
import { resolve } from '../../base/platform/paths.js';
import { codeText, missingLabel } from '../code.js';
import { combinations } from '../domain.js';
import type { DeclareContext, FaultOf } from '../pairs/declare.js';
import type { LabelledCut } from './declare.js';
import type { TotalEntry } from './shape.js';

type Cuts = readonly LabelledCut[];

/** Published values of a total, one for each cell in order, in whole units; undefined if they are to be read from the data. */
export function publishedIn(
  { value, values }: Pick<TotalEntry, 'value' | 'values'>,
  { cuts, unit }: { readonly cuts: Cuts; readonly unit: Rational },
  declaring: DeclareContext,
  wrong: FaultOf,
): readonly bigint[] | undefined {
  if (value === undefined && values === undefined) return undefined;
  const whole = (x: Rational): bigint => {
    const { num, den } = divide(x, unit);
    if (den !== 1n)
      throw wrong(
        'A published number is no total of what this policy counts.',
        'Numbers of rows are whole; sums are of numbers as they are read, in their steps.',
      );
    return num;
  };
  if (value !== undefined) {
    if (cuts.length > 0) throw wrong('One number is no table.', 'Write values: a CSV file, or {north: 120, south: 80}.');
    return [whole(value)];
  }
  if (cuts.length === 0) throw wrong('One number is published here.', 'Write value: 120.');
  const found = typeof values === 'string' ? fromFile(values, cuts, declaring, wrong) : fromList(values!, cuts, wrong);
  return combinations(cuts.map(({ labels }) => labels)).map((labels) => {
    const published = found.get(labels.join('\n'));
    if (published === undefined && !labels.includes(missingLabel))
      throw wrong(
        `No number is published for ${labels.join(', ')}.`,
        'List every value; no answer counts as 0 where it is left out.',
      );
    return published === undefined ? 0n : whole(published);
  });
}

const labelIn = ({ labels }: LabelledCut, text: string): string | undefined => {
  const code = codeText(text);
  return code === '' ? missingLabel : labels.find((label) => label === code);
};

function fromList(list: Readonly<Record<string, Rational>>, cuts: Cuts, wrong: FaultOf): ReadonlyMap<string, Rational> {
  const [cut, ...more] = cuts;
  if (more.length > 0) throw wrong('Numbers by several columns are not listed in a policy.', 'Write values: published.csv.');
  return new Map(
    Object.entries(list).map(([key, number]) => {
      const label = labelIn(cut!, key);
      if (label === undefined) throw wrong(`"${key}" is no value of "${cut!.column}".`, `Its values: ${cut!.labels.join(', ')}.`);
      return [label, number] as const;
    }),
  );
}

/** A column of the file for each of the total's, the last for the numbers; a header names them. */
function fromFile(name: string, cuts: Cuts, { directory }: DeclareContext, wrong: FaultOf): ReadonlyMap<string, Rational> {
  const file = resolve(directory, name);
  const text = readNamedText(file, 'tableBytes', (why) =>
    wrong(`The file of published numbers ${unreadableText[why]}.`, 'Its path is relative to the policy.'),
  );
  const malformed = (message: string, line?: number) =>
    new Fault(
      'DATA_MALFORMED',
      message,
      `Write a header (${cuts.map((c) => c.column).join(', ')}, and one for the numbers) and a line for every combination.`,
      {
        place: { file, ...(line && { line }) },
      },
    );
  const [header, ...rows] = parseCsv(text, detectDelimiter(text.split(/\r?\n/, 1)[0] ?? '')) ?? [];
  const names = header?.cells.map((cell) => cell.trim()) ?? [];
  const places = cuts.map(({ column }) => names.indexOf(column));
  const number = names.findIndex((_, k) => !places.includes(k));
  if (places.includes(-1) || number < 0 || names.length !== cuts.length + 1)
    throw malformed('The file of published numbers does not have the columns of its total.', 1);
  const found = new Map<string, Rational>();
  for (const { line, cells } of rows) {
    const labels = cuts.map((cut, k) => labelIn(cut, cells[places[k]!] ?? ''));
    if (labels.includes(undefined) || cells.length !== names.length)
      throw malformed('A line of the published numbers is about no declared value.', line);
    const key = labels.join('\n');
    if (found.has(key)) throw malformed('A combination is published twice.', line);
    try {
      found.set(key, parseRational(cells[number]!.trim(), 'published number'));
    } catch {
      throw malformed('A published number is no number.', line);
    }
  }
  return found;
}
