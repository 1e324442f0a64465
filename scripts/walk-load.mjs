/** Makes every function of a build say that it was entered (scripts/walk.mjs). */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import MagicString from 'magic-string';
import { parseAst } from 'rolldown/parseAst';

const start = `${pathToFileURL(process.env.WALK_DIST).href}/`;
const isFunction = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

const nameOf = (node, key) =>
  node.type === 'MethodDefinition' && key === 'value' ? node.key.name : node.type === 'VariableDeclarator' && key === 'init' ? node.id.name : undefined;

export async function load(url, context, next) {
  if (!url.startsWith(start)) return next(url, context);
  const file = url.slice(start.length);
  const code = readFileSync(fileURLToPath(url), 'utf8');
  const text = new MagicString(code);
  let functions = 0;
  const visit = (node, name) => {
    if (!node || typeof node !== 'object') return;
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
      return;
    }
    if (isFunction.test(node.type)) {
      const call = `globalThis.fuguWalk?.(${JSON.stringify(file)},${functions++},${JSON.stringify(name ?? node.id?.name ?? '')})`;
      if (node.body.type === 'BlockStatement') text.appendLeft(node.body.start + 1, `${call};`);
      else {
        text.appendLeft(node.body.start, `(${call},`);
        text.appendRight(node.body.end, ')');
      }
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'start' && key !== 'end') visit(value, nameOf(node, key));
  };
  visit(parseAst(code).body);
  return { format: 'module', source: text.toString(), shortCircuit: true };
}
