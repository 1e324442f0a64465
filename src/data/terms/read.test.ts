import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf as fault } from '../../../test/fault.js';
import { toNumber, toText } from '../../base/exact/rational.js';
import type { NumberColumn } from '../../policy/policy.js';
import { parsePolicy, readPolicy } from './read.js';

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'fugu-policy-')));
  writeFileSync(join(folder, 'survey.csv'), 'id,age,party\n1,30,dem\n');
  writeFileSync(join(folder, 'model.json'), '{}');
});
afterAll(() => rmSync(folder, { recursive: true }));

const rest = 'protect: {secret: row}\nbudget: {epsilon: 1}\ndependence: none\n';
const policy = (text: string, name = 'policy.yaml') => parsePolicy(text, join(folder, name));
const withRest = (text: string) => policy(`data: {source: survey.csv}\n${text}\n${rest}`);

const full = `
population: town-survey-2026
ledger: .fugu/ledger.db
data: {source: survey.csv}
protect: {secret: person, unit: respondent_id, maxRows: 5, adversary: uninformed}
budget: {epsilon: 0.1, delta: 1e-6}
columns:
  age: {type: integer, bounds: [17, 90], missing: [-1, 99], bins: [30, 65]}
  party: {type: category, values: [dem, rep, other], pool: 0.05}
  media: {type: multi, values: {tv: Television, web: Web}, separator: "|"}
  weight: {type: weight, bounds: [0.2, 5]}
relations:
  friend: {table: friends.csv, columns: [a, b], domain: 200000, symmetric: true}
dependence:
  - {kind: groups, by: household_id, column: party, oddsRatio: 9}
  - {kind: ties, relation: friend, column: party, oddsRatio: 3, reach: direct, maxTies: 50}
  - {kind: columns, network: model.json}
  - {kind: sequence, by: respondent_id, order: week, state: party, transition: model.json}
  - {kind: gaussian, precision: model.json}
  - {kind: factors, model: model.json}
`;

describe('a policy file', () => {
  it('the four lines of a survey policy are read', async () => {
    const p = await policy(`data: {source: survey.csv}\n${rest}`);
    expect(p.protect).toEqual({ secret: 'row', maxRows: 1, adversary: 'informed' });
    expect([toText(p.budget.epsilon), toText(p.budget.delta)]).toEqual(['1', '0']);
    expect(p.dependence).toEqual([]);
  });

  it('every section of a policy is read', async () => {
    const p = await policy(full);
    expect(p.population).toBe('town-survey-2026');
    expect(p.ledger).toBe(join(folder, '.fugu/ledger.db'));
    expect(toText(p.budget.epsilon)).toBe('1/10');
    expect(toText(p.budget.delta)).toBe('1/1000000');
    expect(p.columns.get('media')).toMatchObject({ values: ['tv', 'web'], separator: '|' });
    expect(p.columns.get('age')).toMatchObject({ missing: ['-1', '99'] });
    const weight = p.columns.get('weight') as NumberColumn;
    expect(weight.bounds.map(toNumber)).toEqual([0.2, 5]);
    expect(p.relations.get('friend')).toMatchObject({ symmetric: true, private: true, domain: 200000 });
    expect(p.dependence.map((d) => d.kind)).toEqual(['groups', 'ties', 'columns', 'sequence', 'gaussian', 'factors']);
    expect(p.dependence[0]).toEqual({ kind: 'groups', by: ['household_id'], column: 'party', oddsRatio: 9, hidden: false });
  });

  it('a tie without a strength counts as a copy', async () => {
    const p = await policy(
      'data: {source: survey.csv}\nprotect: {secret: row}\nbudget: {epsilon: 1}\ndependence: [{kind: groups, by: [a, b]}]',
    );
    expect(p.dependence[0]).toMatchObject({ by: ['a', 'b'], oddsRatio: Number.POSITIVE_INFINITY });
  });

  it('columns, labels and missing codes come from the codebook, and the policy takes precedence', async () => {
    writeFileSync(
      join(folder, 'book.csv'),
      'name,value,label,missing\nparty,1,"Dem, old",\nparty,2.0,Rep,\nparty,-9,Refused,yes\nage,,Age in years,\nage,-1,Inapplicable,x\n',
    );
    const p = await policy(
      `data: {source: survey.csv, codebook: book.csv}\ncolumns: {age: {type: integer, bounds: [0, 99]}}\n${rest}`,
    );
    expect(p.columns.get('party')).toMatchObject({ type: 'category', values: ['1', '2'], missing: ['-9'] });
    expect(p.columns.get('age')).toMatchObject({ label: 'Age in years', missing: ['-1'] });
    const party = p.columns.get('party');
    expect(party?.type === 'category' && party.labels.get('1')).toBe('Dem, old');
  });

  it('a belief budget sets epsilon, rounded down', async () => {
    const p = await policy(
      'data: {source: survey.csv}\nprotect: {secret: row}\nbudget: {belief: {prior: 0.1, posterior: 0.3}}\ndependence: none',
    );
    const truth = Math.log((0.3 * 0.9) / (0.1 * 0.7));
    expect(toNumber(p.budget.epsilon)).toBeLessThanOrEqual(truth);
    expect(toNumber(p.budget.epsilon)).toBeGreaterThan(truth - 1e-12);
    expect(p.budget.belief && toText(p.budget.belief.posterior)).toBe('3/10');
  });

  it('the tightest of several beliefs counts, downward ones too', async () => {
    const p = await policy(
      'data: {source: survey.csv}\nprotect: {secret: row}\nbudget: {belief: [{prior: 0.1, posterior: 0.3}, {prior: 0.5, floor: 0.4, about: a common answer}]}\ndependence: none',
    );
    expect(toNumber(p.budget.epsilon)).toBeCloseTo(Math.log(1.5), 12);
  });
});

describe('a faulty policy, which is refused with its place', () => {
  const head = 'data: {source: survey.csv}\n';
  const cases: [string, string, RegExp, number, RegExp?][] = [
    ['silence about dependence', `${head}protect: {secret: row}\nbudget: {epsilon: 1}`, /must be written/, 1, /dependence: none/],
    [
      'an empty list of dependences',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence: []`,
      /must be written|few/,
      4,
    ],
    ['a missing section', `${head}budget: {epsilon: 1}\ndependence: none`, /"protect" is missing/, 1],
    ['an unknown key', `data: {sorce: survey.csv}\n${rest}`, /Unknown key "sorce"/, 1, /"source"/],
    ['an unknown section', `${head}${rest}budgets: 1`, /Unknown key "budgets"/, 5, /"budget"/],
    [
      'an unknown key in a tie',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence:\n  - {kind: groups, by: h, odsRatio: 2}`,
      /odsRatio/,
      5,
      /oddsRatio/,
    ],
    ['epsilon zero', `${head}protect: {secret: row}\nbudget: {epsilon: 0}\ndependence: none`, /above 0/, 3],
    ['a negative epsilon', `${head}protect: {secret: row}\nbudget: {epsilon: -1}\ndependence: none`, /above 0/, 3],
    ['epsilon NaN', `${head}protect: {secret: row}\nbudget: {epsilon: NaN}\ndependence: none`, /not a usable number/, 3],
    ['epsilon inf', `${head}protect: {secret: row}\nbudget: {epsilon: .inf}\ndependence: none`, /not a usable number/, 3],
    ['no epsilon at all', `${head}protect: {secret: row}\nbudget: {delta: 1e-6}\ndependence: none`, /budget is empty/, 3],
    [
      'epsilon and belief',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1, belief: {prior: 0.1, posterior: 0.2}}\ndependence: none`,
      /both/,
      3,
    ],
    ['delta one', `${head}protect: {secret: row}\nbudget: {epsilon: 1, delta: 1}\ndependence: none`, /below 1/, 3],
    ['a negative delta', `${head}protect: {secret: row}\nbudget: {epsilon: 1, delta: -1e-9}\ndependence: none`, /at least 0/, 3],
    [
      'a posterior below the prior',
      `${head}protect: {secret: row}\nbudget: {belief: {prior: 0.3, posterior: 0.1}}\ndependence: none`,
      /not above the prior/,
      3,
    ],
    [
      'a prior of one',
      `${head}protect: {secret: row}\nbudget: {belief: {prior: 1, posterior: 0.1}}\ndependence: none`,
      /prior must be above 0 and below 1/,
      3,
    ],
    [
      'an odds ratio below one, and says which',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence:\n  - {kind: groups, by: h}\n  - {kind: groups, by: s, oddsRatio: 0.5}`,
      /odds ratio 0\.5 is below one/,
      6,
    ],
    [
      'an unknown kind of dependence',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence: [{kind: group}]`,
      /needs a kind/,
      4,
    ],
    [
      'an undeclared tied column',
      `${head}columns: {party: {type: category, values: [a]}}\nprotect: {secret: row}\nbudget: {epsilon: 1}\ndependence: [{kind: groups, by: h, column: prty}]`,
      /"prty" is not declared/,
      5,
      /"party"/,
    ],
    [
      'an undeclared relation',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence: [{kind: ties, relation: frend}]`,
      /"frend" is not declared/,
      4,
    ],
    [
      'a missing model file',
      `${head}protect: {secret: row}\nbudget: {epsilon: 1}\ndependence: [{kind: factors, model: nowhere.json}]`,
      /cannot be read/,
      4,
    ],
    ['reversed bounds', `${head}columns:\n  age: {type: integer, bounds: [90, 17]}\n${rest}`, /"age" are reversed/, 3],
    ['equal bounds', `${head}columns:\n  age: {type: integer, bounds: [5, 5]}\n${rest}`, /no room/, 3],
    [
      'bounds that are no numbers',
      `${head}columns:\n  age: {type: integer, bounds: [NaN, 1]}\n${rest}`,
      /lower bound is not a usable number/,
      3,
    ],
    ['one bound', `${head}columns:\n  age: {type: integer, bounds: [1]}\n${rest}`, /bounds/, 3],
    [
      'duplicate values',
      `${head}columns:\n  party:\n    type: category\n    values: [1, 2, 1.0]\n${rest}`,
      /"1" is listed twice/,
      5,
    ],
    [
      'a value that is also missing',
      `${head}columns:\n  party: {type: category, values: [1, 2], missing: [2]}\n${rest}`,
      /both a value and missing/,
      3,
    ],
    ['a column without a type', `${head}columns:\n  party: {values: [1, 2]}\n${rest}`, /needs a type/, 3],
    [
      'a misspelt column key',
      `${head}columns:\n  party: {type: category, value: [1]}\n${rest}`,
      /Unknown key "value"/,
      3,
      /"values"/,
    ],
    [
      'a bin outside the bounds',
      `${head}columns:\n  age: {type: integer, bounds: [0, 9], bins: [4, 20]}\n${rest}`,
      /outside its bounds/,
      3,
    ],
    [
      'a step that does not divide',
      `${head}columns:\n  x: {type: number, bounds: [0, 1], step: 0.3}\n${rest}`,
      /does not divide/,
      3,
    ],
    ['a person without a unit', `${head}protect: {secret: person}\nbudget: {epsilon: 1}\ndependence: none`, /no column says/, 2],
    [
      'a person without maxRows',
      `${head}protect: {secret: person, unit: id}\nbudget: {epsilon: 1}\ndependence: none`,
      /How many rows/,
      2,
    ],
    [
      'a table with a blank in its name',
      `${head}${rest}tables:\n  my visits:\n    source: v.csv\n    unit: id\n    maxRows: 2`,
      /"my visits" cannot be used/,
      6,
      /underscores/,
    ],
    ['an unconfirmed column nobody declared', `${head}unconfirmed: [a]\n${rest}`, /"a" is not declared/, 2],
    ['a database that is not supported', `data: {source: "mysql://host/db"}\n${rest}`, /mysql/, 1],
    ['a database without a table', `data: {source: "postgres://host/db"}\n${rest}`, /Which table/, 1],
    [
      'a database with a password',
      `data: {source: "postgres://a:b@host/db", table: t}\n${rest}`,
      /holds a password/,
      1,
      /PGPASSWORD/,
    ],
    ['a database and no ledger', `data: {source: "postgres://a@host/db", table: t}\n${rest}`, /where its budget is recorded/, 1],
  ];
  it.each(cases)('a faulty policy is refused: %s', async (_name, text, message, line, hint) => {
    const f = await fault(policy(text));
    expect(f.message).toMatch(message);
    expect(f.code).toBe('POLICY_INVALID');
    expect(f.exit).toBe(2);
    expect(f.place?.line).toBe(line);
    expect(f.place?.column).toBeGreaterThan(0);
    expect(f.hint.length).toBeGreaterThan(5);
    if (hint) expect(f.hint).toMatch(hint);
  });

  it.each([
    ['a bracket left open', 'data: {source: a.csv\nprotect: {secret: row}', 2],
    ['a tab', 'data:\n\tsource: a.csv', 2],
    ['a section twice', `${head}${rest}budget: {epsilon: 9}`, 5],
    ['nothing', '', 1],
    ['a bare word', 'hello', 1],
  ])('YAML with %s is refused', async (_name, text, line) => {
    const f = await fault(policy(text));
    expect(f.code).toBe('POLICY_SYNTAX');
    expect(f.place?.line).toBe(line);
  });

  it('a missing policy file is refused', async () => {
    expect((await fault(readPolicy(join(folder, 'nowhere.yaml')))).code).toBe('POLICY_SYNTAX');
  });

  it.each([
    ['no header', 'party,1,Dem\n', /no column "name"/],
    ['a code twice', 'name,value,label\nparty,1,a\nparty,1.0,b\n', /twice/],
    ['an open quote', 'name,value,label\nparty,1,"a\n', /never closed/],
    ['too many cells', 'name,value,label\nparty,1,a,b\n', /more cells/],
    ['nothing in it', '', /empty/],
  ])('a codebook with %s is refused', async (_name, text, message) => {
    writeFileSync(join(folder, 'bad-book.csv'), text);
    const f = await fault(policy(`data: {source: survey.csv, codebook: bad-book.csv}\n${rest}`));
    expect(f.code).toBe('DATA_MALFORMED');
    expect(f.message).toMatch(message);
  });
});

describe('a copied policy', () => {
  it('copies of a policy share one account, whatever their name, place and protection', async () => {
    const original = await policy(`data: {source: survey.csv}\n${rest}`);
    const copy = await parsePolicy(
      `data: {source: ${join(folder, 'survey.csv')}}\nprotect: {secret: person, unit: id, maxRows: 2}\nbudget: {epsilon: 1}\ndependence: none`,
      '/elsewhere/other.yaml',
    );
    expect([copy.population, copy.ledger]).toEqual([original.population, original.ledger]);
    expect(copy.digest).not.toBe(original.digest);
  });

  it('a policy that reaches the data through a link has the same account', async () => {
    symlinkSync(join(folder, 'survey.csv'), join(folder, 'link.csv'));
    const [a, b] = await Promise.all([
      policy(`data: {source: survey.csv}\n${rest}`),
      policy(`data: {source: link.csv}\n${rest}`),
    ]);
    expect(b.population).toBe(a.population);
  });

  it('a moved policy keeps its digest, and changed terms or models change it', async () => {
    const text = (epsilon: string) =>
      `data: {source: survey.csv}\nprotect: {secret: row}\nbudget: {epsilon: ${epsilon}}\ndependence: [{kind: factors, model: ${join(folder, 'model.json')}}]`;
    const a = await policy(text('1'));
    expect((await parsePolicy(text('1.0'), '/elsewhere/p.yaml')).digest).toBe(a.digest);
    expect((await policy(text('2'))).digest).not.toBe(a.digest);
    writeFileSync(join(folder, 'model.json'), '{"changed": true}');
    expect((await policy(text('1'))).digest).not.toBe(a.digest);
  });

  it('a policy keeps the positions of its entries', async () => {
    const p = await withRest('columns:\n  age: {type: integer, bounds: [0, 9]}');
    expect(p.places?.get('columns.age')).toMatchObject({ line: 3, column: 3 });
  });
});
