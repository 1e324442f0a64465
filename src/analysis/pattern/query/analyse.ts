import { Fault } from '../../../base/errors.js';
import type { Relation } from '../../../policy/policy.js';
import { type Automorphisms, automorphisms } from './automorphism.js';
import { type BoundPattern, bindPattern, canonicalText, type PatternSchema } from './bind.js';
import { type Lambda, type LogReading, lambda } from './lambda.js';
import { type Parameters, parsePattern } from './parse.js';
import { type AnswerBounds, answerBounds, privateRelations } from './sensitivity.js';
import { shortcut } from './shortcut.js';
import { patternFromSql } from './sql.js';
import { type Stability, stability } from './stability.js';
import type { Pattern } from './written.js';

/** Analysis of a pattern from its text and the public declarations; no data was read. */
export interface PatternAnalysis {
  readonly pattern: BoundPattern;
  readonly text: string;
  readonly title: string;
  readonly stability: Stability;
  readonly lambda: Lambda;
  /** In the unit counted. */
  readonly bounds: AnswerBounds;
  readonly automorphisms: Automorphisms;
  /** An occurrence is counted once; an assignment once per symmetry of the pattern. */
  readonly unit: 'assignments' | 'occurrences';
  /** Divisor of an exact number of assignments: 1, or the number of automorphisms. */
  readonly divisor: bigint;
}

export interface AnalysisOptions {
  readonly log?: LogReading;
  readonly parameters?: Parameters;
  /** Counts occurrences; shortcuts always do. */
  readonly occurrences?: boolean;
  /** Adversarial privacy for absent tuples, too: lambda has the power g of section 4.3, not g - 1. */
  readonly absence?: boolean;
}

/** The text is a shortcut, a written pattern, or SQL over the declared relations. */
export function analysePatternText(text: string, schema: PatternSchema, options: AnalysisOptions = {}): PatternAnalysis {
  if (/^\s*select\b/i.test(text)) {
    const written = patternFromSql(text, schema.relations);
    return analyseBoundPattern(bindPattern(written, schema), options, text.replace(/\s+/g, ' ').trim());
  }
  const named = shortcut(text, onlyRelation(schema));
  const pattern = bindPattern(parsePattern(named?.text ?? text, options.parameters), schema);
  return analyseBoundPattern(pattern, { ...options, occurrences: options.occurrences ?? named !== undefined }, named?.title);
}

function analyseBoundPattern(pattern: BoundPattern, options: AnalysisOptions = {}, title?: string): PatternAnalysis {
  if (privateRelations(pattern).length === 0)
    throw new Fault('NOT_PRIVATE', 'Every relation of the pattern is public.', 'Count it directly; there is nothing to protect.');
  const symmetries = automorphisms(pattern);
  const occurrences = options.occurrences === true && symmetries.free;
  const divisor = occurrences ? BigInt(symmetries.count) : 1n;
  const whole = answerBounds(pattern);
  const canonical = canonicalText(pattern);
  return {
    pattern,
    text: canonical,
    title: title ?? canonical,
    stability: stability(pattern),
    lambda: lambda(pattern, options.log ?? 'safe', options.absence ? { exponent: pattern.goals.length } : {}),
    bounds: {
      most: whole.most / divisor,
      least: whole.least,
      // A change of a whole number of occurrences is at most the floor.
      globalSensitivity: whole.globalSensitivity / divisor,
    },
    automorphisms: symmetries,
    unit: occurrences ? 'occurrences' : 'assignments',
    divisor,
  };
}

/** Schema without a policy: every relation named is private, directed by default, and as wide as its first use. */
export function schemaFromText(
  text: string,
  domain: number,
  more: { symmetric?: boolean; parameters?: Parameters } = {},
): PatternSchema {
  const pattern: Pattern = parsePattern(shortcut(text, 'R')?.text ?? text, more.parameters);
  const relations = new Map<string, Relation>();
  for (const atom of pattern.atoms)
    if (!relations.has(atom.relation))
      relations.set(atom.relation, {
        name: atom.relation,
        table: atom.relation,
        columns: atom.terms.map((_, i) => `c${i}`),
        domain,
        symmetric: more.symmetric === true && atom.terms.length === 2,
        private: true,
      });
  return { relations };
}

const onlyRelation = (schema: PatternSchema): string => {
  const pairs = [...schema.relations.values()].filter((r) => r.columns.length === 2);
  return (pairs.length === 1 ? pairs[0] : pairs.find((r) => r.private))?.name ?? 'R';
};
