import type { SynthResult } from '../../analysis/synth/release.js';
import { toText } from '../../base/exact/rational.js';
import { shownBins } from '../../policy/bins.js';
import { codesOf } from '../../policy/code.js';
import { isNumber } from '../../policy/domain.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { Receipt } from '../../release/session/receipt.js';
import { privacyOf } from './datapackage.js';

/**
 * Dictionary of synthetic rows, as a Frictionless data package: contents of every column, and the promise about the people behind
 * it.
 */
export const synthPackage = (
  { result, receipt }: { readonly result: SynthResult; readonly receipt: Receipt },
  policy: Policy,
  file: string,
) => ({
  profile: 'tabular-data-package',
  name: 'synthetic-rows',
  title: `Synthetic rows of ${receipt.population}`,
  description:
    'Made rows: no row is a person. They were drawn from noisy tables of the data; what those tables do not say is not in them.',
  created: receipt.at,
  resources: [
    {
      profile: 'tabular-data-resource',
      name: 'rows',
      path: file,
      format: /\.parquet$/i.test(file) ? 'parquet' : 'csv',
      encoding: 'utf-8',
      rows: result.rows,
      schema: {
        fields: result.columns.map(({ name }) =>
          name === result.households?.by ? home(name) : fieldOf(policy.columns.get(name)!),
        ),
        missingValues: ['', ...new Set(result.columns.flatMap(({ name }) => policy.columns.get(name)?.missing ?? []))],
      },
    },
  ],
  synthetic: {
    mode: result.mode,
    tables: result.measured.map(({ columns, sd }) => ({ columns, sd })),
    ...(result.households && { pairs: result.households.measured.map(({ columns, sd }) => ({ columns, sd })) }),
  },
  privacy: privacyOf(receipt),
});

const home = (name: string) => ({
  name,
  type: 'integer',
  description: 'Rows with the same number are one made-up household; the number is nobody’s.',
});

function fieldOf(column: Column) {
  const { name, label, missing } = column;
  const described = { name, ...(label !== undefined && { title: label }), ...(missing.length > 0 && { missing }) };
  if (isNumber(column)) {
    const [minimum, maximum] = column.bounds.map(toText);
    return {
      ...described,
      type: column.type,
      constraints: { minimum, maximum },
      step: toText(column.step),
      bins: shownBins(column).labels.slice(0, -1),
      description: 'Counted in bins; inside a bin numbers are drawn evenly.',
    };
  }
  if (column.type === 'weight') return { ...described, type: 'number' };
  const codes = codesOf(column);
  const values = codes.map((code) => ({ value: code, ...(column.labels.has(code) && { label: column.labels.get(code) }) }));
  return column.type === 'multi'
    ? { ...described, type: 'string', separator: column.separator, options: values }
    : { ...described, type: 'string', constraints: { enum: codes }, values };
}
