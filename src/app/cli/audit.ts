import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Audit } from '../../evaluate/audit/audit.js';
import { bold, dim, numberText } from '../report/terminal-text.js';
import { modelArgument } from './model-argument.js';
import { emit } from './output.js';

interface Words {
  readonly query: string;
  readonly scale?: string;
  readonly calibrate?: string;
  readonly adversary: string;
  readonly json?: boolean;
}

export function registerAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('the exact loss of a Laplace release on a small model, by enumeration')
    .argument('<model>', modelArgument)
    .requiredOption('--query <query>', 'sum | sum:W1,W2,… | product | atLeast:T | histogram | identity | table:FILE')
    .option('--scale <scale>', 'Laplace scale to audit')
    .option('--calibrate <epsilon>', 'find the least scale whose loss is at most epsilon')
    .option('--adversary <who>', 'informed (knows any other records) or uninformed', 'informed')
    .option('--json', 'one JSON document')
    .action(async (file: string, { query, scale, calibrate, adversary, json }: Words) => {
      if (adversary !== 'informed' && adversary !== 'uninformed')
        throw new Fault(
          'USAGE',
          'The adversary is either informed or uninformed.',
          'informed: knows any other records; uninformed: knows the ties only.',
        );
      if ((scale === undefined) === (calibrate === undefined))
        throw new Fault('USAGE', 'Give either --scale or --calibrate.', 'For example --scale 1, or --calibrate 0.5.');
      const { auditScale } = await import('../api/audit.js');
      const found = await auditScale(file, { query, scale, epsilon: calibrate, adversary });
      emit(json, found, () => auditText(found, calibrate !== undefined));
    });
}

function auditText(found: Audit, calibrated: boolean): string {
  const lines = [
    bold(`Exact loss ${numberText(found.loss)}`) +
      ` for ${found.query} with Laplace noise of scale ${numberText(found.scale)}, ${found.adversary} adversary`,
  ];
  if (calibrated)
    lines.push(found.scale === 0 ? '  No noise is needed.' : '  This is the least scale that keeps the loss there.');
  if (found.record !== null) {
    const known = Object.entries(found.known).map(([id, value]) => `${id} = ${value}`);
    lines.push(
      `  worst for record ${found.record}: ${found.values.join(' against ')}`,
      `  ${known.length > 0 ? `to someone who knows ${known.join(', ')}` : 'to someone who knows no record'}`,
      `  at the output ${Array.isArray(found.output) ? `(${found.output.join(', ')})` : found.output}`,
    );
  }
  return [...lines, ...found.assumptions.map((a) => `  ${dim('Assumption:')} ${a}`)].join('\n');
}
