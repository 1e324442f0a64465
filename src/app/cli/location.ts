import type { Command } from 'commander';
import { Fault } from '../../base/errors.js';
import type { Location, ReleasedMoment } from '../api/location.js';
import { dim, numberText, table, warn } from '../report/terminal-text.js';
import { emit } from './output.js';

interface Words {
  readonly model: string;
  readonly epsilon?: string;
  readonly delta?: string;
  readonly at?: string;
  readonly json?: boolean;
}

export function registerLocationCommand(program: Command): void {
  program
    .command('location')
    .description(
      'one place at one time: the cells somebody is likely in, and noise that tells none of them from another (as published)',
    )
    .requiredOption('--model <file>', 'JSON: {"cells": [[0,0],[1,0],…], "belief": […], "transition": [[…],…]}')
    .option('--epsilon <epsilon>', 'for one moment (default: 1)')
    .option('--delta <share>', 'share of the belief that is not protected (default: 0.05)')
    .option('--at <cells>', 'simulate: where somebody was, as positions in the list of cells, e.g. 0,0,3')
    .option('--json', 'one JSON document on stdout')
    .action(async ({ model, epsilon, delta, at, json }: Words) => {
      const { location } = await import('../api/location.js');
      const found = await location(model, { epsilon, delta, ...(at !== undefined && { at: positions(at) }) });
      emit(json, found, () => human(found));
    });
}

function positions(text: string): number[] {
  if (/^\d{1,6}(,\d{1,6})*$/.test(text)) return text.split(',').map(Number);
  throw new Fault('USAGE', 'Places are positions in the list of cells, separated by commas.', 'Write for example --at 0,0,3.');
}

function human({ moments, notes }: Location): string {
  const rows = moments.map(({ protected: cells, area, error, comparator, released, surrogate }, t) => [
    `${t + 1}`,
    `${cells.length}`,
    numberText(area),
    numberText(error),
    numberText(comparator),
    released ? released.join(', ') : '',
    surrogate === undefined ? '' : `${surrogate}`,
  ]);
  return [
    table(['moment', 'protected', 'area', 'error', 'geo-indist.', 'released', 'stands for'], rows),
    ...(moments.length === 1 ? graphLines(moments[0]!) : []),
    warn('as published: not certified'),
    ...notes.map((note) => dim(note)),
  ].join('\n');
}

/** Policy graph of one moment: cells that stay indistinguishable, and the stand-ins of the others. */
function graphLines({ edges, standsFor, protected: cells }: ReleasedMoment): string[] {
  if (!edges || !standsFor) return [];
  const groups = cells.map((cell) => [
    cell,
    ...standsFor.flatMap((other, place) => (other === cell && place !== cell ? [place] : [])),
  ]);
  const near = [...edges].sort((a, b) => a.epsilon - b.epsilon);
  const shown = (edge: (typeof edges)[number] | undefined) =>
    edge ? `${edge.cells.join(' and ')} by ${numberText(edge.epsilon)}` : '';
  return [
    `Indistinguishable within epsilon: ${cells.join(', ')}.`,
    ...(near.length > 0 ? [`Distinguished at most: ${shown(near[0])} (least), ${shown(near.at(-1))} (most).`] : []),
    ...groups.flatMap(([cell, ...others]) =>
      others.length > 0 ? [`Released as ${cell}, never distinguished from it: ${others.join(', ')}.`] : [],
    ),
  ];
}
