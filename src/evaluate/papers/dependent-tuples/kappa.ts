import { conditionalDistribution } from '../../../privacy/dependence/model/joint.js';
import { distances } from '../../audit/record-query.js';
import { type Calibration, type MechanismInput, maximumOf, provenAgainst, total } from '../compare/mechanism.js';

/** A distance between two values of a record, by position. */
type ValueMetric = readonly (readonly number[])[];

/** The largest expected distance from any fixed value, under any value of the other record. */
export const farFromAnyPoint = (rows: readonly Float64Array[], metric: ValueMetric): number =>
  maximumOf(
    rows.filter((row) => row.some((p) => p > 0)).flatMap((row) => metric.map((from) => total(from.map((d, v) => d * row[v]!)))),
  );

/** Scale-free and sound for every query, because distances are measured in what the query does with them. See kappa.proof.md. */
export function kappa({ joint, answers, epsilon }: MechanismInput): Calibration {
  const metrics = joint.sizes.map((_, j) => distances(joint, answers.points, answers.width, j));
  const ofRecord = (i: number, component: readonly number[]) =>
    total(
      component.map((j) =>
        i === j ? answers.sensitivities[i]! : farFromAnyPoint(conditionalDistribution(joint, i, j), metrics[j]!),
      ),
    );
  return {
    name: 'kappa',
    scale: maximumOf(joint.components.flatMap((c) => c.map((i) => ofRecord(i, c)))) / epsilon,
    ...provenAgainst('uninformed'),
    assumption: 'The adversary knows the distribution and no record; the declared distribution is the true one.',
  };
}
