/** What was asked of version 0.2, policy by policy. */
const q = (question, epsilon = '0.1', more = {}) => ({ question, options: { epsilon, ...more } });
const sql = (text, epsilon, more) => q({ sql: text }, epsilon, more);
const older = { column: 'age', op: '>', value: 40 };
const isLeft = { left: { cases: [{ when: { column: 'party', op: 'in', values: ['left'] }, value: 1 }, { when: { column: 'party', op: 'present' }, value: 0 }] } };
const uninsured = { rich: { kind: 'count', where: [{ column: 'rich', op: '=', value: 'yes' }] }, all: { kind: 'count' } };

const queries = [
  q({ kind: 'count' }),
  q({ kind: 'count', by: ['party'], where: [older] }),
  q({ kind: 'histogram', column: 'age' }, '0.2', { tidy: true }),
  q({ kind: 'sum', column: 'income', by: ['rich'] }),
  q({ kind: 'mean', column: 'age', by: ['party'] }, '1/5'),
  q({ kind: 'variance', column: 'age', root: true }, 0.15),
  q({ kind: 'share', column: 'party', values: ['left', 'other'], by: ['sex'] }),
  q({ kind: 'crosstab', columns: ['party', 'media'] }),
  q({ kind: 'quantile', column: 'age', at: [0.25, 0.5] }),
  q({ kind: 'cdf', column: 'age' }),
  q({ kind: 'cdf', column: 'income', at: [0.5, 0.9] }),
  q({ kind: 'ranges', column: 'age', ranges: [[18, 29], [30, 64], [18, 64]] }),
  q({ kind: 'distinct', column: 'region' }),
  q({ kind: 'compare', column: 'age', between: 'sex' }),
  q({ kind: 'correlation', columns: ['age', 'income', 'left'], derive: isLeft }),
  q({ kind: 'independence', columns: ['party', 'rich'] }),
  q({ kind: 'regression', outcome: 'income', on: ['age', 'rich'] }, '0.4'),
  q({ kind: 'estimate', column: 'party', values: ['left'] }),
  q({ kind: 'formula', parts: uninsured, of: { op: '/', of: [{ op: '*', of: [100, 'rich'] }, 'all'] }, by: ['sex'], name: 'percent' }),
  q({ queries: [{ kind: 'count', by: ['party'] }, { kind: 'mean', column: 'income', name: 'mean income' }, { kind: 'histogram', column: 'media' }] }, '0.3', { label: 'three at once' }),
];
const weighted = [
  q({ kind: 'count', by: ['party'], weight: 'w' }),
  q({ kind: 'mean', column: 'age', weight: 'w' }),
  q({ survey: true, columns: ['p*', 'rich'], weight: 'w' }),
];
const statements = [
  sql('SELECT party, COUNT(*), AVG(age) FROM town WHERE age > 30 GROUP BY party', '0.2'),
  sql("SELECT party, count(*) FROM data WHERE sex = 'f' OR rich IN ('yes') GROUP BY party ORDER BY party LIMIT 2"),
  sql("SELECT DATE_TRUNC('year', born), COUNT(*) FROM town WHERE born >= '1990-01-01' GROUP BY 1"),
  sql("SELECT 100.0 * COUNT(*) FILTER (WHERE rich = 'yes') / COUNT(rich) AS percent FROM town"),
  sql("SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS of_age, SUM(income), STDDEV(income) FROM town GROUP BY 1"),
  sql('SELECT MEDIAN(age), PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY income) FROM town'),
];
const workloads = [
  q({ workload: { tables: [{ all: [1, 2], of: ['party', 'rich', 'sex'] }, { by: ['party', 'rich', 'sex'], weight: 1 / 2 }] } }, '0.4'),
  q({ workload: { tables: [{ by: ['young', 'party'] }, { by: ['party', 'end'] }], ranges: { age: { young: [['18 to 29', '18 to 29'], ['30 to 44', '65 to 90']] } }, levels: { region: { end: { coast: ['north', 'west'], hills: ['south'] } } }, aim: 'largest' } }, '0.3'),
];
const learned = [
  q({ kmeans: { columns: ['age', 'income'], clusters: 2, variant: 'lloyd', iterations: 2 } }, '0.3'),
  q({ kmeans: { columns: ['age'], clusters: 2, variant: 'grid' } }, '0.3'),
  q({ kmeans: { columns: ['age', 'income'], clusters: 2, variant: 'halving' } }, '0.3'),
  q({ classify: { label: 'rich', positive: ['yes'], features: ['age', 'party'] } }, '0.5'),
  q({ classify: { label: 'rich', positive: ['yes'], features: ['income', 'age'], method: 'output', regularisation: 0.1 } }, '0.3'),
  q({ classify: { label: 'party', positive: ['left', 'other'], features: ['age', 'sex'], method: 'sgd', steps: 5 } }, '0.3'),
  q({ classify: { label: 'rich', positive: ['yes'], features: ['age', 'party'], method: 'tilt', model: 'svm' } }, '0.3'),
  q({ classify: { label: 'rich', positive: ['yes'], features: ['age', 'party'], select: { keep: 1, share: 0.5 } } }, '0.4'),
];
const synths = [
  q({ synth: { columns: ['party', 'rich', 'age'], mode: 'mst', rows: 20 } }, '0.5'),
  q({ synth: { columns: ['party', 'rich', 'sex'], mode: 'aim', rows: 20, upTo: 2, tables: [{ by: ['party', 'rich'], weight: 3 }] } }, '0.5'),
  q({ synth: { columns: ['party', 'rich', 'sex'], mode: 'privbayes', rows: 20, impossible: [{ party: 'left', rich: 'yes' }] } }, '0.5'),
];
const together = [q({ network: true }, '0.4'), q({ keys: { column: 'city', most: 5, longest: 8 } }, '0.4')];
const some = [q({ kind: 'count', by: ['party'] }), q({ kind: 'mean', column: 'age' }, '0.2'), q({ kind: 'count', where: [{ column: 'rich', op: '=', value: 'yes' }] })];
const weekly = [1, 2].map((value) => q({ kind: 'count', by: ['party'], where: [{ column: 'week', op: '=', value }] }, '0.2'));
const places = [q({ kind: 'histogram', column: 'place' }), q({ kind: 'count', by: ['place'], where: [{ column: 'day', op: '=', value: 3 }] }, '0.2')];

export const asks = {
  'rows.yaml': [...queries, ...weighted, ...statements, ...workloads, ...learned, ...synths, ...together, q({ survey: true, except: ['media', 'born'] }, '0.6')],
  'delta.yaml': [...queries.map(({ question }) => q(question, '0.05')), ...weighted, ...statements.slice(0, 3), ...workloads, ...learned.slice(0, 5), ...synths, ...together, q({ survey: true }, '0.6')],
  'homes.yaml': [...some, ...weekly, q({ survey: true, columns: ['party', 'rich', 'sex'] }, '0.5'), q({ synth: { columns: ['party', 'rich', 'region'], rows: 20, households: { by: 'home', shared: ['region'], most: 4 } } }, '0.5'), ...workloads.slice(0, 1)],
  'named-homes.yaml': [...some, ...weekly],
  'used-homes.yaml': some,
  'alike.yaml': [...some, q({ kind: 'histogram', column: 'rich' })],
  'friends.yaml': [...some, q({ odds: { relation: 'friend', column: 'party', pairsEach: 2 } }, '0.5')],
  'edges.yaml': [
    q({ pattern: 'triangles' }, '0.3'),
    ...['ladder', 'smooth', 'residual-ladder', 'residual-smooth'].map((mechanism) => q({ pattern: 'triangles', mechanism, degree: 8 }, '0.3')),
    ...['cumulative', 'sequence', 'histogram'].map((form) => q({ pattern: 'degrees', form, degree: 8 }, '0.3')),
    q({ pattern: 'clustering coefficient', degree: 8 }, '0.4'),
    q({ pattern: '2-paths' }, '0.3'),
    q({ pattern: "2-paths from 'p3'" }, '0.3'),
    q({ pattern: 'q(x,y) :- friend(x,y), friend(y,x), x != y' }, '0.3'),
    q({ pattern: 'q(x) :- friend(x, y)', gamma: '1/4' }, '0.3'),
    sql('SELECT COUNT(*) FROM friend f JOIN friend g ON f.b = g.a WHERE f.a <> g.b', '0.3'),
  ],
  'edges-delta.yaml': [q({ pattern: 'triangles' }, '0.3'), q({ pattern: 'degrees', degree: 8 }, '0.3')],
  'person-edges.yaml': [q({ pattern: 'triangles', mechanism: 'truncation-ladder', degree: 4 }, '0.4'), q({ pattern: 'degrees', form: 'histogram', degree: 5 }, '0.3')],
  'persons.yaml': [
    q({ kind: 'count', by: ['region'] }),
    sql('SELECT region, AVG(cost), COUNT(DISTINCT person) FROM visits JOIN data USING (person) WHERE age > 30 GROUP BY region', '0.3'),
    sql('SELECT size, COUNT(*) FROM visits LEFT JOIN clinics USING (clinic) GROUP BY size', '0.3'),
    sql('WITH v AS (SELECT person, COUNT(*) AS visits, SUM(cost) AS spent, MODE(kind) AS usual FROM visits GROUP BY person) SELECT region, AVG(visits), AVG(spent) FROM v JOIN data USING (person) GROUP BY region', '0.3'),
    q({ kind: 'mean', column: 'spent', by: ['region'], from: { perPerson: { from: 'visits', features: { spent: { kind: 'sum', column: 'cost' } } }, as: 'v', join: [{ table: 'data', on: ['person'] }] } }, '0.3'),
    q({ keys: { column: 'clinic', table: 'visits', most: 5, longest: 3 } }, '0.4'),
  ],
  'many-rows.yaml': [...places, q({ transitions: { by: 'person', order: 'day', state: 'place' } }, '0.4')],
  'answers.yaml': [q({ kind: 'histogram', column: 'party' }), q({ survey: true }, '0.5')],
  'pairwise.yaml': [q({ kind: 'histogram', column: 'party' }), q({ survey: true }, '0.5')],
  'answers-alone.yaml': [q({ spread: { least: 20, confidence: 0.9 } }, '0.4'), q({ kind: 'crosstab', columns: ['party', 'rich'] }), q({ survey: true }, '0.5'), q({ network: true }, '0.4')],
  'steps.yaml': places,
  'per-step.yaml': places.slice(1),
  'window.yaml': places,
  'sequence-delta.yaml': places,
  'transitions.yaml': [q({ transitions: { by: 'person', order: 'day', state: 'place' } }, '0.4'), ...places],
  'weeks.yaml': [...weekly, q({ kind: 'count', by: ['week'] }, '0.2'), ...some.slice(0, 1)],
  'weeks-delta.yaml': [...weekly, q({ kind: 'mean', column: 'age' }, '0.2')],
  'weeks-homes.yaml': weekly,
  'pairs.yaml': [...some, q({ kmeans: { columns: ['age'], clusters: 2, variant: 'soft' } }, '0.3'), q({ kind: 'count', by: ['sex'] })],
  'pairs-dates.yaml': some.slice(0, 1),
  'pairs-delta.yaml': [...some, q({ kind: 'count', by: ['region'] })],
  'known.yaml': [q({ kind: 'count', by: ['region', 'party'] }), q({ kind: 'count', by: ['region', 'sex'] }), q({ kind: 'mean', column: 'age' })],
  'known-count.yaml': some.slice(0, 1),
  'beliefs.yaml': [...some, q({ survey: true, columns: ['party', 'rich'] }, '0.3')],
  'add-remove.yaml': [...some, q({ kind: 'quantile', column: 'age', at: [0.5] }), q({ survey: true, columns: ['party', 'rich'] }, '0.3')],
  'quotas.yaml': [...some, q({ kind: 'count', by: ['sex'] }, '0.1', {})],
  'amended.yaml': some,
  'entered.yaml': some,
  'entered-delta.yaml': some,
  'surveys.yaml': [q({ survey: true }, '0.7'), q({ kind: 'histogram', column: 'vote' }, '0.2')],
  'factors.yaml': some,
  'gaussian.yaml': [q({ kind: 'mean', column: 'age' }, '0.2'), q({ kind: 'histogram', column: 'age' }, '0.2')],
  'own/policy.yaml': [q({ kind: 'count', by: ['party'] })],
};

const people = { kind: 'count', by: ['party'] };
/** Streams stop before the last steps, so that there is something left to go on with. */
export const streams = {
  'weeks.yaml': [
    { order: 'week', query: people, epsilon: '0.1', through: 3 },
    { order: 'week', query: people, epsilon: '0.5', totals: true, horizon: 6, through: 3 },
    { order: 'week', every: 2, sql: 'SELECT rich, COUNT(*) FROM town GROUP BY rich', epsilon: '0.1', through: 4, tidy: true },
  ],
  'weeks-delta.yaml': [
    { order: 'week', query: { kind: 'count' }, epsilon: '0.1', through: 3 },
    { order: 'week', query: { kind: 'count' }, epsilon: '0.5', totals: true, through: 3 },
  ],
  'weeks-homes.yaml': [{ order: 'week', query: people, epsilon: '0.1', through: 3 }],
  'steps.yaml': [
    { query: { kind: 'histogram', column: 'place' }, epsilon: '0.2', through: 4 },
    { query: { kind: 'count', by: ['place'] }, epsilon: '0.5', totals: true, horizon: 8, through: 4 },
  ],
  'per-step.yaml': [{ query: { kind: 'histogram', column: 'place' }, epsilon: '0.2', through: 4 }],
  'sequence-delta.yaml': [{ query: { kind: 'histogram', column: 'place' }, epsilon: '0.2', through: 4 }],
  'many-rows.yaml': [
    { order: 'day', query: { kind: 'histogram', column: 'place' }, epsilon: '0.1', through: 4 },
    { order: 'day', query: { kind: 'count' }, epsilon: '0.3', totals: true, horizon: 8, through: 4 },
  ],
};
