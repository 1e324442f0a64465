// src/app/client/client.ts, from the API document: written before every build and check of types, never committed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadSources } from './load.mjs';

const upper = (name) => name.charAt(0).toUpperCase() + name.slice(1);
const field = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : `'${name}'`);
const comment = (text) => (text ? `\n/** ${text} */\n` : '');

/** A type for the values that a JSON schema permits. */
function typeOf(schema) {
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', "'");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value).replaceAll('"', "'")).join(' | ');
  const any = schema.anyOf ?? schema.oneOf;
  if (any) return [...new Set(any.map(typeOf))].join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array': {
      const item = typeOf(schema.items ?? {});
      return `readonly ${/[|&{]|readonly/.test(item) ? `(${item})` : item}[]`;
    }
    case 'object':
      return objectOf(schema);
    default:
      return 'unknown';
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }) {
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}readonly ${field(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}${required.includes(name) ? '' : ' | undefined'};`,
  );
  const more = additionalProperties;
  if (more === false) return `{ ${fields.join(' ')} }`;
  if (fields.length === 0 && more && Object.keys(more).length > 0) return `Readonly<Record<string, ${typeOf(more)}>>`;
  return `{ ${fields.join(' ')} readonly [more: string]: unknown; }`;
}

const media = (content) => Object.entries(content ?? {})[0] ?? [undefined, {}];

/** The text of the client. */
export function clientOf(document) {
  const known = new Map();
  /** Identical forms share one name; a different form with that name gets another. */
  const types = {
    made: [],
    push(text) {
      const [, words, name, form] = /^(\/\*\*.*\*\/\n)?export type (\w+) = ([\s\S]*);$/.exec(text);
      const before = known.get(form);
      this.made.push(before ? `${words ?? ''}export type ${name} = ${before};` : text);
      if (!before) known.set(form, name);
    },
  };
  const methods = [];
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const { operationId: name, summary, parameters = [], requestBody, responses } = operation;
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2'));
      const [kind, { schema }] = media(success.content);
      const [bodyKind, body] = media(requestBody?.content);
      const isFile = bodyKind !== undefined && bodyKind !== 'application/json';
      const queries = parameters.filter((p) => p.in === 'query');
      const answer = kind === 'application/json' ? `${upper(name)}Answer` : kind === 'text/event-stream' ? 'Response' : 'string';
      if (kind === 'application/json') types.push(`/** Answer of \`${name}\`. */\nexport type ${answer} = ${typeOf(schema)};`);
      if (body?.schema && !isFile) types.push(`/** Body of \`${name}\`. */\nexport type ${upper(name)}Body = ${typeOf(body.schema)};`);
      if (queries.length > 0)
        types.push(
          `export type ${upper(name)}Query = { ${queries.map((q) => `readonly ${q.name}?: ${typeOf(q.schema)} | undefined;`).join(' ')} };`,
        );
      const named = parameters.filter((p) => p.in === 'path').map((p) => `${p.name}: string | number`);
      const taken = [
        ...named,
        ...(isFile ? ['fileName: string', 'file: Blob | Uint8Array | string'] : body?.schema ? [`body: ${upper(name)}Body`] : []),
        ...(queries.length > 0 ? [`query: ${upper(name)}Query = {}`] : []),
        ...(method === 'post' ? ['options: CallOptions = {}'] : []),
      ];
      const address = path.replaceAll(/\{(\w+)\}/g, (_, p) => `\${encodeURIComponent(${p})}`);
      const how = [
        `method: '${method.toUpperCase()}'`,
        `path: \`${address}\``,
        ...(isFile ? ['file', 'fileName'] : body?.schema ? ['body'] : []),
        ...(queries.length > 0 ? ['query'] : []),
        ...(method === 'post' ? ['...options'] : []),
        ...(kind === 'application/json' ? [] : [`as: '${kind === 'text/event-stream' ? 'stream' : 'text'}'`]),
      ];
      methods.push(
        `  /** ${summary} */\n  ${name}(${taken.join(', ')}): Promise<${answer}> {\n    return this.#call({ ${how.join(', ')} }) as Promise<${answer}>;\n  }`,
      );
    }
  return `// Made from the API document by scripts/client.mjs. Change the routes, not this.

${types.made.join('\n')}

/** Options of a request. */
export interface CallOptions {
  /** Key that makes a repeated request count as one. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ClientOptions {
  /** Address of the service: https://fugu.example.org */
  readonly url: string;
  /** Token as "fugu token make" printed it. */
  readonly token: string;
  /** Number of repeated attempts after a refusal (429, 503), each after the time in Retry-After; 3 when absent. */
  readonly retries?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** Refused request, with the problem that the service sent. */
export class FuguProblem extends Error {
  override readonly name = 'FuguProblem';
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  /** Identifier of the request in the audit log. */
  readonly request: string;
  /** Budget outcome. */
  readonly outcome: { readonly state: string; readonly entry?: number } | undefined;
  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(typeof problem.title === 'string' ? problem.title : \`The service answered \${status}.\`);
    this.status = status;
    this.code = String(problem.code ?? 'UNKNOWN');
    this.hint = String(problem.hint ?? '');
    this.request = String(problem.request ?? '');
    this.outcome = problem.outcome as FuguProblem['outcome'];
  }
}

interface Call extends CallOptions {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly file?: Blob | Uint8Array | string;
  readonly fileName?: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly as?: 'text' | 'stream';
}

/** Client of a service that \`fugu serve\` runs. Needs nothing but fetch. */
export class FuguClient {
  readonly #url: string;
  readonly #token: string;
  readonly #retries: number;
  readonly #fetch: typeof fetch;
  constructor({ url, token, retries = 3, fetch: own = fetch }: ClientOptions) {
    this.#url = url.replace(/\\/+$/, '');
    this.#token = token;
    this.#retries = retries;
    this.#fetch = own;
  }

${methods.join('\n\n')}

  async #call(call: Call, left = this.#retries): Promise<unknown> {
    const { method, path, body, file, fileName, query = {}, as, idempotencyKey, signal } = call;
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
    const answer = await this.#fetch(\`\${this.#url}\${path}\${search && \`?\${search}\`}\`, {
      method,
      headers: {
        authorization: \`Bearer \${this.#token}\`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(fileName !== undefined && { 'x-file-name': fileName, 'content-type': 'application/octet-stream' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // Every fetch accepts bytes, whatever its types call them.
      ...(file !== undefined && { body: file as Blob }),
      ...(signal && { signal }),
    });
    if (answer.ok) return as === 'stream' ? answer : as === 'text' ? answer.text() : answer.json();
    const wait = Number(answer.headers.get('retry-after'));
    const problem = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    if ((answer.status !== 429 && answer.status !== 503) || !(wait > 0) || left === 0) throw new FuguProblem(answer.status, problem);
    await new Promise((go) => setTimeout(go, 1000 * wait));
    return this.#call(call, left - 1);
  }
}
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [{ openapi }, { routes }] = await loadSources('app/service/openapi.ts', 'app/service/routes/routes.ts');
  const file = fileURLToPath(new URL('../src/app/client/client.ts', import.meta.url));
  const text = clientOf(openapi(routes));
  mkdirSync(dirname(file), { recursive: true });
  // An unchanged file keeps its time: ./fugu builds again where a source is newer than the build.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}
