import { expect, it } from 'vitest';
import { codeFor } from './code.ts';

const of = (question: object, name: string): string =>
  codeFor('town', { question, epsilon: '0.2' }, 'http://127.0.0.1:7411').find((c) => c.name === name)!.text;

it('code for a request is written in five languages', () => {
  const question = { kind: 'histogram', column: 'vote', where: [{ column: 'age', op: '>=', value: 30 }] };
  expect(of(question, 'Command line')).toContain(`fugu plan town.yaml --query '${JSON.stringify(question)}' --epsilon 0.2`);
  expect(of(question, 'curl')).toContain(`-d '${JSON.stringify({ question, epsilon: '0.2' })}'`);
  expect(of(question, 'TypeScript')).toContain(JSON.stringify({ question, epsilon: '0.2' }, null, 2));
  expect(of(question, 'TypeScript')).toContain("fugu.release('town', asking)");
  expect(of(question, 'Python')).toContain(
    'policy.release({"kind": "histogram", "column": "vote", "where": [{"column": "age", "op": ">=", "value": 30}]}, epsilon="0.2")',
  );
  expect(of(question, 'R')).toContain('where = list(list(column = "age", op = ">=", value = 30))), epsilon = "0.2")');
});

it('code for a survey, a pattern and SQL uses their own keywords', () => {
  expect(of({ survey: true }, 'Command line')).toContain('town.yaml --survey --epsilon');
  expect(of({ survey: true }, 'Python')).toContain('survey=True');
  expect(of({ survey: true }, 'R')).toContain('survey = TRUE');
  expect(of({ pattern: 'triangles of friend' }, 'Command line')).toContain("--pattern 'triangles of friend'");
  expect(of({ sql: 'SELECT COUNT(*) FROM data' }, 'R')).toContain('sql = "SELECT COUNT(*) FROM data"');
});

it('code for rows, centres and weights uses their own keywords, and files where the command line reads files', () => {
  const kmeans = { kmeans: { columns: ['age'], clusters: 3 } };
  expect(of(kmeans, 'Command line')).toContain(`--kmeans '${JSON.stringify(kmeans.kmeans)}'`);
  expect(of(kmeans, 'Python')).toContain('policy.ask(kmeans={"columns": ["age"], "clusters": 3}, epsilon="0.2")');
  expect(of(kmeans, 'R')).toContain('fugu_ask(policy, kmeans = list(columns = list("age"), clusters = 3)');
  expect(of({ workload: { tables: [{ all: 2 }] } }, 'Command line')).toMatch(
    /^cat > workload.yaml [\s\S]*--workload workload.yaml/,
  );
  expect(of({ synth: { rows: 10 } }, 'Command line')).toContain('fugu synth town.yaml --request synth.yaml --epsilon 0.2');
  expect(codeFor('town', { question: { network: true }, epsilon: '1' }, 'http://x').map((c) => c.name)).not.toContain(
    'Command line',
  );
});

it('quotes of a query stay inside the quotes of the shell', () => {
  const sql = "SELECT COUNT(*) FROM data WHERE vote = 'left'";
  expect(of({ sql }, 'Command line')).toContain(`'SELECT COUNT(*) FROM data WHERE vote = '"'"'left'"'"''`);
});
