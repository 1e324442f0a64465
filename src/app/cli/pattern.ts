import type { Command } from 'commander';
import type { AnalysedPattern } from '../api/pattern.js';
import { bold, dim, good, numberText, table, warn } from '../report/terminal-text.js';
import { patternCommandOptions } from './option-tables.js';
import { emit } from './output.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';

export function registerPatternCommand(program: Command): void {
  const command = program
    .command('pattern')
    .description('a join or graph pattern: is it stable, how far can one tuple move it, which noise is least (reads no data)')
    .argument(
      '<query>',
      "q(x,y,z) :- friend(x,y), friend(y,z), friend(z,x), all_distinct(x,y,z); or triangles, 3-stars, 4-cliques, 2-paths from 'v', …",
    );
  addOptions(command, patternCommandOptions).action(show);
}

async function show(query: string, words: OptionWords): Promise<void> {
  const { json, ...request } = await valuesOf(patternCommandOptions, words);
  const { analysePattern } = await import('../api/pattern.js');
  const found = await analysePattern(query, request);
  emit(
    json,
    found.length === 1 ? found[0] : { query, parts: found, note: '3 triangles / 2-paths; the two counts share epsilon' },
    () => found.map(humanForm).join('\n\n'),
  );
}

function humanForm(a: AnalysedPattern): string {
  const lines = [
    bold(a.query),
    `${a.stable ? good('stable') : warn('not stable')}${a.witness ? `: ${a.witness}` : ''}`,
    `${a.subgoals} goals, ${a.variables} variables; one tuple moves the answer (${a.unit}) by at most ${numberText(a.globalSensitivity)}; lambda ${numberText(a.lambda)}`,
    '',
    table(
      ['', 'mechanism', 'scale', 'expected error', 'guarantee', ''],
      a.candidates.map((c) => [
        c.mechanism === a.chosen ? '>' : '',
        c.mechanism,
        numberText(c.scale),
        numberText(c.expectedError),
        c.guarantee,
        c.note ?? '',
      ]),
    ),
    dim('Expected errors of mechanisms that follow the data are for the stated degree; the choice never looks at the data.'),
  ];
  return lines.join('\n');
}
