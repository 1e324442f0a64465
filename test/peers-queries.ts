/**
 * Tutorial queries of SmartNoise SQL (README, docs, query tests), Tumult Analytics (tutorials) and OpenDP (tabular data)
 * in our words over made data. `refused`: part of the message that refuses it.
 */
export interface PeerQuery {
  readonly peer: 'SmartNoise' | 'Tumult' | 'OpenDP';
  readonly about: string;
  readonly sql: string;
  readonly refused?: string;
}
const all = (
  peer: PeerQuery['peer'],
  list: readonly (readonly [about: string, sql: string, refused?: string])[],
): readonly PeerQuery[] => list.map(([about, sql, refused]) => ({ peer, about, sql, ...(refused !== undefined && { refused }) }));

export const peerQueries: readonly PeerQuery[] = [
  ...all('SmartNoise', [
    ['count', 'SELECT COUNT(*) AS n FROM people'],
    ['mean', 'SELECT AVG(age) AS age FROM people'],
    ['two means', 'SELECT AVG(age), AVG(income) FROM people'],
    ['means by sex', 'SELECT sex, AVG(age) AS age FROM people GROUP BY sex'],
    ['counts by education', 'SELECT educ, COUNT(*) AS n FROM people GROUP BY educ'],
    ['counts by age', 'SELECT age, COUNT(*) AS n FROM people GROUP BY age'],
    ['married people', 'SELECT married, AVG(income) AS income, COUNT(*) AS n FROM people GROUP BY married'],
    ['the first two', 'SELECT educ, AVG(age) AS age FROM people GROUP BY educ ORDER BY age DESC LIMIT 2'],
    ['TOP', 'SELECT TOP 2 educ, AVG(age) AS age FROM people GROUP BY educ ORDER BY age DESC', 'TOP'],
    ['in order', 'SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY sex ORDER BY sex'],
    ['by what was counted', 'SELECT COUNT(*) AS c, married AS m FROM people GROUP BY married ORDER BY c DESC'],
    ['sum in parentheses', 'SELECT (SUM(age)) AS age FROM people'],
    ['sum of orders', 'SELECT SUM(fee) FROM checkouts'],
    ['one more than a count', 'SELECT 1 + COUNT(id) AS c FROM people'],
    ['half of a sum', 'SELECT SUM(income) / 2 AS half FROM people'],
    ['root', 'SELECT SQRT(COUNT(*)) AS root FROM people'],
    ['square', 'SELECT POWER(COUNT(*) / 10000, 2) AS n, sex FROM people GROUP BY sex'],
    ['deviation from moments', 'SELECT SQRT(AVG(age * age) - AVG(age) * AVG(age)) AS sd FROM people'],
    ['deviation', 'SELECT STDDEV(age), VARIANCE(age) FROM people'],
    ['persons', 'SELECT COUNT(DISTINCT id) AS persons FROM people'],
    ['persons of another table', 'SELECT genre, COUNT(DISTINCT member) FROM checkouts GROUP BY genre'],
    ['condition', 'SELECT AVG(fee) AS fee, genre, renewed FROM checkouts WHERE fee > 1.5 GROUP BY genre, renewed'],
    ['truth values', 'SELECT genre, SUM(fee), AVG(fee) FROM checkouts WHERE renewed = TRUE GROUP BY genre'],
    [
      'join by the person',
      'SELECT SUM(fee), sex FROM checkouts JOIN people ON checkouts.member = people.id GROUP BY sex ORDER BY sex',
    ],
    [
      'mean over a sub-select',
      'SELECT sex, COUNT(id) AS n, AVG(age) FROM (SELECT id, sex, age FROM people WHERE age > 20) AS grown GROUP BY sex',
    ],
    ['HAVING', 'SELECT educ, COUNT(*) AS n FROM people GROUP BY educ HAVING COUNT(*) > 20'],
    ['keys in HAVING', 'SELECT age * 2 AS double, COUNT(*) FROM people WHERE age < 30 OR age > 60 GROUP BY double'],
    [
      'a constant beside',
      'SELECT 3 AS three, married, educ, AVG(income) FROM people GROUP BY educ, married',
      'a constant as a column',
    ],
    ['without the missing', 'SELECT married, AVG(age) FROM people WHERE age IS NOT NULL GROUP BY married'],
    ['cases', 'SELECT SUM(CASE WHEN age > 90 THEN 1 ELSE 0 END) AS old FROM people'],
    ['cast', 'SELECT AVG(CAST(educ_years AS INTEGER)) FROM people'],
    ['rounded', 'SELECT ROUND(AVG(income), 0) AS income FROM people'],
    ['smallest and largest', 'SELECT MIN(age), MAX(age) FROM people'],
    ['single rows', 'SELECT age FROM people', 'no group key'],
    ['all columns', 'SELECT * FROM people', '*'],
  ]),
  ...all('Tumult', [
    ['first count', 'SELECT COUNT(*) FROM people'],
    ['minors', 'SELECT COUNT(*) FROM people WHERE age < 18'],
    ['two degrees', "SELECT COUNT(*) FROM people WHERE degree IN ('masters', 'doctorate')"],
    ['mean within bounds', 'SELECT AVG(age) FROM people'],
    ['sum within bounds', 'SELECT SUM(books) FROM people'],
    ['mean by degree', 'SELECT degree, AVG(age) FROM people GROUP BY degree'],
    ['young ages', 'SELECT age, COUNT(*) FROM people WHERE age BETWEEN 13 AND 22 GROUP BY age'],
    ['teenagers by degree', 'SELECT age, degree, COUNT(*) FROM people WHERE age BETWEEN 13 AND 19 GROUP BY age, degree'],
    [
      'some of the keys',
      "SELECT age, degree, COUNT(*) FROM people WHERE (age < 18 AND degree = 'none') OR (age >= 18 AND degree = 'school') GROUP BY age, degree",
    ],
    ['different values', 'SELECT COUNT(DISTINCT degree) FROM people'],
    ['age when joined', 'SELECT age - (2024 - YEAR(joined)) AS age_joined, COUNT(*) FROM people GROUP BY age_joined'],
    ['favourites, several each', 'SELECT favourites, COUNT(*) FROM people GROUP BY favourites'],
    ['tens of years, by sex', 'SELECT FLOOR(age / 10) * 10 AS decade, sex, COUNT(*) FROM people GROUP BY decade, sex'],
    ['public cities', 'SELECT city, COUNT(*) FROM people JOIN zips USING (zip) GROUP BY city'],
    ['rows of one person', 'SELECT isbn, COUNT(*) FROM checkouts GROUP BY isbn'],
    ['persons by book', 'SELECT isbn, COUNT(DISTINCT member) FROM checkouts GROUP BY isbn'],
    ['five books', "SELECT isbn, COUNT(*) FROM checkouts WHERE isbn IN ('b1', 'b2', 'b3') GROUP BY isbn"],
    [
      'genres by age',
      'SELECT FLOOR(age / 20) * 20 AS years, genre, COUNT(*) FROM checkouts JOIN people ON checkouts.member = people.id GROUP BY years, genre',
    ],
    ['books known to all', 'SELECT shelf, COUNT(*) FROM checkouts JOIN books USING (isbn) GROUP BY shelf'],
    ['one row each', 'SELECT AVG(visits) FROM (SELECT member, COUNT(*) AS visits FROM checkouts GROUP BY member) AS each'],
    ['deviation by degree', 'SELECT degree, STDDEV(age) FROM people GROUP BY degree'],
    ['quantile', 'SELECT PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY age) FROM people'],
    ['median by sex', 'SELECT sex, MEDIAN(income) FROM people GROUP BY sex'],
    ['nothing for missing', 'SELECT AVG(COALESCE(hours, 35)) FROM people'],
    ['small groups left out', 'SELECT degree, COUNT(*) FROM people GROUP BY degree HAVING COUNT(*) >= 30'],
  ]),
  ...all('OpenDP', [
    ['length', 'SELECT COUNT(*) FROM people'],
    ['rows with an answer', 'SELECT COUNT(hours) FROM people'],
    ['rows without', 'SELECT COUNT(*) FROM people WHERE hours IS NULL'],
    ['unique values', 'SELECT COUNT(DISTINCT educ) FROM people'],
    ['total of hours', 'SELECT SUM(COALESCE(hours, 35)) FROM people'],
    ['sum and length', 'SELECT SUM(hours), COUNT(*), SUM(hours) / COUNT(hours) AS mean FROM people'],
    ['mean of hours', 'SELECT AVG(hours) FROM people'],
    ['median of hours', 'SELECT MEDIAN(hours) FROM people'],
    ['quartiles', 'SELECT QUANTILE(hours, 0.25), QUANTILE(hours, 0.75) FROM people'],
    [
      'cut into bins',
      "SELECT CASE WHEN hours <= 20 THEN '0 to 20' WHEN hours <= 40 THEN '20 to 40' ELSE 'more' END AS bin, COUNT(*) FROM people GROUP BY bin",
    ],
    ['filtered sum', 'SELECT SUM(hours) FROM people WHERE hours > 0'],
    ['two keys', 'SELECT sex, degree, COUNT(*), AVG(hours) FROM people GROUP BY sex, degree'],
    ['years and quarters', 'SELECT YEAR(joined) AS y, QUARTER(joined) AS q, COUNT(*) FROM people GROUP BY y, q'],
    ['dates apart', "SELECT AVG(DATE_DIFF('day', joined, DATE '2024-12-31')) FROM people"],
    ['month by month', "SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM checkouts GROUP BY month"],
    [
      'events of users',
      'SELECT COUNT(*) FROM checkouts LEFT JOIN people ON checkouts.member = people.id LEFT JOIN zips USING (zip)',
    ],
    [
      'one row for each user',
      'SELECT AVG(events), AVG(paid) FROM (SELECT member, COUNT(*) AS events, SUM(fee) AS paid FROM checkouts GROUP BY member) AS users',
    ],
    [
      'users who did much',
      'WITH users AS (SELECT member, COUNT(*) AS events FROM checkouts GROUP BY member) SELECT COUNT(*) FROM users WHERE events >= 3',
    ],
    ['rows of others', 'SELECT COUNT(*) FROM checkouts JOIN people ON checkouts.lent_by = people.id', 'beside those of another'],
    ['contingency table', 'SELECT sex, married, degree, COUNT(*) FROM people GROUP BY sex, married, degree'],
    ['part of all', 'SELECT sex, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS percent FROM people GROUP BY sex'],
  ]),
];
