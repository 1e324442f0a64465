import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import { readJson, readYaml } from '../api/named-text.js';
import { splitNames } from '../api/names.js';
import type { CommandOption } from '../api/request.js';

/** Numbers or words that an option takes, as JSON Schema writes them. */
interface ValueForm {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly enum?: readonly string[];
}

/** One option of a command as plain data, so that a command starts without any schema. */
export interface OptionRow extends Pick<CommandOption, 'needed' | 'reads' | 'refusal'> {
  /** Field of the request. */
  readonly name: string;
  readonly flags: string;
  readonly help: string;
  readonly usual?: string;
  /** Form of the value, or of each in a list; absent where a text stays a text. */
  readonly form?: ValueForm;
}

/** Options of a command; `V` is what they are read as. */
export interface CommandOptions<V> {
  readonly rows: readonly OptionRow[];
  readonly values?: V;
}

/** What the options of a command are read as. */
export type ValuesOf<O> = O extends CommandOptions<infer V> ? V : never;

export function addOptions<V>(command: Command, { rows }: CommandOptions<V>): Command {
  for (const { flags, help, usual, needed } of rows)
    if (needed) command.requiredOption(flags, help);
    else command.option(flags, help, usual);
  return command;
}

/** Words as commander hands them out, by field. */
export type OptionWords = Readonly<Record<string, string | boolean | undefined>>;

/** What was given as the fields of a request: numbers, lists and files read, each refused in its own words. */
export async function valuesOf<V>({ rows }: CommandOptions<V>, words: OptionWords): Promise<V> {
  const values: Record<string, unknown> = {};
  for (const row of rows) {
    const given = words[row.name];
    if (given !== undefined) values[row.name] = typeof given === 'string' ? await readValue(row, given) : given;
  }
  return values as V;
}

async function readValue(row: OptionRow, text: string): Promise<unknown> {
  const { reads } = row;
  if (reads === 'json') return readJson(text);
  if (reads === 'names') return splitNames(text).map((name) => checked(row, name));
  return reads === undefined ? checked(row, text) : readYaml(text, reads);
}

/** The number or the word that a text stands for. */
function checked(row: OptionRow, text: string): unknown {
  const { form, refusal } = row;
  if (form === undefined) return text;
  if (form.enum) {
    if (refusal && !form.enum.includes(text)) throw new Fault('USAGE', ...refusal);
    return text;
  }
  const { minimum = Number.NEGATIVE_INFINITY, exclusiveMinimum = Number.NEGATIVE_INFINITY } = form;
  const { maximum = Number.POSITIVE_INFINITY, exclusiveMaximum = Number.POSITIVE_INFINITY } = form;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const isOfType = form.type === 'integer' ? /^-?\d{1,15}$/.test(text) : Number.isFinite(value);
  const isSmall = value <= maximum && value < exclusiveMaximum;
  if (isOfType && value >= minimum && value > exclusiveMinimum && (isSmall || !refusal)) return value;
  throw new Fault('USAGE', ...(refusal ?? defaultRefusal(row, form)));
}

function defaultRefusal({ flags, usual = '1000' }: OptionRow, { type, minimum = 0 }: ValueForm): readonly [string, string] {
  const [flag] = flags.split(' ');
  const least = minimum > 0 ? ` of at least ${minimum}` : '';
  return [`${flag} must be a ${type === 'integer' ? 'whole ' : ''}number${least}.`, `Write for example ${flag} ${usual}.`];
}
