/** Makes every function of a build record its first call (scripts/walk.mjs). */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseAst } from 'rolldown/parseAst';

const start = `${pathToFileURL(process.env.WALK_DIST).href}/`;
const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

const nameOf = (node, key) =>
  node.type === 'MethodDefinition' && key === 'value' ? node.key.name : node.type === 'VariableDeclarator' && key === 'init' ? node.id.name : undefined;

export async function load(url, context, next) {
  if (!url.startsWith(start)) return next(url, context);
  const file = url.slice(start.length);
  const code = readFileSync(fileURLToPath(url), 'utf8');
  const inserted = [];
  let functions = 0;
  const visit = (node, name) => {
    if (!node || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
      return;
    }
    if (isFunction.test(node.type)) {
      const call = `globalThis.fuguWalk?.(${JSON.stringify(file)},${functions++},${JSON.stringify(name ?? node.id?.name ?? '')})`;
      if (node.body.type === 'BlockStatement') inserted.push([node.body.start + 1, `${call};`]);
      else inserted.push([node.body.start, `(${call},`], [node.body.end, ')']);
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'start' && key !== 'end') visit(value, nameOf(node, key));
  };
  visit(parseAst(code).body);
  // Outer functions come first, and sorting keeps that order where two begin at one place.
  const [source, rest] = inserted
    .sort(([a], [b]) => a - b)
    .reduce(([done, from], [at, words]) => [done + code.slice(from, at) + words, at], ['', 0]);
  return { format: 'module', source: source + code.slice(rest), shortCircuit: true };
}
