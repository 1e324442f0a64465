import { parse, type Statement } from 'pgsql-ast-parser';
import { Fault } from '../../base/errors.js';
import { limits, within } from '../../base/input/limits.js';

/**
 * Statements of an SQL text, with their positions. Time and memory of the parser grow faster than the text,
 * so the text is measured character by character first. Syntax errors come from the parser; the caller reports them.
 */
export function sqlStatements(text: string): Statement[] {
  within('sqlBytes', Buffer.byteLength(text));
  const { tokens, depth, signs, parts, cases, dollars } = textSize(text);
  within('sqlTokens', tokens);
  within('sqlDepth', depth);
  within('sqlSigns', signs);
  within('sqlParts', parts);
  within('sqlCases', cases);
  if (dollars)
    throw new Fault('QUERY_UNSUPPORTED', 'SQL: $ is not supported.', "Texts are written 'like this', values are written out.");
  return parse(text, { locationTracking: true });
}

const isWord = (c: number): boolean =>
  (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x5f || c > 0x7f;

interface TextSize {
  readonly tokens: number;
  readonly depth: number;
  /** Longest run of operators. */
  readonly signs: number;
  /** Number of keywords that each cost the parser another pass. */
  readonly parts: number;
  /** CASE expressions open at once: each adds alternatives that the parser tries at a syntax error. */
  readonly cases: number;
  /** A text between two $$ that is never closed is searched without end. */
  readonly dollars: boolean;
}
const repeated = new Set(['select', 'case', 'union']);
const operators = new Set('+-*/<>=~!@#%^&|?:');

/** Words, numbers, quoted texts and marks are one token each; blanks and comments none. Every character is looked at once. */
function textSize(text: string): TextSize {
  let tokens = 0;
  let open = 0;
  let depth = 0;
  let run = 0;
  let signs = 0;
  let parts = 0;
  let started = 0;
  let cases = 0;
  let dollars = false;
  const after = (end: string, from: number): number => {
    const at = text.indexOf(end, from);
    return at < 0 ? text.length : at + end.length;
  };
  for (let i = 0; i < text.length && tokens <= limits.sqlTokens.most; ) {
    const c = text.charCodeAt(i);
    if (c <= 0x20) i++;
    else if (text.startsWith('--', i)) i = after('\n', i);
    else if (text.startsWith('/*', i)) i = after('*/', i);
    else {
      tokens++;
      run = operators.has(text[i]!) ? run + 1 : 0;
      signs = Math.max(signs, run);
      if (c === 0x27 || c === 0x22) i = after(text[i]!, i + 1);
      else if (isWord(c)) {
        const start = i;
        while (i < text.length && isWord(text.charCodeAt(i))) i++;
        const word = i - start <= 6 ? text.slice(start, i).toLowerCase() : '';
        if (repeated.has(word)) parts++;
        if (word === 'case') cases = Math.max(cases, ++started);
        if (word === 'end' && started > 0) started--;
      } else {
        if (c === 0x28 || c === 0x5b) depth = Math.max(depth, ++open);
        if (c === 0x29 || c === 0x5d) open--;
        dollars ||= c === 0x24;
        i++;
      }
    }
  }
  return { tokens, depth, signs, parts, cases, dollars };
}
