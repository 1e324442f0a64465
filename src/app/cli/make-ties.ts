import { Fault } from '../../base/errors.js';
import type { MadeTies } from '../api/make-ties.js';
import { numberText } from '../report/terminal-text.js';
import { emit } from './output.js';

export interface MakeTiesOptions {
  readonly out?: string;
  readonly distance?: string;
  readonly radius?: string;
  readonly unit: string;
  readonly b: string;
  readonly c: string;
  readonly least: string;
  readonly pairs?: string;
  readonly affinity?: string;
  readonly threshold: string;
  readonly norm: string;
  readonly centre?: boolean;
  readonly oddsRatio?: string;
  readonly json?: boolean;
}

export async function makeDistanceTiesFile(file: string, words: MakeTiesOptions): Promise<void> {
  const { unit, pairs } = words;
  if (unit !== 'miles' && unit !== 'km' && unit !== 'degrees')
    throw new Fault('USAGE', '--unit must be miles, km or degrees.', 'The distance law was fitted in miles.');
  const out = outOf(words);
  const { makeDistanceTies } = await import('../api/make-ties.js');
  const made = await makeDistanceTies(file, {
    out,
    unit,
    pairs,
    radius: words.radius === undefined ? undefined : positive(words.radius, '--radius'),
    b: positive(words.b, '--b'),
    c: positive(words.c, '--c'),
    least: atLeastOne(words.least, '--least'),
  });
  printTies(words, out, made);
}

export async function makeAffinityTiesFile(file: string, words: MakeTiesOptions): Promise<void> {
  const { norm, centre } = words;
  if (norm !== 'cosine' && norm !== 'l1')
    throw new Fault('USAGE', '--norm must be cosine or l1.', 'cosine finds every tie that l1 finds, and more.');
  const out = outOf(words);
  const { makeAffinityTies } = await import('../api/make-ties.js');
  const made = await makeAffinityTies(file, {
    out,
    norm,
    centre,
    threshold: positive(words.threshold, '--threshold'),
    oddsRatio: words.oddsRatio === undefined ? undefined : atLeastOne(words.oddsRatio, '--odds-ratio'),
  });
  printTies(words, out, made);
}

function outOf({ out }: MakeTiesOptions): string {
  if (out === undefined) throw new Fault('USAGE', 'Where to write the ties is not said.', 'Add --out ties.csv.');
  return out;
}

function printTies({ json }: MakeTiesOptions, out: string, { ties, ...made }: MadeTies): void {
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

const number = (text: string, holds: (x: number) => boolean, message: string): number => {
  const x = Number(text);
  if (text.trim() !== '' && Number.isFinite(x) && holds(x)) return x;
  throw new Fault('USAGE', message, 'For example 0.8.');
};
const positive = (text: string, what: string) => number(text, (x) => x > 0, `${what} must be a number above 0.`);
const atLeastOne = (text: string, what: string) => number(text, (x) => x >= 1, `${what} must be a number of at least 1.`);
