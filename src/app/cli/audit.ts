import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Audit } from '../../evaluate/audit/audit.js';
import { bold, dim, numberText } from '../report/terminal-text.js';
import { modelArgument } from './model-argument.js';
import { auditCommandOptions } from './option-tables.js';
import { emit } from './output.js';
import { addOptions, type OptionWords, valuesOf } from './request-options.js';

export function registerAuditCommand(program: Command): void {
  const command = program
    .command('audit')
    .description('the exact loss of a Laplace release on a small model, by enumeration')
    .argument('<model>', modelArgument);
  addOptions(command, auditCommandOptions).action(async (file: string, words: OptionWords) => {
    const { query, scale, calibrate, adversary, json } = await valuesOf(auditCommandOptions, words);
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
