/** Policies, data and models of the folder that version 0.2 worked in. */
const people = 120;
const pick = (list, k) => list[k % list.length];
const pad = (n) => String(n).padStart(2, '0');
const csv = (header, lines) => `${[header, ...lines].join('\n')}\n`;
const each = (n, line) => Array.from({ length: n }, (_, k) => line(k));

const person = (k) => {
  const home = `h${Math.floor(k / 3)}`;
  const party = pick(['left', 'right', 'other', 'left', 'right'], k * 7 + Math.floor(k / 5));
  const region = pick(['north', 'south', 'west'], Math.floor(k / 2));
  const answers = [party, pick(['tv', 'tv;web', '', 'paper;web'], k), 18 + ((k * 13) % 70), ((k * 137) % 2000) / 2, k % 2 ? 'yes' : 'no'];
  const more = [1 + (k % 6), region, k % 3 ? 'f' : 'm', `19${pad(40 + (k % 60))}-${pad(1 + (k % 12))}-${pad(1 + (k % 28))}`, 0.5 + (k % 4) / 2];
  return ['p' + k, home, ...answers, ...more, pick(['ulm', 'bonn', 'ulm', 'trier'], k), 50 + (k % 20) / 100, 10 + (k % 30) / 100].join(',');
};
const header = 'id,home,party,media,age,income,rich,week,region,sex,born,w,city,lat,lon';

const columns = `columns:
  party: { type: category, values: [left, right, other], label: Party }
  media: { type: multi, values: [tv, web, paper], separator: ";" }
  age: { type: integer, bounds: [18, 90], bins: [30, 45, 65] }
  income: { type: number, bounds: [0, 1000], step: 0.5, bins: 4 }
  rich: { type: category, values: { "no": Poor, "yes": Rich } }
  region: { type: category, values: [north, south, west] }
  sex: { type: category, values: [f, m] }
  born: { type: date, bounds: [1940-01-01, 1999-12-31] }
`;
const weight = '  w: { type: weight, bounds: [0, 3], step: 0.5 }\n';
const week = '  week: { type: integer, bounds: [1, 6], public: true }\n';
/** A ledger for each, so that one that cannot be read says which. */
const policy = (name, lines) => `${[...lines, `ledger: budgets/${name}.db`].join('\n')}\n`;
const rows = (name, { budget, dependence = 'none', protect = '{ secret: row }', extra = '', of = columns, population }) =>
  policy(name, [
    'data: { source: town.csv }',
    `protect: ${protect}`,
    `budget: ${budget}`,
    ...(population === undefined ? [] : [`population: ${population}`]),
    `dependence: ${dependence}`,
    `${of}${extra}`.trimEnd(),
  ]);
const walks = (name, protect, budget, dependence = '[{ kind: sequence, by: person, order: day, state: place, transition: daily.json }]') =>
  policy(name, [
    'data: { source: walks.csv }',
    `protect: ${protect}`,
    `budget: ${budget}`,
    `dependence: ${dependence}`,
    'columns:\n  day: { type: integer, bounds: [1, 14], public: true }\n  place: { type: category, values: [home, work, shop] }',
  ]);
const few = `columns:
  party: { type: category, values: [left, right, other] }
  rich: { type: category, values: ["no", "yes"] }
  sex: { type: category, values: [f, m] }
`;
const friend = (more = '') => `relations:\n  friend: { table: friends.csv, columns: [a, b], domain: 200, symmetric: true${more} }\n`;

export const files = {
  'town.csv': csv(header, each(people, person)),
  'codes.csv': csv('name,value,label,missing,share', [
    'vote,1,Left,,0.4', 'vote,2,Right,,0.4', 'vote,3,Green,,0.04', 'vote,4,None,,0.16', 'vote,9,No answer,yes,', 'trust,1,Low,,', 'trust,2,High,,', 'trust,,Trust in others,,',
  ]),
  'survey.csv': csv('vote,trust,served,branch', each(80, (k) => `${pick([1, 2, 4, 9, 3], k)},${1 + (k % 2)},${1 + (k % 3 === 0)},${k % 3 === 0 ? '' : pick(['a', 'b'], k)}`)),
  'friends.csv': csv('a,b', each(150, (k) => `p${k % people},p${(k * 7 + 3) % people}`)),
  'walks.csv': csv('person,day,place', each(20, (k) => each(8, (d) => `q${k},${1 + d},${pick(['home', 'work', 'home', 'shop'], k + Math.floor(d / 2))}`)).flat()),
  'patients.csv': csv('person,household,region,age', each(60, (k) => `${k},g${Math.floor(k / 2)},${pick(['north', 'south', 'west'], k)},${20 + (k % 60)}`)),
  'visits.csv': csv('person,clinic,kind,cost,paid,town', each(150, (k) => `${(k * 11) % 60},${pick(['x', 'y', 'q'], k)},${pick(['emergency', 'checkup', 'surgery'], k)},${(k * 37) % 1000},${((k * 53) % 4000) / 10},${pick(['ulm', 'bonn', 'ulm'], k)}`)),
  'clinics.csv': 'clinic,size\nx,large\ny,small\n',
  'census.csv': 'region,sex,people\nnorth,f,27\nnorth,m,13\nsouth,f,27\nsouth,m,13\nwest,f,26\nwest,m,14\n',
  'wards.csv': 'north,south\nsouth,west\n',
  'daily.json': '{ "states": ["home", "work", "shop"], "transition": [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.3, 0.2, 0.5]] }\n',
  'factors.json': JSON.stringify({ records: [{ id: 'p0', values: [18, 90] }, { id: 'p1', values: [18, 90] }], factors: [{ records: ['p0', 'p1'], oddsRatio: 4 }] }),
  'precision.json': JSON.stringify({ records: ['p0', 'p1'], precision: [[2, -1], [-1, 2]], bounds: [18, 90], column: 'age' }),
  'request.yaml': 'mode: mst\ncolumns: [party, rich, sex]\nrows: 15\n',
  'tables.yaml': 'tables:\n  - { all: 2, of: [party, rich, sex] }\n  - { by: [party, rich, sex], weight: 2 }\n',
  'place.json': '{ "cells": [[0, 0], [1, 0], [0, 1], [2, 2]], "belief": [0.5, 0.3, 0.15, 0.05] }\n',
  'chain.json': '{ "chain": { "length": 20, "transition": [[0.8, 0.2], [0.2, 0.8]], "initial": "stationary" } }\n',
  'forward.json': '[[0.9, 0.1], [0.2, 0.8]]\n',

  'rows.yaml': rows('rows', { budget: '{ epsilon: 16 }', extra: `${weight}${week}design: { effect: 1.4, population: 250000, weights: { column: w, mean: 1.25, effect: 1.3 }, strata: { column: region, sizes: { north: 120000, south: 80000, west: 50000 } } }` }),
  'delta.yaml': rows('delta', { budget: '{ epsilon: 8, delta: 1e-6 }', extra: `${weight}${week}` }),
  'homes.yaml': rows('homes', { budget: '{ epsilon: 6, delta: 1e-6 }', dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]', extra: week }),
  'named-homes.yaml': rows('named-homes', { budget: '{ epsilon: 4 }', population: 'homes of the town', dependence: '[{ kind: groups, by: [home, city], oddsRatio: 2 }, { kind: groups, by: { all: [home, week] }, oddsRatio: 3 }]', extra: week }),
  'used-homes.yaml': rows('used-homes', { budget: '{ epsilon: 4 }', protect: '{ secret: row, unit: id }', dependence: '[{ kind: groups, by: home, oddsRatio: 3, maxUsed: 2 }]' }),
  'alike.yaml': rows('alike', { budget: '{ epsilon: 4 }', dependence: '[{ kind: groups, by: home, column: rich, oddsRatio: 3, pull: alike }]' }),
  'friends.yaml': rows('friends', { budget: '{ epsilon: 6 }', protect: '{ secret: row, unit: id }', dependence: '[{ kind: ties, relation: friend, oddsRatio: 1.5, maxTies: 6 }]', extra: friend() }),
  'edges.yaml': policy('edges', ['data: { source: town.csv }', 'protect: { secret: edge }', 'budget: { epsilon: 12 }', 'dependence: none', friend(', private: true').trimEnd()]),
  'edges-delta.yaml': policy('edges-delta', ['data: { source: town.csv }', 'protect: { secret: edge }', 'budget: { epsilon: 4, delta: 1e-6 }', 'dependence: none', friend(', private: true').trimEnd()]),
  'person-edges.yaml': policy('person-edges', ['data: { source: town.csv }', 'protect: { secret: person, unit: id, maxRows: 1 }', 'budget: { epsilon: 4 }', 'dependence: none', friend(', private: true').trimEnd()]),
  'persons.yaml': policy('persons', [
    'data: { source: patients.csv }',
    'protect: { secret: person, unit: person, maxRows: 1 }',
    'budget: { epsilon: 8, analysts: { each: 6, ben: 0.5 } }',
    'columns:\n  region: { type: category, values: [north, south, west] }\n  age: { type: integer, bounds: [18, 90], bins: [30, 45, 65] }',
    'tables:',
    '  visits: { source: visits.csv, unit: person, maxRows: 5, links: [clinic], columns: { kind: { type: category, values: [emergency, checkup, surgery] }, cost: { type: integer, bounds: [0, 1000] } } }',
    '  clinics: { source: clinics.csv, key: clinic, public: true, columns: { size: { type: category, values: [small, large] } } }',
    'dependence: [{ kind: groups, by: household, oddsRatio: 4 }]',
  ]),
  'many-rows.yaml': walks('many-rows', '{ secret: person, unit: person, maxRows: 8 }', '{ epsilon: 4 }', 'none'),
  'answers.yaml': rows('answers', { budget: '{ epsilon: 6 }', protect: '{ secret: answer, adversary: uninformed }', dependence: '[{ kind: columns, network: network.json }]', of: few }),
  'pairwise.yaml': rows('pairwise', { budget: '{ epsilon: 6 }', protect: '{ secret: answer, adversary: uninformed }', dependence: '[{ kind: columns, network: pairwise.json }]', of: few }),
  'answers-alone.yaml': rows('answers-alone', { budget: '{ epsilon: 6 }', protect: '{ secret: answer }', of: few }),
  'steps.yaml': walks('steps', '{ secret: step }', '{ epsilon: 4 }'),
  'per-step.yaml': walks('per-step', '{ secret: step }', '{ epsilon: 1, per: step }'),
  'window.yaml': walks('window', '{ secret: step, window: 3 }', '{ epsilon: 4 }'),
  'sequence-delta.yaml': walks('sequence-delta', '{ secret: row }', '{ epsilon: 4, delta: 1e-6 }'),
  'transitions.yaml': walks('transitions', '{ secret: row, unit: person }', '{ epsilon: 4 }', 'none'),
  'weeks.yaml': rows('weeks', { budget: '{ epsilon: 4 }', extra: week }),
  'weeks-delta.yaml': rows('weeks-delta', { budget: '{ epsilon: 4, delta: 1e-6 }', extra: week }),
  'weeks-homes.yaml': rows('weeks-homes', { budget: '{ epsilon: 4 }', dependence: '[{ kind: groups, by: home, oddsRatio: 2 }]', extra: week }),
  'pairs.yaml': rows('pairs', {
    budget: '{ epsilon: 4 }',
    protect: `
  secret: row
  pairs:
    age: { within: 5, missing: apart }
    region: { graph: wards.csv }
    party: { partition: { blocks: [[left, right], [other]] } }
    same: [sex]`,
  }),
  'pairs-dates.yaml': rows('pairs-dates', { budget: '{ epsilon: 4 }', protect: '{ secret: row, pairs: { born: { within: 365 } } }' }),
  'pairs-delta.yaml': rows('pairs-delta', {
    budget: '{ epsilon: 4, delta: 1e-6 }',
    protect: `
  secret: row
  pairs:
    income: { partition: { edges: [250, 500] } }
    place: { columns: [lat, lon], within: 5 km }
    region: { partition: by rich }
    party: { secrets: { l: [left], r: [right, other] }, between: [[l, r]] }`,
    extra: '  lat: { type: number, bounds: [50, 51], step: 0.01 }\n  lon: { type: number, bounds: [10, 11], step: 0.01 }\n',
  }),
  'known.yaml': rows('known', { budget: '{ epsilon: 4 }', extra: 'known:\n  - { margin: [region, sex], values: census.csv }' }),
  'known-count.yaml': rows('known-count', { budget: '{ epsilon: 4, delta: 1e-6 }', extra: 'known:\n  - { count: { where: { rich: "yes", age: [18, 64] } }, value: 40 }' }),
  'beliefs.yaml': rows('beliefs', { budget: '{ belief: [{ prior: 0.1, posterior: 0.5, about: being rich }, { prior: 0.5, posterior: 0.9, floor: 0.05 }], others: { epsilon: 0.1 } }', dependence: '[{ kind: groups, by: home, oddsRatio: 4 }]' }),
  'add-remove.yaml': rows('add-remove', { budget: '{ epsilon: 4 }', protect: '{ secret: row, neighbours: add-remove }' }),
  'quotas.yaml': rows('quotas', { budget: '{ epsilon: 4, delta: 1e-6, analysts: { each: 1, ann: 3, ben: 0.5 } }' }),
  'amended.yaml': rows('amended', { budget: '{ epsilon: 2 }', population: 'amended town' }),
  'entered.yaml': rows('entered', { budget: '{ epsilon: 4 }', population: 'entered town' }),
  'entered-delta.yaml': rows('entered-delta', { budget: '{ epsilon: 4, delta: 1e-6 }', population: 'entered delta town' }),
  'cut-off.yaml': rows('cut-off', { budget: '{ epsilon: 4 }' }),
  'surveys.yaml': policy('surveys', [
    'title: A survey', 'data: { source: survey.csv, codebook: codes.csv, encoding: windows-1252 }', 'protect: { secret: row }', 'budget: { epsilon: 2, delta: 1e-6 }', 'dependence: none',
    'columns:\n  vote: { type: category, values: { 1: Left, 2: Right, 3: Green, 4: None }, missing: [9], pools: [[3, 4]] }\n  served: { type: category, values: [1, 2] }\n  branch: { type: category, values: [a, b] }',
    'merge:\n  - { columns: [served, branch], support: [[2, ""], [1, "*"]] }',
  ]),
  'factors.yaml': rows('factors', { budget: '{ epsilon: 4 }', protect: '{ secret: row, unit: id }', dependence: '[{ kind: factors, model: factors.json }]' }),
  'gaussian.yaml': rows('gaussian', { budget: '{ epsilon: 4, delta: 1e-6 }', protect: '{ secret: row, unit: id }', dependence: '[{ kind: gaussian, precision: precision.json }]', of: 'columns:\n  age: { type: integer, bounds: [18, 90], bins: [30, 45, 65] }\n' }),
  'learn.yaml': policy('learn', [
    'data: { source: patients.csv }', 'protect: { secret: person, unit: person, maxRows: 1 }', 'budget: { epsilon: 8, delta: 1e-6 }',
    'columns:\n  region: { type: category, values: [north, south, west] }',
    'tables:\n  visits:\n    source: visits.csv\n    unit: person\n    maxRows: 4\n    columns:\n      kind: { type: category, values: [emergency, checkup, surgery] }', 'dependence: none',
  ]),
  // Its ledger lies where version 0.2 put one that nobody placed.
  'own/policy.yaml': 'data: { source: ../town.csv }\nprotect: { secret: row }\nbudget: { epsilon: 2 }\ndependence: none\ncolumns: { party: { type: category, values: [left, right, other] } }\n',
  'service/town.yaml': 'data: { source: ../town.csv }\nprotect: { secret: row, unit: id }\nbudget: { epsilon: 4 }\npopulation: the town served\nledger: town.db\ndependence: none\ncolumns:\n  party: { type: category, values: [left, right, other] }\n  age: { type: integer, bounds: [18, 90] }\n  rich: { type: category, values: ["no", "yes"] }\n',
};
