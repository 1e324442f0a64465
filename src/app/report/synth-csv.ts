import type { SynthColumn } from '../../analysis/synth/rows.js';
import type { Column, Policy } from '../../policy/policy.js';
import { exactCsv } from './csv.js';

/** Synthetic rows as a CSV that reads like the data: codes of the policy, numbers with the data's decimal mark. */
export function synthCsv(columns: readonly SynthColumn[], policy: Pick<Policy, 'columns'>): string {
  const written = columns.map(({ name, values }) => {
    const declared = policy.columns.get(name);
    const comma = declared !== undefined && 'decimal' in declared && declared.decimal === ',';
    const none = noAnswer(declared);
    return (r: number) => {
      const value = values[r] ?? none;
      return comma && typeof value === 'number' ? `${value}`.replace('.', ',') : value;
    };
  });
  const rows = Array.from({ length: columns[0]?.values.length ?? 0 }, (_, r) => written.map((cell) => cell(r)));
  return exactCsv([columns.map(({ name }) => name), ...rows]);
}

/** A column of numbers has no place for a text such as NA that stands for no answer; a CSV has. */
const noAnswer = (declared: Column | undefined): string | null => declared?.missing[0] ?? null;
