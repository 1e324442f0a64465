import { Fault } from '../../base/errors.js';
import { isWeight } from '../../policy/domain.js';
import { chooseNames } from '../../policy/name-pattern.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { SynthForm } from './form.js';

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
