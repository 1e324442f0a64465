import { Fault } from '../../base/errors.js';
import { inputProblem, pathText } from '../../base/input/input-problem.js';
import { plainData } from './input.js';
import { type AnyKind, kinds, type Question } from './kinds.js';

const loaders = kinds as unknown as Readonly<Record<string, () => Promise<AnyKind>>>;
/** A question without any of these fields is a query, or several. */
const queries = 'queries';

/** Question as plain data, and its kind, which checks the fields. */
export async function parseQuestion(input: unknown): Promise<{ readonly kind: AnyKind; readonly request: Question }> {
  const question = plainData(input, 'The question');
  const named = Object.keys(loaders).filter((name) => name !== queries);
  const found = typeof question === 'object' && question !== null ? named.filter((name) => Object.hasOwn(question, name)) : [];
  if (found.length > 1)
    throw new Fault(
      'QUERY_INVALID',
      'Say what to ask in exactly one way.',
      `Use one of ${named.map((name) => `{ ${name}: ... }`).join(', ')}, or a query such as { kind: "count" }.`,
    );
  const [name = queries] = found;
  const kind = await loaders[name]!();
  if (name !== queries) checkFields(kind, question as object);
  return { kind, request: question as Question };
}

/** Checks the field and its companions; where the analysis has a parser of its own, that one checks the field's contents. */
function checkFields({ question: schema, name, hint }: AnyKind, question: object): void {
  const parsed = schema.safeParse(question);
  if (parsed.success) return;
  const { path, text } = inputProblem(parsed.error);
  const within = path[0] === name && path.length > 1 ? path.slice(1) : path;
  throw new Fault('QUERY_INVALID', `${pathText(within) || 'the request'}: ${text}`, hint);
}
