import { type PickOne, personRows, visits } from './persons-and-visits.js';

/** One question of every form; ties between equal counts are broken by text, independent of storage. */
export const fixed: readonly string[] = [
  'SELECT region, COUNT(*), SUM(cost), AVG(price) FROM visits JOIN people USING (person) GROUP BY region',
  'SELECT kind, COUNT(*) FROM people LEFT JOIN visits USING (person) WHERE age > 10 OR age IS NULL GROUP BY kind',
  'SELECT size, COUNT(*), COUNT(DISTINCT person) FROM visits JOIN clinics USING (clinic) GROUP BY size',
  'SELECT size, COUNT(*) FROM stays LEFT JOIN clinics USING (clinic) GROUP BY size',
  'SELECT FLOOR(day / 3) AS d, COUNT(*) FROM visits a JOIN stays b ON a.person = b.person AND a.clinic = b.clinic GROUP BY d',
  'SELECT COUNT(*) FROM visits a JOIN visits b USING (person)',
  ...['kind', 'code', 'urgent', 'cost'].flatMap((c) => [
    `SELECT COUNT(*) FROM visits a JOIN stays b ON a.person = b.person AND a.${c} = b.${c}`,
    `SELECT COUNT(*) FROM visits a LEFT JOIN stays b ON a.person = b.person AND a.${c} = b.${c} WHERE b.${c} IS NULL`,
  ]),
  ...['kind', 'code', 'urgent'].flatMap((c) => [
    `WITH v AS (SELECT person, MODE(${c}) AS m FROM visits GROUP BY person) SELECT m, COUNT(*) FROM v GROUP BY m`,
    `WITH v AS (SELECT person, ARG_MIN(${c}, day) AS f, ARG_MAX(${c}, cost) AS l FROM visits WHERE cost > 3 GROUP BY person) SELECT f, l, COUNT(*) FROM v GROUP BY f, l`,
  ]),
  'WITH v AS (SELECT person, COUNT(*) AS n, SUM(cost) AS s, AVG(price) AS a, MIN(price) AS l, MAX(day) AS h FROM visits GROUP BY person) SELECT region, SUM(n), SUM(s), SUM(a), SUM(l), SUM(h) FROM people LEFT JOIN v USING (person) GROUP BY region',
  "SELECT flag, COUNT(*) FROM (SELECT person, SUM(price) AS s FROM visits WHERE NOT (kind = 'gp') GROUP BY person) v JOIN people USING (person) WHERE s > 1.25 GROUP BY flag",
  "SELECT CASE WHEN cost < 10 AND region <> 'north' THEN 'a' WHEN urgent = 'true' THEN 'b' ELSE 'c' END AS c, SUM(cost + 2 * age), COUNT(*) FROM visits JOIN people USING (person) GROUP BY c",
  'SELECT FLOOR(s / 50) AS f, COUNT(*) FROM (SELECT person, SUM(cost) AS s FROM stays GROUP BY person) v GROUP BY f',
];

/** Numbers, conditions and texts computed from a table's columns. */
function drawn(
  pick: PickOne,
  columns: readonly { readonly name: string; readonly type: string; readonly values?: readonly string[] }[],
) {
  const of = <T>(list: readonly T[]): T => list[pick(list.length)]!;
  const [codes, reals] = [columns.filter((c) => c.values), columns.filter((c) => !c.values)];
  const constant = () => of(['0', '1', '-1', '2.5', '7', '0.25', '100']);
  const value = (deep: number): string => {
    if (deep === 0 || pick(3) === 0) return of(reals).name;
    const next = () => value(deep - 1);
    return of([
      () => `(${next()} + ${next()})`,
      () => `(${next()} - ${constant()})`,
      () => `(${next()} * ${of(['2', '-3', '0.5', '-0.1'])})`,
      () => `FLOOR(${next()} / ${of(['10', '3', '0.5', '7'])})`,
      () => `CEIL(${next()} / ${of(['4', '2.5'])})`,
      () => `ROUND(${next()})`,
      () => `(ROUND(${next()}) % ${of(['2', '5', '12'])})`,
      () => `COALESCE(${next()}, ${constant()})`,
      () => `CASE WHEN ${test(deep - 1)} THEN ${next()} ELSE ${of([next, constant])()} END`,
      () => `CASE WHEN ${test(deep - 1)} THEN ${next()} END`,
    ])();
  };
  const test = (deep: number): string => {
    const { name, values } = of(codes);
    const own = of([
      () => `${name} = '${of(values!)}'`,
      () => `${name} NOT IN ('${of(values!)}', '${of(values!)}')`,
      () => `${of(reals).name} ${of(['<', '<=', '>', '>=', '<>'])} ${constant()}`,
      () => `${value(Math.max(0, deep - 1))} > ${of(reals).name}`,
      () => `${of(columns).name} IS NULL`,
    ])();
    if (deep === 0) return own;
    return of([() => own, () => `(${own} OR ${test(deep - 1)})`, () => `NOT (${own} AND ${test(deep - 1)})`])();
  };
  const text = () => `CASE WHEN ${test(1)} THEN 'p' WHEN ${test(1)} THEN 'q' ${pick(2) === 0 ? "ELSE 'r' " : ''}END`;
  return { value, test, text };
}
export function randomSql(pick: PickOne): string {
  const joined = pick(3) === 0;
  const { value, test, text } = drawn(
    pick,
    (joined ? [...personRows, ...visits] : personRows).filter(({ type }) => type !== 'multi') as never,
  );
  const aggregate = ['COUNT(*)', `SUM(${value(2)})`, `AVG(${value(2)})`, `COUNT(${value(1)})`][pick(4)]!;
  const by = [text, () => `FLOOR(${value(1)} / 20)`, () => 'region', () => undefined][pick(4)]!();
  const from = joined ? `people ${pick(3) === 0 ? 'LEFT ' : ''}JOIN visits USING (person)` : 'people';
  const where = pick(2) === 0 ? ` WHERE ${test(2)}` : '';
  return `SELECT ${by === undefined ? '' : `${by} AS g, `}${aggregate} FROM ${from}${where}${by === undefined ? '' : ' GROUP BY g'}`;
}
