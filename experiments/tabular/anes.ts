import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import type { CodedTable } from '../../src/analysis/learn/network/coded.js';
import { publicData } from '../data.js';

export const anesFolder = publicData('anes/');

export interface CodedSurvey extends CodedTable {
  readonly values: readonly (readonly string[])[];
}

/** Ids, weights, dates, timings, presentation order, skip flags, open text, geography, paradata: not questions. */
const notQuestions =
  /^(v1|_v\d|version|caseid|weight.*|startdate|enddate|recorded.*|response.*|qmetadata.*|ord_.*|.*_skp|.*_text|.*_t|.*_os|.*_txt|.*timing.*|.*date.*|state|inputstate|zip.*|fip.*|region|enrollment.*|completed.*|quality.*|tsmart.*|usip.*|surv_comp|rand_.*|.*_group|x[a-z]+|rand[a-z_0-9]*|starttime|endtime|addtime|duration.*|browser.*|.*_rnd.*)$/i;

export interface AnesRule {
  readonly year: '2006' | '2016' | '2018' | '2019' | '2020';
  readonly columns: number;
  /** First column to look at. */
  readonly from?: string;
}
export const anesSurveys: readonly AnesRule[] = [
  { year: '2006', columns: 72, from: 'V06P501' },
  { year: '2016', columns: 117 },
  { year: '2018', columns: 141 },
  { year: '2019', columns: 402 },
  { year: '2020', columns: 153 },
];

/** The first N columns in file order that are questions with 2 to 12 distinct codes; missing is a level of its own. */
export async function readAnes(rule: AnesRule): Promise<CodedSurvey> {
  const file = fileURLToPath(new URL(`anes_pilot_${rule.year}.parquet`, anesFolder));
  const all = await readCoded(file, (name, type) => !notQuestions.test(name) && type !== 'VARCHAR' && !/DATE|TIME/.test(type));
  const first = rule.from ? all.names.indexOf(rule.from) : 0;
  const kept = all.names
    .map((_, c) => c)
    .filter((c) => c >= first && all.levels[c]! >= 2 && all.levels[c]! <= 12)
    .slice(0, rule.columns);
  return chosen(all, kept);
}

const chosen = (survey: CodedSurvey, kept: readonly number[]): CodedSurvey => ({
  names: kept.map((c) => survey.names[c]!),
  levels: kept.map((c) => survey.levels[c]!),
  values: kept.map((c) => survey.values[c]!),
  rows: survey.rows,
  columns: kept.map((c) => survey.columns[c]!),
});

/** Every accepted column of a parquet file, coded by its sorted distinct values; NULL is the last level. */
export async function readCoded(
  file: string,
  accept: (name: string, type: string) => boolean = () => true,
): Promise<CodedSurvey> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const described = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM '${file}'`)).getRowsJS();
    const names = described.filter((row) => accept(String(row[0]), String(row[1]))).map((row) => String(row[0]));
    const quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
    const data = (await connection.runAndReadAll(`SELECT ${quoted} FROM '${file}'`)).getColumnsJS();
    const rows = data[0]?.length ?? 0;
    const coded = data.map((cells) => {
      const text = cells.map((x) => (x === null || x === undefined || Number.isNaN(x) ? null : String(x)));
      const present = [...new Set(text.filter((x): x is string => x !== null))];
      present.sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
      const values = text.includes(null) ? [...present, '(missing)'] : present;
      const code = new Map(values.map((value, i) => [value, i]));
      return { values, codes: Uint16Array.from(text, (x) => code.get(x ?? '(missing)')!) };
    });
    return {
      names,
      levels: coded.map((c) => c.values.length),
      values: coded.map((c) => c.values),
      rows,
      columns: coded.map((c) => c.codes),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/**
 * Pools levels below `share` of the rows with the next smallest ones until the pool is large enough; drops a column left with one level.
 * An experiment may read the rows for this; a release may not.
 */
export function pooled(survey: CodedSurvey, share: number): CodedSurvey {
  const least = share * survey.rows;
  const pooledColumns = survey.columns.map((codes, c) => {
    const counts = new Array<number>(survey.levels[c]!).fill(0);
    for (const code of codes) counts[code]!++;
    const ascending = counts.map((_, v) => v).sort((a, b) => counts[a]! - counts[b]!);
    const rare = new Set<number>();
    let pool = 0;
    for (const v of ascending)
      if (counts[v]! < least || (rare.size > 0 && pool < least)) {
        rare.add(v);
        pool += counts[v]!;
      }
    const kept = counts.map((_, v) => v).filter((v) => !rare.has(v));
    const position = counts.map((_, v) => (rare.has(v) ? kept.length : kept.indexOf(v)));
    const values = kept.map((v) => survey.values[c]![v]!);
    return {
      values: rare.size > 0 ? [...values, '(rare)'] : values,
      codes: Uint16Array.from(codes, (code) => position[code]!),
    };
  });
  const whole = {
    ...survey,
    levels: pooledColumns.map((p) => p.values.length),
    values: pooledColumns.map((p) => p.values),
    columns: pooledColumns.map((p) => p.codes),
  };
  return chosen(
    whole,
    pooledColumns.map((_, c) => c).filter((c) => whole.levels[c]! > 1),
  );
}
