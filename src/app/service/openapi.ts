import * as z from 'zod';
import type { Route } from './route.js';

/** API document, generated from the routes. */
export function openapi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: operationOf(route) };
  return {
    openapi: '3.1.0',
    info: { title: 'Fugu', version: '1', description: 'Private statistics for data whose records know each other.' },
    security: [{ token: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'fugu',
          description: 'With x-fugu-csrf on every request but GET.',
        },
      },
      schemas: { Problem: jsonOf(problemForm, 'output') },
    },
  };
}

const problemForm = z.looseObject({
  type: z.string(),
  title: z.string().describe('The fault in one sentence.'),
  status: z.number().int(),
  code: z.string(),
  hint: z.string().describe('Hint on how to continue.'),
  request: z.string().describe('Identifier of the request in the audit log.'),
});

const jsonOf = (schema: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return json;
};
const named = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
const problemAnswer = {
  description: 'A fault',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
const refusals = ['400', '401', '403', '404', '409', '413', '422', '429', '500', '503', '504', '507'];

/** One event of an event stream. */
const event = {
  type: 'object',
  properties: { event: { type: 'string' }, data: { type: 'string' } },
  required: ['event', 'data'],
};
const raw = { schema: { type: 'string', format: 'binary' } };

function operationOf(route: Route): object {
  const { name, summary, path, body, query, answer, roles, status = 200, mediaType = 'application/json', takesFile } = route;
  const fields = query instanceof z.ZodObject ? Object.entries(query.shape as Record<string, z.ZodType>) : [];
  return {
    operationId: name,
    summary,
    ...(roles === 'nobody' ? { security: [] } : { 'x-roles': roles }),
    parameters: [
      ...named(path).map((parameter) => ({ name: parameter, in: 'path', required: true, schema: { type: 'string' } })),
      ...(takesFile
        ? [
            {
              name: 'x-file-name',
              in: 'header',
              required: true,
              schema: { type: 'string', pattern: '^[A-Za-z0-9][\\w.-]{0,99}$' },
            },
          ]
        : []),
      ...fields.map(([field, schema]) => ({ name: field, in: 'query', required: false, schema: jsonOf(schema, 'output') })),
    ],
    ...(takesFile && { requestBody: { required: true, content: { 'application/octet-stream': raw, 'text/csv': raw } } }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: jsonOf(body, 'input') } } } }),
    responses: {
      [status]: {
        description: 'The answer',
        content: { [mediaType]: { schema: mediaType === 'text/event-stream' ? event : jsonOf(answer, 'output') } },
      },
      ...Object.fromEntries(refusals.map((status) => [status, problemAnswer])),
    },
  };
}
