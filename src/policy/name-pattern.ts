import { Fault } from '../base/errors.js';
import { didYouMean } from './suggest.js';

/** Column selection by names and patterns (`*` any letters, `?` one letter), with exceptions. */
export interface ColumnSelection {
  readonly columns?: readonly string[];
  readonly except?: readonly string[];
}

/** Names separated by commas, as people type them. */
export const splitNames = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

export const isPattern = (name: string): boolean => /[*?]/.test(name);

/** Selected names in the order requested; all names if no columns are given. A name or pattern without a match is a fault. */
export function chooseNames(names: readonly string[], { columns, except }: ColumnSelection, what = 'Columns'): readonly string[] {
  const wanted = columns ? [...meant(columns, names, what)] : names;
  const unwanted = meant(except ?? [], names, what);
  return wanted.filter((name) => !unwanted.has(name));
}

function meant(patterns: readonly string[], names: readonly string[], what: string): ReadonlySet<string> {
  const known = new Set(names);
  return new Set(
    patterns.flatMap((one) => {
      // A name may hold a star itself.
      if (known.has(one)) return [one];
      const form = isPattern(one) ? formOf(one) : undefined;
      const found = form ? names.filter((name) => form.test(name)) : [];
      if (found.length > 0) return found;
      throw new Fault(
        'COLUMN_UNKNOWN',
        isPattern(one) ? `No column is named like "${one}".` : `There is no column "${one}".`,
        didYouMean(one, names, what),
      );
    }),
  );
}

const formOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'su',
  );
