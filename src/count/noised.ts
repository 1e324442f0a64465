import { toNumber } from '../exact/rational.js';
import { type Additive, additive } from '../mechanism/additive.js';
import type { Allotment } from '../mechanism/allotment.js';
import type { Scope } from '../mechanism/effect.js';
import { isPart } from '../mechanism/record-class.js';
import { type Selection, selection } from '../mechanism/select.js';
import type { CountedMeasure, Measure, SelectedMeasure } from './measure.js';

/** A measure is its own factor when only one column's answers can move it. */
export const isFactored = (m: Measure): boolean => [...m.effects.keys()].filter(isPart).length <= 1;

/** The mechanism that lets a measure out. */
export type MechanismOf<M extends Measure = Measure> = M extends CountedMeasure
  ? Additive
  : M extends SelectedMeasure
    ? Selection
    : never;
const mechanisms: {
  [K in Measure['mechanism']]: (
    m: Extract<Measure, { mechanism: K }>,
    allotment: Allotment,
    scope: Scope,
  ) => Additive | Selection;
} = {
  additive: (m, allotment, scope) =>
    additive(
      {
        name: m.name,
        cells: m.cells.length,
        effects: m.effects,
        unit: toNumber(m.grid),
        factored: isFactored(m),
        ...(m.tables !== undefined && { tables: m.tables }),
      },
      allotment,
      scope,
    ),
  exponential: (m, allotment, scope) =>
    selection({ name: m.name, cells: m.cells.length, effects: m.effects, factored: isFactored(m) }, allotment, scope),
};

export const noised = <M extends Measure>(m: M, allotment: Allotment, scope: Scope): MechanismOf<M> =>
  (mechanisms[m.mechanism] as (m: Measure, allotment: Allotment, scope: Scope) => Additive | Selection)(
    m,
    allotment,
    scope,
  ) as MechanismOf<M>;
