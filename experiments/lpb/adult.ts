import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { publicData } from '../data.js';

/** Both parts of the UCI census file, as the paper used them. */
export const adultFolder = publicData('adult/', 'adult.data.gz');

export interface Attribute {
  readonly name: string;
  readonly values: Int32Array;
  readonly low: number;
  readonly high: number;
  readonly distinct: number;
}

const fields = { age: 0, 'education-num': 4, 'hours-per-week': 12 } as const;
export type AttributeName = keyof typeof fields;

export function readAdult(folder: URL): Record<AttributeName, Attribute> {
  const rows = ['adult.data.gz', 'adult.test.gz']
    .flatMap((file) =>
      gunzipSync(readFileSync(new URL(file, folder)))
        .toString('utf8')
        .split('\n'),
    )
    .filter((line) => line.includes(',') && !line.startsWith('|'))
    .map((line) => line.split(',').map((cell) => cell.trim()));
  const attribute = (name: AttributeName): Attribute => {
    const values = Int32Array.from(rows, (row) => Number(row[fields[name]]));
    const seen = new Set(values);
    return { name, values, low: Math.min(...seen), high: Math.max(...seen), distinct: seen.size };
  };
  return { age: attribute('age'), 'education-num': attribute('education-num'), 'hours-per-week': attribute('hours-per-week') };
}
