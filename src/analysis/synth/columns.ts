import { Fault } from '../../base/errors.js';
import { codesOf } from '../../policy/code.js';
import { isWeight } from '../../policy/domain.js';
import { chooseNames } from '../../policy/name-pattern.js';
import type { Column, MultiColumn, Policy } from '../../policy/policy.js';
import type { Axis } from '../../query/count/measure.js';
import { groupKeyOf } from '../../query/keys.js';
import type { SynthForm } from './form.js';

/** One column of the model: every row has one of its `size` values. */
export interface ModelColumn {
  readonly name: string;
  readonly size: number;
  /** Labels of its values. */
  readonly labels: readonly string[];
}
/** A column of the data, or one option of a multi-select column. */
export type CodedColumn = ModelColumn & { readonly column: Column } & ({ readonly axis: Axis } | { readonly option: number });

/** The columns of synthetic rows, in the order of the policy. Household names are made up, not copied. */
export function chosenColumns(
  policy: Policy,
  { columns, except, households }: Pick<SynthForm, 'columns' | 'except' | 'households'>,
): readonly Column[] {
  if (policy.protect.secret === 'edge')
    throw new Fault(
      'QUERY_UNSUPPORTED',
      'This policy protects ties of a relation; the rows of the table are not its secret.',
      'Ask a pattern over the relation, or protect rows, persons or answers.',
    );
  const all = [...policy.columns.values()].filter(
    (c) => !isWeight(c) && c.name !== policy.protect.unit && c.name !== households?.by,
  );
  const chosen = new Set(
    chooseNames(
      all.map((c) => c.name),
      { ...(columns && { columns }), ...(except && { except }) },
    ),
  );
  if (chosen.size === 0)
    throw new Fault('QUERY_INVALID', 'There is no column to make rows of.', 'Declare category, number or multi columns.');
  return all.filter((c) => chosen.has(c.name));
}

export const codedColumns = (policy: Policy, columns: readonly Column[]): readonly CodedColumn[] =>
  columns.flatMap((column): readonly CodedColumn[] => (column.type === 'multi' ? optionsOf(column) : [single(policy, column)]));

function single(policy: Policy, column: Column): CodedColumn {
  const { key, labels } = groupKeyOf(policy, column.name);
  if (key.kind === 'options' || key.kind === 'joint') throw new RangeError('a row has one place on an axis');
  return { column, name: column.name, axis: key, size: labels.length, labels };
}

const optionsOf = (column: MultiColumn): readonly CodedColumn[] =>
  codesOf(column).map((code, option) => ({
    column,
    name: `${column.name}: ${code}`,
    option,
    size: 2,
    labels: ['not named', 'named'],
  }));
