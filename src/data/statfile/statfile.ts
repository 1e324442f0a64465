import { Fault } from '../../base/errors.js';
import { within } from '../../base/input/limits.js';
import { Bytes } from './bytes.js';
import { openDta } from './dta/dta.js';
import { malformed } from './malformed.js';
import { openSav } from './sav/sav.js';
import type { StatFile, StatVariable } from './variable.js';
import { openXlsx, type Unread, unreadIn } from './xlsx/xlsx.js';
import { openXpt } from './xpt.js';

export type { StatBlock, StatCell, StatVariable } from './variable.js';

export interface StatFileOptions {
  /** Sheet of a workbook; the first by default. */
  readonly table?: string;
}

type Open = (bytes: Bytes, options: StatFileOptions) => Omit<StatFile, 'close'> | Promise<Omit<StatFile, 'close'>>;

const formats: readonly [ending: RegExp, open: Open, dictionary: boolean][] = [
  [/\.z?sav$/i, openSav, true],
  [/\.dta$/i, openDta, true],
  [/\.xpt$/i, openXpt, true],
  [/\.xlsx$/i, openXlsx, false],
];

/** True if the file name has the ending of a survey file. */
export const isStatFile = (path: string): boolean => formats.some(([ending]) => ending.test(path));

/** True if the format has a dictionary with labels and missing codes. */
export const hasDictionary = (path: string): boolean => formats.some(([ending, , described]) => described && ending.test(path));

/** True if the format may hold several tables. */
export const hasTables = (path: string): boolean => /\.xlsx$/i.test(path);

/** Parts of a workbook that are not read; empty for formats that hold one table. */
export async function unreadOf(path: string, { table }: StatFileOptions = {}): Promise<Unread> {
  if (!hasTables(path)) return { sheets: [], beyond: false, nameless: 0 };
  const bytes = new Bytes(path);
  try {
    return await unreadIn(bytes, table);
  } finally {
    bytes.close();
  }
}

/**
 * Opens the file of a statistics program by its ending: the dictionary at once,
 * the rows block by block. Any error is a Fault, which may come with any block.
 */
export async function openStatFile(path: string, options: StatFileOptions = {}): Promise<StatFile> {
  const format = formats.find(([ending]) => ending.test(path));
  if (!format)
    throw new Fault(
      'DATA_NOT_FOUND',
      'The kind of the survey file is not known.',
      'Its name must end in .sav, .zsav, .dta, .xpt or .xlsx.',
      { place: { file: path } },
    );
  const bytes = new Bytes(path);
  try {
    const file = await format[1](bytes, options);
    checkNames(file.variables, path);
    return { ...file, close: async () => bytes.close() };
  } catch (error) {
    bytes.close();
    throw error;
  }
}

function checkNames(variables: readonly StatVariable[], file: string): void {
  within('columns', variables.length, { file }, 'The survey file');
  if (variables.length === 0) throw malformed(file, 'The survey file has no variables.');
  const seen = new Set<string>();
  for (const [i, { name, labels }] of variables.entries()) {
    within('nameLength', name.length, { file });
    within('categories', labels.size, { file });
    const folded = name.toLowerCase();
    if (name.trim() === '' || name.includes('\0')) throw malformed(file, `Variable ${i + 1} of the survey file has no name.`);
    if (seen.has(folded))
      throw malformed(
        file,
        `Variable ${i + 1} of the survey file has the same name as an earlier one.`,
        'Names must differ in more than upper and lower case.',
      );
    seen.add(folded);
  }
}
