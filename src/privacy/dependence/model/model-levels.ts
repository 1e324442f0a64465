import { Fault } from '../../../base/errors.js';
import type { Column, Policy } from '../../../policy/policy.js';
import { isTable, type Model } from './model.js';
import type { Network } from './network.js';
import { type ColumnLevels, resolutionOf } from './resolution.js';
import { columnLevels, namedLevels } from './value-levels.js';

const refusal =
  (file: string) =>
  (message: string, hint: string): Fault =>
    new Fault('MODEL_INVALID', message, hint, { place: { file } });

function answers({ columns }: Policy, name: string, file: string): Column {
  const column = columns.get(name);
  if (!column || column.public)
    throw refusal(file)(
      `The model speaks about "${name}", which is ${column ? 'public' : 'no declared column'}.`,
      column
        ? 'A public column is known, and no secret: write the model of the others given it, without it.'
        : 'Its names must be declared columns when answers are the secret.',
    );
  return column;
}

/**
 * Levels of a network's values: as declared in the file, or each value as its own level. The resolution it was learned at must be
 * reproduced.
 */
export function networkLevels(network: Network, policy: Policy, file: string): readonly ColumnLevels[] {
  const refuse = refusal(file);
  const levels = network.variables.map((v) => {
    const column = answers(policy, v.name, file);
    return columnLevels(column, v.levels ?? namedLevels(column, v.values), refuse);
  });
  if (network.resolution !== undefined && resolutionOf(levels, refuse).digest !== network.resolution)
    throw refuse(
      'The network was learned over other declared values than the policy has now.',
      'Declare the columns as they were (values, bounds, step, missing codes), or learn it again.',
    );
  return levels;
}

/** Columns covered by the tables of a model file, each value by its number. */
export function modelLevels(model: Model, policy: Policy, file: string): readonly ColumnLevels[] {
  const tabled = new Set(model.factors.filter(isTable).flatMap((factor) => factor.records));
  return [...tabled].map((record) => {
    const column = answers(policy, model.ids[record]!, file);
    return columnLevels(column, namedLevels(column, model.values[record]!.map(String)), refusal(file));
  });
}
