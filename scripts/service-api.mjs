// docs/reference/service-api.md, from the API document: `node scripts/service-api.mjs` writes it, test/service/client.test.ts compares it.
import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadSources } from './load.mjs';

const plain = (text) => text.replaceAll('|', '\\|');
const shapeOf = (schema) => {
  const any = schema.anyOf ?? schema.oneOf;
  if (any) return any.map(shapeOf).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.type === 'array') return `list of ${shapeOf(schema.items ?? {})}`;
  return schema.type ?? 'anything';
};
const fieldsOf = (schema) =>
  (schema.anyOf ?? [schema]).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(
      ([name, field]) =>
        `  - \`${name}\`${required.includes(name) ? '' : '?'}: ${shapeOf(field)}${field.description ? `. ${plain(field.description)}` : ''}`,
    ),
  );
const json = (content) => content?.['application/json']?.schema;

/** The text of the page. */
export function pageOf(document) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const rows = operations.map(
    ({ path, method, operationId, summary, 'x-roles': roles }) =>
      `| [\`${method} ${path}\`](#${operationId.toLowerCase()}) | ${roles ? (roles.length === 3 ? 'all' : roles.join(', ')) : 'anybody'} | ${plain(summary)} |`,
  );
  const sections = operations.map(({ path, method, operationId, summary, parameters = [], requestBody, responses }) => {
    const query = parameters.filter((p) => p.in !== 'path');
    const body = json(requestBody?.content);
    const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2'));
    const answer = json(success.content);
    const [kind] = Object.keys(success.content);
    return [
      `## ${operationId}`,
      `\`${method} ${path}\`. ${summary}`,
      '',
      ...(query.length > 0
        ? [`- ${query[0].in === 'header' ? 'Header' : 'Query'}:`, ...query.map((p) => `  - \`${p.name}\`${p.required ? '' : '?'}: ${shapeOf(p.schema)}${p.schema.description ? `. ${plain(p.schema.description)}` : ''}`)]
        : []),
      ...(body ? ['- Takes:', ...fieldsOf(body)] : requestBody ? ['- Takes the bytes of a file.'] : []),
      ...(answer ? [`- Answers ${status}:`, ...fieldsOf(answer)] : [`- Answers ${status}, ${kind}.`]),
    ].join('\n');
  });
  return `# API of the service

Made from the API document that the service itself checks by (\`/openapi.json\`, OpenAPI 3.1). \`?\` marks fields that may be absent; answers may hold more than is listed: fields are only ever added. Numbers without a bound are \`"inf"\`. Faults are \`application/problem+json\`: \`type\`, \`title\`, \`status\`, \`code\`, \`hint\`, \`request\`, and \`outcome\` where something was to be paid for. A guide: [answer over HTTP](../how-to/service.md).

Beside these: \`GET /health/live\` and \`/health/ready\`, \`GET /openapi.json\`, and the console at \`/\`.

| path | who | what |
|---|---|---|
${rows.join('\n')}

${sections.join('\n\n')}
`;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [{ openapi }, { routes }] = await loadSources('app/service/openapi.ts', 'app/service/routes/routes.ts');
  writeFileSync(fileURLToPath(new URL('../docs/reference/service-api.md', import.meta.url)), pageOf(openapi(routes)));
}
