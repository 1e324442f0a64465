import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { publicData } from '../data.js';
import type { Row, Task } from './bench.js';

/** The UCI census file. */
export const adultFolder = publicData('adult/', 'adult.data.gz');

const names =
  'age workclass fnlwgt education education_num marital_status occupation relationship race sex capital_gain capital_loss hours_per_week native_country income'.split(
    ' ',
  );

/** Rows without a missing cell, as in the papers. */
export function readAdult(folder: URL, file: string): Row[] {
  return gunzipSync(readFileSync(new URL(file, folder)))
    .toString('utf8')
    .split('\n')
    .filter((line) => line.includes(',') && !line.startsWith('|') && !line.includes('?'))
    .map((line) => Object.fromEntries(line.split(',').map((cell, c) => [names[c]!, cell.trim().replace(/\.$/, '')])));
}

const features = names.filter((name) => !['fnlwgt', 'education', 'income'].includes(name));

/** Domains and bins as a steward would write them from the census form, independent of the rows. */
const columns = `
  age: { type: integer, bounds: [17, 90], bins: [22, 26, 30, 35, 40, 50, 60] }
  workclass: { type: category, values: [Private, Self-emp-not-inc, Local-gov, State-gov, Self-emp-inc, Federal-gov, Without-pay, Never-worked] }
  education_num: { type: integer, bounds: [1, 16] }
  marital_status: { type: category, values: [Married-civ-spouse, Never-married, Divorced, Separated, Widowed, Married-spouse-absent, Married-AF-spouse] }
  occupation: { type: category, values: [Prof-specialty, Craft-repair, Exec-managerial, Adm-clerical, Sales, Other-service, Machine-op-inspct, Transport-moving, Handlers-cleaners, Farming-fishing, Tech-support, Protective-serv, Priv-house-serv, Armed-Forces] }
  relationship: { type: category, values: [Husband, Not-in-family, Own-child, Unmarried, Wife, Other-relative] }
  race: { type: category, values: [White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other] }
  sex: { type: category, values: [Male, Female] }
  capital_gain: { type: integer, bounds: [0, 99999], bins: [1, 5000, 7000] }
  capital_loss: { type: integer, bounds: [0, 4356], bins: [1, 1800, 2000] }
  hours_per_week: { type: integer, bounds: [1, 99], bins: [20, 35, 41, 50] }
  native_country: { type: category, values: [United-States, Mexico, Philippines, Germany, Canada, India] }
  income: { type: category, values: ["<=50K", ">50K"] }
`;

export const adultTask = (folder: URL): Task => ({
  name: 'Adult',
  train: readAdult(folder, 'adult.data.gz'),
  test: readAdult(folder, 'adult.test.gz'),
  columns,
  ask: { label: 'income', positive: ['>50K'], features },
});
