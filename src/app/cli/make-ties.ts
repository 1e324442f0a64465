import { Fault } from '../../base/errors.js';
import type { MadeTies } from '../api/make-ties.js';
import { numberText } from '../report/terminal-text.js';
import type { learnTiesOptions } from './option-tables.js';
import { emit } from './output.js';
import type { ValuesOf } from './request-options.js';

type Values = ValuesOf<typeof learnTiesOptions>;

export async function makeDistanceTiesFile(file: string, values: Values): Promise<void> {
  const { radius, unit, b, c, least, pairs } = values;
  const out = outOf(values);
  const { makeDistanceTies } = await import('../api/make-ties.js');
  printTies(values, out, await makeDistanceTies(file, { out, radius, unit, b, c, least, pairs }));
}

export async function makeAffinityTiesFile(file: string, values: Values): Promise<void> {
  const { threshold, norm, centre, oddsRatio } = values;
  const out = outOf(values);
  const { makeAffinityTies } = await import('../api/make-ties.js');
  printTies(values, out, await makeAffinityTies(file, { out, threshold, norm, centre, oddsRatio }));
}

function outOf({ out }: Values): string {
  if (out === undefined) throw new Fault('USAGE', 'Where to write the ties is not said.', 'Add --out ties.csv.');
  return out;
}

function printTies({ json }: Values, out: string, { ties, ...made }: MadeTies): void {
  const { people, mostTies, strongest, notes } = made;
  emit(json, { written: out, people, ties: ties.length, mostTies, strongest, notes }, () =>
    [
      `Wrote ${out}: ${ties.length} ties between ${people} people, at most ${mostTies} each${strongest > 1 ? `, odds ratios up to ${numberText(strongest)}` : ''}.`,
      ...notes,
      'Use it: relations: { near: { table: FILE, columns: [a, b], domain: N, symmetric: true, private: false } }',
      `        dependence: [{ kind: ties, relation: near${strongest > 1 ? ', oddsColumn: oddsRatio' : ', oddsRatio: R'} }]`,
    ].join('\n'),
  );
}
