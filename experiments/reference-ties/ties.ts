/** One tie measured on public data: pairs of values, at most one pair of each household, person or week, so that pairs are independent draws. */
export interface ReferenceTie {
  readonly between: string;
  readonly value: string;
  readonly data: Source;
  /** The two ends are of different kinds (parent and child, this step and the next). */
  readonly directed: boolean;
  /** Rows of two texts: the value of each end; if `edges` names a file of ties, a name and its value. */
  readonly sql: string;
  readonly edges?: string;
}
export type Source = keyof typeof sources;

/** Name of each file on the page, and its location next to the checkout. */
export const sources = {
  acs: { file: 'census/acs2018_1yr_persons_14states.parquet', name: 'American Community Survey (14 states, 2018)' },
  language: { file: 'census/csv_pwy.zip', entry: 'psam_p56.csv', name: 'American Community Survey (Wyoming, 2018)' },
  anes: { file: 'anes/anes_pilot_2006.parquet', name: 'ANES pilot 2006' },
  gss: { file: 'surveys/gss_sub.parquet', name: 'GSS 2000-2024' },
  breast: { file: 'groups/minnbreast.parquet', name: 'Minnesota breast cancer families' },
  gowalla: { file: 'gowalla/gowalla_nyc_ge10_25km_checkins.parquet', name: 'Gowalla, New York' },
  mvad: { file: 'sequences/mvad.parquet', name: 'School leavers of Northern Ireland (1993-99)' },
  actcal: { file: 'sequences/actcal.parquet', name: 'Swiss household panel 2000' },
  cav: { file: 'sequences/cav.parquet', name: 'Heart transplants, yearly visits' },
  power: { file: 'sequences/household_power_hourly.parquet', name: 'Electricity of one house, 2006-10' },
} as const;

const income = `CASE WHEN pincp < 15000 THEN 'below 15,000' WHEN pincp < 40000 THEN '15,000 to 40,000' WHEN pincp < 80000 THEN '40,000 to 80,000' ELSE 'above 80,000' END`;
const degree = `CASE WHEN schl < 16 THEN 'no diploma' WHEN schl < 20 THEN 'school' WHEN schl < 21 THEN 'associate' ELSE 'degree' END`;
const two = (column: string, yes: string, no: string) => `CASE ${column} WHEN 1 THEN '${yes}' WHEN 2 THEN '${no}' END`;
const race = `CASE WHEN hisp > 1 THEN 'Hispanic' WHEN rac1p = 1 THEN 'white' WHEN rac1p = 2 THEN 'black' WHEN rac1p IN (3, 4, 5) THEN 'Native' WHEN rac1p IN (6, 7) THEN 'Asian or Pacific' ELSE 'other' END`;
const work = `CASE WHEN esr IN (1, 2, 4, 5) THEN 'at work' WHEN esr = 3 THEN 'unemployed' WHEN esr = 6 THEN 'not in the labour force' END`;

/** One member of each household that fulfils `first`, and another that fulfils `second`: those with the smallest hashes. */
const members = (value: string, first: string, second: string, household = 'serialno', person = 'sporder') => `
  WITH people AS (SELECT ${household} AS home, ${person} AS person, md5(concat(${household}, '/', ${person})) AS hash, ${value} AS value, ${first} AS is_first, ${second} AS is_second FROM fugu_data),
  pairs AS (SELECT a.value AS a, b.value AS b, row_number() OVER (PARTITION BY a.home ORDER BY a.hash, b.hash) AS place
    FROM people a JOIN people b ON a.home = b.home AND a.person <> b.person AND a.is_first AND b.is_second WHERE a.value IS NOT NULL AND b.value IS NOT NULL)
  SELECT a, b FROM pairs WHERE place = 1`;
const [couple, parentChild, adults] = [
  ['relp = 0', 'relp IN (1, 13)'],
  ['relp = 0', 'relp IN (2, 3, 4) AND agep BETWEEN 18 AND 40'],
  ['relp < 16 AND agep >= 18', 'relp < 16 AND agep >= 18'],
] as const;

const acs = (
  between: string,
  who: readonly [string, string],
  value: string,
  expression: string,
  directed = false,
): ReferenceTie => ({
  between,
  value,
  data: 'acs',
  directed,
  sql: members(expression, ...who),
});

const party = (column: string) =>
  `CASE WHEN "${column}" IN (0, 1, 2) THEN 'Democrat or leaning' WHEN "${column}" = 3 THEN 'independent' WHEN "${column}" IN (4, 5, 6) THEN 'Republican or leaning' END`;
const schooling = (column: string) =>
  `CASE WHEN ${column} = 0 THEN 'no diploma' WHEN ${column} IN (1, 2) THEN 'school' WHEN ${column} IN (3, 4) THEN 'degree' END`;
const gss = (between: string, directed: boolean, a: string, b: string): ReferenceTie => ({
  between,
  value: 'education (three classes)',
  data: 'gss',
  directed,
  sql: `SELECT ${schooling(a)}, ${schooling(b)} FROM fugu_data WHERE year >= 2000 AND ${a} IS NOT NULL AND ${b} IS NOT NULL`,
});

/** People of one household are one chain. */
const unit = { mvad: 'id', actcal: 'idhous00' } as const;
const kinds = {
  mvad: (cell: string) => `CASE ${cell} WHEN 'employment' THEN 'work' WHEN 'joblessness' THEN 'neither' ELSE 'learning' END`,
  actcal: (cell: string) => `CASE ${cell} WHEN 'D' THEN 'no' ELSE 'yes' END`,
} as const;
/** States of a person in one month and some months later; the month differs from person to person. */
const months = (
  data: 'mvad' | 'actcal',
  value: string,
  columns: readonly string[],
  apart: number,
  between: string,
): ReferenceTie => ({
  between,
  value,
  data,
  directed: true,
  sql: `WITH people AS (SELECT ${unit[data]} AS unit, [${columns.map((c) => `"${c}"`).join(', ')}] AS chain FROM fugu_data),
    first AS (SELECT unit, min(chain) AS chain FROM people GROUP BY unit),
    chains AS (SELECT row_number() OVER (ORDER BY unit) AS person, chain FROM first),
    places AS (SELECT chain, 1 + person * 7 % ${columns.length - apart} AS place FROM chains)
    SELECT ${kinds[data]('chain[place]')}, ${kinds[data](`chain[place + ${apart}]`)} FROM places`,
});
const names = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const mvad = Array.from({ length: 70 }, (_, k) => `${names[(k + 8) % 12]}.${93 + Math.floor((k + 8) / 12)}`);
const actcal = names.map((name) => `${name.toLowerCase()}00`);

export const referenceTies: readonly ReferenceTie[] = [
  acs('couples', couple, 'income (four classes)', income),
  acs('couples', couple, 'education (four classes)', degree),
  acs('couples', couple, 'work (three kinds)', work),
  acs('couples', couple, 'has a disability', two('dis', 'yes', 'no')),
  acs('couples', couple, 'has health insurance', two('hicov', 'yes', 'no')),
  acs('couples', couple, 'born in the country', two('nativity', 'yes', 'no')),
  acs('couples', couple, 'race and origin (six kinds)', race),
  acs('householder and grown child', parentChild, 'income (four classes)', income, true),
  acs('householder and grown child', parentChild, 'has a disability', two('dis', 'yes', 'no'), true),
  acs('householder and grown child', parentChild, 'has health insurance', two('hicov', 'yes', 'no'), true),
  acs('any two adults of a household', adults, 'income (four classes)', income),
  acs('any two adults of a household', adults, 'education (four classes)', degree),
  acs('any two adults of a household', adults, 'has a disability', two('dis', 'yes', 'no')),
  acs('any two adults of a household', adults, 'has health insurance', two('hicov', 'yes', 'no')),
  {
    between: 'any two members of a household, five years and older',
    value: 'speaks another language than English at home',
    data: 'language',
    directed: false,
    sql: members(
      two('CAST(LANX AS INTEGER)', 'yes', 'no'),
      'CAST(RELP AS INTEGER) < 16',
      'CAST(RELP AS INTEGER) < 16',
      'SERIALNO',
      'SPORDER',
    ),
  },
  {
    between: 'a person and whom they talk with about what matters, as they see them',
    value: 'party (three)',
    data: 'anes',
    directed: true,
    sql: `SELECT ${party('V06P680')}, ${party('V06P603x')} FROM fugu_data WHERE "V06P680" IS NOT NULL AND "V06P603x" IS NOT NULL`,
  },
  gss('father and mother, as told by their child', true, 'padeg', 'madeg'),
  gss('a person and their father', true, 'padeg', 'degree'),
  {
    between: 'sisters',
    value: 'has had breast cancer',
    data: 'breast',
    directed: false,
    sql: `WITH people AS (SELECT * FROM fugu_data WHERE sex = 'F' AND proband = 0 AND cancer IS NOT NULL AND motherid > 0 AND endage >= 40),
      pairs AS (SELECT a.cancer AS a, b.cancer AS b, row_number() OVER (PARTITION BY a.famid ORDER BY md5(concat(a.id, '/', b.id))) AS place
        FROM people a JOIN people b ON a.famid = b.famid AND a.motherid = b.motherid AND a.id < b.id)
      SELECT CASE a WHEN 1 THEN 'yes' ELSE 'no' END, CASE b WHEN 1 THEN 'yes' ELSE 'no' END FROM pairs WHERE place = 1`,
  },
  {
    between: 'friends, each in one pair',
    value: 'where they check in most (fields of 5 km)',
    data: 'gowalla',
    directed: false,
    edges: 'gowalla/gowalla_nyc_ge10_25km_edges.parquet',
    sql: `WITH visits AS (SELECT uid, concat(CAST(floor(lat / 0.045) AS INTEGER), '/', CAST(floor(lon / 0.059) AS INTEGER)) AS field FROM fugu_data),
      fields AS (SELECT uid, field, row_number() OVER (PARTITION BY uid ORDER BY count(*) DESC, field) AS place FROM visits GROUP BY uid, field)
      SELECT uid, field FROM fields WHERE place = 1`,
  },
  months('mvad', 'learning, working, neither', mvad, 1, 'one person, a month and the next'),
  months('mvad', 'learning, working, neither', mvad, 12, 'one person, a month and a year later'),
  months('actcal', 'works', actcal, 1, 'one person, a month and the next'),
  {
    between: 'one patient, a visit and the next',
    value: 'disease of the arteries (none, mild, severe)',
    data: 'cav',
    directed: true,
    sql: `WITH steps AS (SELECT ptnum, state, lead(state) OVER (PARTITION BY ptnum ORDER BY years) AS next, years FROM fugu_data),
      chosen AS (SELECT state, next, row_number() OVER (PARTITION BY ptnum ORDER BY md5(concat(ptnum, '/', years))) AS place FROM steps WHERE state < 4 AND next < 4)
      SELECT ['none', 'mild', 'severe'][state], ['none', 'mild', 'severe'][next] FROM chosen WHERE place = 1`,
  },
  {
    between: 'one house, an hour and the next, once a week',
    value: 'above half a kilowatt',
    data: 'power',
    directed: true,
    sql: `WITH hours AS (SELECT CAST(datetime AS TIMESTAMP) AS datetime, CASE WHEN Global_active_power > 30 THEN 'yes' ELSE 'no' END AS high FROM fugu_data),
      steps AS (SELECT datetime, high, lead(high) OVER (ORDER BY datetime) AS next, lead(datetime) OVER (ORDER BY datetime) AS later FROM hours),
      chosen AS (SELECT high, next, row_number() OVER (PARTITION BY date_trunc('week', datetime) ORDER BY md5(CAST(datetime AS VARCHAR))) AS place FROM steps WHERE later = datetime + INTERVAL 1 HOUR)
      SELECT high, next FROM chosen WHERE place = 1`,
  },
];
