import { Fault } from '../../../base/errors.js';
import { within } from '../../../base/input/limits.js';
import type { TextPosition } from './written.js';

export interface PatternToken {
  readonly kind: 'name' | 'number' | 'text' | 'parameter' | 'mark' | 'pragma' | 'end';
  readonly text: string;
  readonly at: TextPosition;
}

export const syntaxFault = (what: string, hint: string, at: TextPosition): Fault =>
  new Fault('PATTERN_SYNTAX', `${what} (line ${at.line}, column ${at.column}).`, hint, {
    place: { file: 'pattern', line: at.line, column: at.column },
  });

const rules: readonly (readonly [PatternToken['kind'] | 'skip', RegExp])[] = [
  ['skip', /\s+/y],
  ['pragma', /%symmetric[^\n]*/y],
  ['skip', /(?:%|--)[^\n]*/y],
  ['number', /-?\d+(?:\.(?!\.)\d+)?/y],
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y],
  ['text', /'(?:[^']|'')*'/y],
  ['parameter', /\$[A-Za-z_][A-Za-z0-9_]*/y],
  ['mark', /:-|\.\.|!=|<>|≠|<=|>=|[(),.<>=;]/y],
];

export function tokens(source: string): readonly PatternToken[] {
  within('patternLength', source.length);
  const found: PatternToken[] = [];
  let offset = 0;
  let line = 1;
  let lineStart = 0;
  scan: while (offset < source.length) {
    const at = { line, column: offset - lineStart + 1 };
    for (const [kind, rule] of rules) {
      rule.lastIndex = offset;
      const text = rule.exec(source)?.[0];
      if (!text) continue;
      if (kind !== 'skip') found.push({ kind, text, at });
      for (let i = 0; i < text.length; i++)
        if (text[i] === '\n') {
          line++;
          lineStart = offset + i + 1;
        }
      offset += text.length;
      continue scan;
    }
    throw syntaxFault('There is a character no pattern contains', "Text constants are written 'like this'.", at);
  }
  found.push({ kind: 'end', text: '', at: { line, column: offset - lineStart + 1 } });
  return found;
}
