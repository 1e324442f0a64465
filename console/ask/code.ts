import type { QuestionRequest } from '../api/shapes.ts';

export interface Code {
  readonly name: string;
  readonly text: string;
}

const single = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;

const words = ['sql', 'pattern', 'survey', 'workload', 'synth', 'kmeans', 'classify', 'network', 'stream'] as const;
type Word = (typeof words)[number] | 'query';

/** Keyword of a request, the same in every language; without one, the request is a query. */
function wordOf(question: unknown): { readonly word: Word; readonly value: unknown } {
  if (typeof question === 'object' && question !== null)
    for (const word of words) if (word in question) return { word, value: (question as Record<string, unknown>)[word] };
  return { word: 'query', value: question };
}

/** The same request in every language that can send it. Numbers are strings, so that a fraction stays exact. */
export function codeFor(policy: string, { question, epsilon }: QuestionRequest, origin: string): readonly Code[] {
  const { word, value } = wordOf(question);
  const python = `${word === 'query' ? '' : `${word}=`}${pythonic(value)}, epsilon="${epsilon}"`;
  const r = `${word} = ${listOf(value)}, epsilon = "${epsilon}"`;
  const command = commandFor(`${policy}.yaml`, word, value, epsilon);
  const rows = !rowless.has(word);
  return [
    ...(command === undefined ? [] : [{ name: 'Command line', text: command }]),
    {
      name: 'curl',
      text: `curl -s ${origin}/v1/policies/${encodeURIComponent(policy)}/release \\\n  -H "authorization: Bearer $FUGU_TOKEN" \\\n  -H "content-type: application/json" \\\n  -d ${single(JSON.stringify({ question, epsilon }))}`,
    },
    {
      name: 'TypeScript',
      text: `import { FuguClient } from 'fugu/client';\n\nconst fugu = new FuguClient({ url: '${origin}', token: process.env.FUGU_TOKEN });\nconst asking = ${JSON.stringify({ question, epsilon }, null, 2)};\nconst plan = await fugu.plan('${policy}', asking);      // free\nconst answer = await fugu.release('${policy}', asking); // pays`,
    },
    {
      name: 'Python',
      text: `import os\nimport fugu\n\npolicy = fugu.connect("${origin}", os.environ["FUGU_TOKEN"]).policy("${policy}")\nprint(policy.plan(${python})["${rows ? 'errors' : 'epsilon'}"])   # free\nprint(policy.${rows ? 'release' : 'ask'}(${python}))          # pays`,
    },
    {
      name: 'R',
      text: `library(fugu)\n\npolicy <- fugu_connect("${origin}", Sys.getenv("FUGU_TOKEN"), "${policy}")\nfugu_plan(policy, ${r})      # free\n${rows ? 'fugu_release' : 'fugu_ask'}(policy, ${r})   # pays`,
    },
  ];
}

/** Kinds whose answers are no tables. */
const rowless: ReadonlySet<Word> = new Set(['synth', 'kmeans', 'classify', 'network', 'stream']);

/** Command line of a request; undefined for kinds without a command. */
function commandFor(file: string, word: Word, value: unknown, epsilon: string): string | undefined {
  if (word === 'network' || word === 'stream') return undefined;
  const part = `--epsilon ${epsilon}`;
  const written = (name: string) => `cat > ${name} <<'END'\n${JSON.stringify(value, undefined, 2)}\nEND`;
  // These are read from files; JSON is YAML.
  if (word === 'synth')
    return `${written('synth.yaml')}\nfugu synth ${file} --request synth.yaml ${part} --out rows.csv   # tells the cost, asks, then pays`;
  const option =
    word === 'workload'
      ? '--workload workload.yaml'
      : value === true
        ? `--${word}`
        : `--${word} ${single(typeof value === 'string' ? value : JSON.stringify(value))}`;
  const both = `fugu plan ${file} ${option} ${part}      # free\nfugu release ${file} ${option} ${part}   # pays`;
  return word === 'workload' ? `${written('workload.yaml')}\n${both}` : both;
}

/** A value as Python writes it. */
function pythonic(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonic).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([k, v]) => `${JSON.stringify(k)}: ${pythonic(v)}`)
      .join(', ')}}`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return value === null ? 'None' : JSON.stringify(value);
}

/** Value in R; a JSON list stays a list. */
function listOf(value: unknown): string {
  if (Array.isArray(value)) return `list(${value.map(listOf).join(', ')})`;
  if (typeof value === 'object' && value !== null)
    return `list(${Object.entries(value)
      .map(([k, v]) => `${k} = ${listOf(v)}`)
      .join(', ')})`;
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  return value === null ? 'NULL' : JSON.stringify(value);
}
