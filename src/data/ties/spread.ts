import { Fault } from '../../base/errors.js';
import type { Column, Policy } from '../../policy/policy.js';
import type { Amplifier } from '../../privacy/dependence/amplifier.js';
import { readDeclared } from '../../privacy/dependence/model/declared-file.js';
import { type Resolution, resolutionOf } from '../../privacy/dependence/model/resolution.js';
import { columnLevels, singleValueLevels } from '../../privacy/dependence/model/value-levels.js';
import { pairwiseAmplifier } from '../../privacy/dependence/pairwise/amplifier.js';
import { type DeclaredSpread, readSpread } from '../../privacy/dependence/pairwise/spread-file.js';

/** Content of a pairwise file; undefined for another kind of file. */
export const spreadIn = (file: string): DeclaredSpread | undefined => readSpread(readDeclared(file), file);

/** The pairwise route of a policy: only for single answers and an attacker who knows no other answer, and only when the file covers every column. */
export function declaredPairwise(declared: DeclaredSpread, policy: Policy): Amplifier {
  const refuse = (message: string, hint: string): Fault =>
    new Fault('POLICY_INVALID', message, hint, { place: { file: policy.file } });
  if (policy.protect.secret !== 'answer' || policy.protect.adversary !== 'uninformed')
    throw refuse(
      'A pairwise file protects single answers from an attacker who knows no other answer; the policy declares something else.',
      'Write protect: { secret: answer, adversary: uninformed }, or leave the file out.',
    );
  const known = new Set(declared.spread.names);
  // a release about a column outside the file would reveal something about the others that has no bound
  const missing = [...policy.columns.values()].find(
    (c) => c.public !== true && c.name !== policy.protect.unit && !known.has(c.name),
  );
  if (missing)
    throw refuse(
      `The pairwise file does not cover the column "${missing.name}".`,
      'Learn it again, or leave the column out of the policy; weights and multi-select columns cannot be covered.',
    );
  return pairwiseAmplifier(declared.spread, declared.origin, resolutionOfSpread(declared, policy, refuse));
}

/** Resolution of the tables, checked against the columns as declared now: the file's own digest must be reproduced. */
function resolutionOfSpread(
  { spread, levels, resolution, known }: DeclaredSpread,
  { columns, protect }: Policy,
  refuse: (message: string, hint: string) => Fault,
): Resolution {
  const columnNamed = (name: string): Column => {
    const column = columns.get(name);
    if (!column)
      throw refuse(
        `The pairwise file speaks about the column "${name}", which the policy does not declare.`,
        'Declare it as it was when the file was learned, or learn it again.',
      );
    return column;
  };
  // the attacker knows the public columns, so the distribution is conditional on their answers
  const open = [...columns.values()].filter((c) => c.public === true && c.name !== protect.unit);
  const unknown = open.find((c) => !known.includes(c.name)) ?? known.map(columnNamed).find((c) => !open.includes(c));
  if (unknown)
    throw refuse(
      `The pairwise file was learned with other public columns: they differ in "${unknown.name}".`,
      'Learn it again with the columns public that everybody knows of a person.',
    );
  const levelsOf = known
    .map(columnNamed)
    .flatMap((c) => (c.type === 'category' ? [columnLevels(c, singleValueLevels(c), refuse)] : []));
  const secret = spread.names.map((name, c) => columnLevels(columnNamed(name), levels[c]!, refuse));
  const found = resolutionOf([...secret, ...levelsOf], refuse);
  if (found.digest !== resolution)
    throw refuse(
      'The pairwise file was learned over other declared values than the policy has now.',
      'Declare the columns as they were (values, bounds, step, missing codes), or learn it again.',
    );
  return found;
}
