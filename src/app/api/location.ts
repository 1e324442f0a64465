import * as z from 'zod';
import { Fault } from '../../base/errors.js';
import { compare, isPositive, parseRational, rational, toNumber } from '../../base/exact/rational.js';
import type { Point } from '../../evaluate/papers/location/hull.js';
import {
  locationMoment,
  type ProtectedPair,
  policyGraph,
  releaseAt,
  surrogateOf,
  updatedBelief,
} from '../../evaluate/papers/location/location.js';
import { amountShape, type FileName, fileNamed, parseOptions, withFaults } from './input.js';
import { readModelJson } from './model-file.js';
import { defineRequest, field } from './request.js';

const probability = z.number().min(0).max(1);
const model = z.strictObject({
  cells: field(
    z
      .array(z.tuple([z.number().int(), z.number().int()]))
      .min(1)
      .max(10_000),
    'Whole-number coordinates of every cell.',
  ),
  belief: field(z.array(probability).optional(), 'Prior before the first moment, cell by cell; uniform when absent.'),
  transition: field(
    z.array(z.array(probability)).optional(),
    'Transition probabilities from one moment to the next; when absent, the posterior becomes the prior of the next moment.',
  ),
});

const options = defineRequest('LocationOptions', {
  epsilon: amountShape.default('1'),
  delta: field(amountShape.default('0.05'), 'Share of the belief that is not protected.'),
  at: field(
    z.array(z.number().int().min(0)).min(1).max(1000).optional(),
    'Positions of a person in the list of cells, moment by moment: releases are drawn for them. Without them one moment is described.',
  ),
});
export type LocationOptions = z.input<typeof options>;

/** One moment, and the release drawn for it. */
export interface ReleasedMoment {
  /** Positions of the cells that are protected from one another. */
  readonly protected: readonly number[];
  readonly hull: readonly (readonly [number, number])[];
  readonly area: number;
  readonly covariance: readonly (readonly number[])[];
  /**
   * Root mean square distance between the released place and the place it stands for; then that of geo-indistinguishability with
   * equal protection.
   */
  readonly error: number;
  readonly comparator: number;
  /** Policy graph: largest privacy loss between each two protected cells. Omitted for many cells. */
  readonly edges?: readonly ProtectedPair[];
  /**
   * Cell that stands for each cell, by position: itself where it is protected. Two cells with the same stand-in cannot be
   * distinguished.
   */
  readonly standsFor?: readonly number[];
  readonly released?: readonly [number, number];
  /** Protected cell that stood for the true one, where that is not protected. */
  readonly surrogate?: number;
  /** Posterior after the release, cell by cell. */
  readonly belief?: readonly number[];
}
export interface Location {
  readonly moments: readonly ReleasedMoment[];
  readonly certified: false;
  readonly notes: readonly string[];
}

/**
 * Release of one place at one time: the cells somebody is likely in, and exact noise on the grid that hides them among each other.
 * Reads a model and no data, and spends nothing; its draws are a simulation.
 *
 * @example
 * const { moments } = await location('place.json', { epsilon: 1, delta: 0.1, at: [2, 3] });
 */
export async function location(file: FileName, given?: LocationOptions): Promise<Location> {
  return withFaults(() => {
    const place = fileNamed(file, 'The model');
    const { epsilon, delta, at } = parseOptions(options, given);
    const { cells, belief, transition } = readModel(place);
    const privacy = parseRational(epsilon, 'epsilon');
    const share = parseRational(delta, 'delta');
    if (!isPositive(privacy)) throw new Fault('BUDGET_INVALID', 'The epsilon must be above 0.', 'Give for example --epsilon 1.');
    if (compare(share, rational(0)) < 0 || compare(share, rational(1)) >= 0)
      throw new Fault('USAGE', 'The delta is a share of the belief, from 0 to below 1.', 'Give for example --delta 0.05.');
    if (at?.some((cell) => cell >= cells.length))
      throw new Fault('USAGE', `There are ${cells.length} cells, from 0 on.`, 'Name them by their position in the list.');
    const moments: ReleasedMoment[] = [];
    let now: readonly number[] = belief;
    for (const cell of at ?? [undefined]) {
      const moment = locationMoment(cells, now, toNumber(share), privacy);
      const described = {
        protected: moment.protected,
        hull: moment.hull,
        area: moment.area,
        covariance: moment.covariance,
        error: Math.sqrt(moment.noise.meanSquare),
        comparator: Math.sqrt(moment.comparator.meanSquare),
        ...(moment.protected.length <= mostShown && { edges: policyGraph(moment) }),
        ...(cells.length <= mostPlaced && { standsFor: cells.map((_, place) => surrogateOf(moment, place)) }),
      };
      if (cell === undefined) {
        moments.push(described);
        continue;
      }
      const released = releaseAt(moment, cell);
      const after = updatedBelief(moment, released);
      const surrogate = surrogateOf(moment, cell);
      moments.push({ ...described, released, ...(surrogate !== cell && { surrogate }), belief: after });
      now = moved(after, transition);
    }
    return {
      moments,
      certified: false,
      notes: [
        `At one moment, the odds between any two protected cells move by at most a factor of e^${epsilon}.`,
        'As published: several moments add up; that somebody is at no protected cell is not hidden; a wrong belief voids the promise; delta is a share of the belief, not the delta of differential privacy.',
      ],
    };
  });
}

/** The number of edges grows with the square of the number of cells. */
const mostShown = 40;
const mostPlaced = 1000;

function readModel(file: string): {
  cells: readonly Point[];
  belief: readonly number[];
  transition?: readonly (readonly number[])[];
} {
  const wrong = (what: string) =>
    new Fault(
      'MODEL_INVALID',
      `The model ${what}.`,
      'Write {"cells": [[0,0],[1,0],[0,1]], "belief": [0.5,0.3,0.2], "transition": [[…],[…],[…]]}.',
      {
        place: { file },
      },
    );
  const parsed = model.safeParse(readModelJson(file));
  if (!parsed.success) throw wrong('is no list of cells with beliefs');
  const { cells, belief = cells.map(() => 1 / cells.length), transition } = parsed.data;
  const isDistribution = (row: readonly number[]) =>
    row.length === cells.length && Math.abs(row.reduce((a, b) => a + b, 0) - 1) < 1e-9;
  if (new Set(cells.map(String)).size < cells.length) throw wrong('names a cell twice');
  if (!isDistribution(belief)) throw wrong('has beliefs that do not sum to 1, or not one for each cell');
  if (transition && (transition.length !== cells.length || !transition.every(isDistribution)))
    throw wrong('has a transition whose rows do not sum to 1, or not one for each cell');
  return { cells, belief, ...(transition && { transition }) };
}

const moved = (belief: readonly number[], transition: readonly (readonly number[])[] | undefined): readonly number[] =>
  transition ? belief.map((_, next) => belief.reduce((sum, p, cell) => sum + p * transition[cell]![next]!, 0)) : belief;
