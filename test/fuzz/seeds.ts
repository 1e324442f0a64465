/** Inputs of each reader before mutation. A NUL between two parts separates arguments. */
export type Target =
  | 'sql'
  | 'query'
  | 'policy'
  | 'pattern'
  | 'model'
  | 'network'
  | 'codebook'
  | 'number'
  | 'words'
  | 'csv'
  | 'analysis'
  | 'release';

const head = 'data: {source: data.csv}\nprotect: {secret: row}\nbudget: {epsilon: 1}\ndependence: none\n';
const word = (...parts: string[]) => parts.join('\u0001');
const tree = JSON.stringify({
  records: [
    { id: 'a', values: [0, 1] },
    { id: 'b', values: [0, 1] },
    { id: 'c', values: [0, 1, 2] },
  ],
  factors: [
    { records: ['a', 'b'], oddsRatio: 4 },
    {
      records: ['b', 'c'],
      table: [
        [1, 2, 3],
        [3, 2, 1],
      ],
    },
  ],
});
const chain = JSON.stringify({
  chain: {
    length: 4,
    transition: [
      [0.9, 0.1],
      [0.2, 0.8],
    ],
    initial: 'stationary',
  },
});
const network = JSON.stringify({
  format: 'fugu-network/1',
  name: 'n',
  columns: [
    { name: 'a', values: ['0', '1'], parents: [], table: [0.5, 0.5] },
    { name: 'b', values: ['0', '1'], parents: ['a'], table: [0.9, 0.1, 0.2, 0.8] },
  ],
});
const bif =
  'network n {\n}\nvariable a {\n  type discrete [ 2 ] { 0, 1 };\n}\nvariable b {\n  type discrete [ 2 ] { 0, 1 };\n}\nprobability ( a ) {\n  table 0.5, 0.5;\n}\nprobability ( b | a ) {\n  (0) 0.9, 0.1;\n  (1) 0.2, 0.8;\n}\n';

export const seeds: Readonly<Record<Target, readonly string[]>> = {
  sql: [
    'SELECT party, COUNT(*), AVG(age) AS a FROM data WHERE age > 30 GROUP BY party',
    `SELECT COUNT(*) FROM data WHERE party = 'dem' AND age <> 2 AND 3 <= age AND income BETWEEN 1 AND 2.5 AND party IN ('dem', 'rep') AND grade NOT IN (1, -2) AND age IS NULL`,
    'SELECT COUNT(age), SUM(age), VARIANCE(age), VAR_POP(income), MEDIAN(age), PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) p FROM "data.csv"',
    'SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a WHERE f.a <> g.b AND f.a < 3',
    'SELECT COUNT(DISTINCT f.a, g.b) FROM friend f, friend g WHERE f.b = g.a',
    'SELECT SUM(f.a) FROM friend f',
    'WITH x AS (SELECT 1) SELECT CASE WHEN a > 1 THEN 1 END FROM x UNION SELECT 2 -- comment\n/* and another */',
  ],
  query: [
    '{"kind": "count"}',
    '{"kind": "mean", "column": "age", "by": ["party"], "where": [{"column": "age", "op": ">", "value": 30}]}',
    '{"queries": [{"kind": "histogram", "column": "party"}, {"kind": "quantile", "column": "age", "at": [0.5, 0.25]}, {"kind": "sum", "column": "income", "weight": "w"}]}',
    '[{"kind": "crosstab", "columns": ["party", "grade"], "name": "table"}, {"kind": "variance", "column": "income", "population": true}]',
    '{"kind": "share", "column": "party", "values": ["dem", "rep"], "where": [{"column": "grade", "op": "in", "values": [1, "2"]}, {"column": "party", "op": "missing"}]}',
    '{"kind": "count", "by": ["media", "grade"], "where": [{"column": "income", "op": "not in", "values": [1.5, -2]}]}',
  ],
  policy: [
    head,
    `${head}columns:\n  age: {type: integer, bounds: [17, 90], missing: [-1, 99], bins: 10}\n  party: {type: category, values: {1: Dem, 2: Rep}, pools: [[1, 2]]}\n  media: {type: multi, values: [tv, web], separator: "|"}\n  w: {type: weight, bounds: [0, 5], step: 0.1}\nunconfirmed: [age]\n`,
    'data: {source: data.csv, codebook: codebook.csv}\nprotect: {secret: person, unit: id, maxRows: 3, adversary: uninformed}\nbudget: {belief: [{prior: 0.1, posterior: 0.3, floor: 0.01}], delta: 1e-6}\ndependence:\n  - {kind: groups, by: household, oddsRatio: 4, column: party, maxSize: 5}\n  - {kind: ties, relation: friend, oddsRatio: inf, maxTies: 3, reach: direct}\nrelations:\n  friend: {table: friends.csv, columns: [a, b], domain: 1000, symmetric: true}\n',
    `${head}merge:\n  - {columns: [a, b], support: [[1, 2], [2, ""], ["*", 1]]}\ncolumns:\n  a: {type: category, values: [1, 2]}\n  b: {type: category, values: [1, 2]}\n`,
    'population: p\nledger: l.db\ndata: &d {source: data.csv}\nprotect: {secret: answer}\nbudget: {epsilon: 2/3}\ndependence: [{kind: columns, network: net.json}, {kind: sequence, by: id, order: t, state: a, transition: t.json}, {kind: gaussian, precision: q.json}, {kind: factors, model: m.json}]\ncolumns:\n  a: &a {type: category, values: [1, 2]}\n  b: *a\n',
  ],
  pattern: [
    'q(x, y) :- friend(x, y), friend(y, x), x != y.',
    'q(x,y,z) :- friend(x,y), friend(y,z), friend(z,x), all_distinct(x,y,z)',
    "sum(a in 0..100) :- person(x, a), friend(x, y), y >= 3, x != 'v'",
    'triangles',
    "2-paths from 'v'",
    '3-stars',
    '4-cliques of friend',
    '%symmetric friend\nq() :- friend(x, $p), friend($p, y), x < y % comment',
    'SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a WHERE f.a <> g.b',
    'degrees of friend',
    'clustering coefficient',
  ],
  model: [
    tree,
    chain,
    network,
    bif,
    JSON.stringify({
      chain: {
        length: 3,
        transition: [
          [1, 0],
          [0, 1],
        ],
        initial: [0.5, 0.5],
      },
    }),
  ],
  network: [
    network
      .replaceAll('"0","1"', '"1","2","(missing)"')
      .replace('[0.5,0.5]', '[0.4,0.4,0.2]')
      .replace('[0.9,0.1,0.2,0.8]', '[0.9,0.1,0,0.2,0.7,0.1,0.3,0.3,0.4]'),
    network,
    bif,
    '{"format":"fugu-pairwise/2","origin":{"kind":"unpaid"},"columns":["a","b"],"levels":[["1","2"],["1","2"]],"resolution":"x","known":[],"confidence":1,"tilts":[{"tilt":1,"spread":0.5}]}',
    '{"transition": [[0.9, 0.1], [0.2, 0.8]]}',
    '{"transitions": [[[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.2, 0.8]]]}',
    '{"records": ["1", "2"], "precision": [[2, -1], [-1, 2]], "bounds": [17, 90], "column": "age"}',
    '{"records": [{"id": "1", "values": [0, 1]}, {"id": "2", "values": [0, 1]}], "factors": [{"records": ["1", "2"], "oddsRatio": 4}]}',
  ],
  codebook: [
    'name,value,label,missing,share\nage,,How old?,,\nparty,1,Dem,,0.5\nparty,2,"Rep, or so",,0.3\nparty,9,none,yes,\n',
    'name;value;label\na;1;yes\na;2;no\n',
    '\ufeffname\tvalue\tlabel\r\n"a ""b"""\t1\tx\r\n',
  ],
  number: ['0.3', '1e-6', '2/3', '-5', '+.5', '1e308', '1e-308', '17', '0.000001', '100000000000000000000'],
  words: [
    word('epsilon', '--prior', '0.1', '--posterior', '0.3'),
    word('epsilon', '--among', '50', '--posterior', '0.3', '--delta', '1e-6'),
    word('epsilon', '--epsilon', '1', '--prior', '0.1,0.2', '--json'),
    word('posterior', '--universe', '1,2,3,5,10', '--known', '1,2,3', '--query', 'mean', '--answer', '3', '--scale', '1'),
    word('posterior', '--universe', '1,2', '--prior', '0.5,0.5', '--query', 'max', '--answer', '3', '--sigma', '1'),
    word('posterior', 'MODEL', '--about', 'a', '--known', 'b=1', '--query', 'sum', '--answer', '1', '--scale', '2'),
    word('leak', 'MODEL', '--base', '0.1'),
    word('leak', 'MODEL', '--epsilon', '1', '--adversary', 'uninformed'),
    word('leak', 'MODEL', '--profile', '0.1,0,0.2'),
    word('audit', 'MODEL', '--query', 'sum', '--scale', '2'),
    word('audit', 'MODEL', '--query', 'atLeast:2', '--calibrate', '0.5', '--adversary', 'uninformed'),
    word('compare', 'MODEL', '--query', 'sum:1,2,3', '--epsilon', '1'),
    word('compare', 'MODEL', '--query', 'histogram', '--epsilon', '0.1', '--json'),
    word('pattern', 'triangles', '--domain', '1000', '--epsilon', '1', '--gamma', '0.1', '--degree', '10'),
    word('pattern', 'q(x,y) :- r(x,y), r(y,x)', '--domain', '1000', '--epsilon', '0.5', '--delta', '1e-6', '--symmetric'),
  ],
  csv: [
    'id,age,party\n1,20,dem\n2,30,rep\n',
    'a;b;c\n1;2;3\n',
    '"a ""x""","b\nc",__proto__\n1,2,3\n,,\n',
    '\ufeffa\tb\r\n1\t2\r\n',
    'only\n',
  ],
  analysis: [
    '{"as": "kmeans", "ask": {"columns": ["age", "income"], "clusters": 3, "iterations": 2, "variant": "lloyd"}, "options": {"epsilon": "1"}}',
    '{"as": "kmeans", "ask": {"columns": ["age"], "clusters": 2}, "options": {}}',
    '{"as": "classify", "ask": {"label": "party", "positive": ["dem"], "features": ["age", "grade"], "method": "sgd", "steps": 3}, "options": {"epsilon": "0.5"}}',
    '{"as": "classify", "ask": {"label": "party", "positive": ["dem"], "features": ["age", "grade", "income"], "select": {"keep": 2, "share": 0.2}, "regularisation": 0.1}, "options": {}}',
    '{"as": "pattern", "ask": "triangles", "options": {"epsilon": "0.1", "degree": 10}}',
    '{"as": "pattern", "ask": "q(x, y) :- friend(x, y), friend(y, z), x != z", "options": {"epsilon": "0.1", "gamma": "0.1", "degree": 5, "mechanism": "laplace"}}',
    '{"as": "degrees", "ask": "friend", "options": {"epsilon": "0.1", "degree": 10, "form": "histogram"}}',
  ],
  release: [
    '{"kind": "count"}',
    '{"kind": "histogram", "column": "party"}',
    '{"kind": "mean", "column": "age", "by": ["party"]}',
    '{"queries": [{"kind": "crosstab", "columns": ["party", "grade"]}, {"kind": "quantile", "column": "age", "at": [0.5]}]}',
    '{"kind": "sum", "column": "income", "where": [{"column": "age", "op": ">=", "value": 30}]}',
  ],
};
