const either = {
  any: [
    { column: 'party', op: '=', value: 'a' },
    {
      not: {
        any: [
          { column: 'x', op: '>', value: 0 },
          { column: 'media', op: '=', value: 'q' },
        ],
      },
    },
  ],
};
const derive = {
  twice: { op: '*', of: [2, 'x'] },
  square: { op: '*', of: ['x', { op: '-', of: ['x', 1] }] },
  side: {
    cases: [
      { when: either, value: { text: 'low' } },
      { when: { column: 'twice', op: '>=', value: 2 }, value: 'party' },
    ],
    otherwise: { text: 'rest' },
  },
};

/** A query of every kind over columns party, x, media and w. */
export const smallQueries = [
  { kind: 'count' },
  { kind: 'count', by: ['party'] },
  { kind: 'count', by: ['x', 'party'] },
  { kind: 'count', where: [{ column: 'party', op: '=', value: 'a' }] },
  { kind: 'count', where: [{ column: 'media', op: '=', value: 'p' }], by: ['media'] },
  { kind: 'count', by: ['media'], weight: 'w' },
  { kind: 'histogram', column: 'media' },
  { kind: 'histogram', column: 'media', by: ['party'] },
  { kind: 'sum', column: 'x' },
  { kind: 'sum', column: 'x', by: ['party'] },
  { kind: 'sum', column: 'x', by: ['x'] },
  { kind: 'sum', column: 'x', by: ['media'], weight: 'w' },
  { kind: 'mean', column: 'x' },
  { kind: 'mean', column: 'x', by: ['party'], where: [{ column: 'x', op: '>', value: 0 }] },
  { kind: 'variance', column: 'x', by: ['party'] },
  { kind: 'variance', column: 'x', weight: 'w' },
  { kind: 'cdf', column: 'x' },
  { kind: 'cdf', column: 'x', by: ['party'] },
  { kind: 'cdf', column: 'x', by: ['media'], where: [{ column: 'x', op: '>', value: 0 }] },
  { kind: 'ranges', column: 'party' },
  { kind: 'share', column: 'party', values: ['a'] },
  { kind: 'share', column: 'media', values: ['q'], by: ['party'], weight: 'w' },
  { kind: 'sum', column: 'x', by: ['party'], where: [either] },
  { kind: 'histogram', column: 'media', where: [{ not: either }, { column: 'x', op: 'in', values: [-1, 1] }] },
  { kind: 'sum', column: 'square', by: ['side'], where: [either], derive },
  { kind: 'histogram', column: 'side', where: [{ column: 'twice', op: 'not in', values: [0, 4] }], derive },
  { kind: 'mean', column: 'twice', by: ['party'], weight: 'w', where: [{ column: 'side', op: '!=', value: 'rest' }], derive },
  { kind: 'variance', column: 'square', where: [{ column: 'side', op: 'present' }], derive },
  {
    kind: 'formula',
    parts: { a: { kind: 'sum', column: 'square' }, n: { kind: 'count', where: [either] } },
    of: { op: '/', of: ['a', 'n'] },
    where: [{ column: 'x', op: 'present' }],
    derive,
  },
  { kind: 'regression', outcome: 'x', on: ['party'], where: [{ column: 'x', op: 'present' }] },
  { kind: 'regression', outcome: 'x', on: ['twice', 'party', 'side'], where: [either], derive },
  { kind: 'regression', outcome: 'square', on: ['x'], by: ['party'], where: [{ column: 'x', op: '>=', value: 0 }], derive },
  { kind: 'regression', outcome: 'x', on: ['square'], weight: 'w', where: [{ column: 'x', op: 'present' }], derive },
  { kind: 'correlation', columns: ['x', 'square', 'twice'], where: [{ column: 'party', op: 'present' }], derive },
  { kind: 'independence', columns: ['party', 'side'], where: [either], derive },
  { kind: 'compare', column: 'x', between: 'party', where: [{ column: 'x', op: 'present' }] },
  { kind: 'compare', column: 'side', values: ['low'], between: 'party', where: [{ column: 'x', op: 'present' }], derive },
  { kind: 'estimate', column: 'x', weight: 'w', where: [{ column: 'x', op: 'present' }] },
  { kind: 'estimate', column: 'party', values: ['a'], by: ['side'], where: [{ column: 'x', op: 'present' }], derive },
  {
    kind: 'mean',
    column: 'x',
    weight: 'shrunk',
    by: ['party'],
    where: [{ column: 'x', op: 'present' }],
    derive: { shrunk: { op: '+', of: [{ op: '*', of: [0.5, 'w'] }, 0.5] } },
  },
  {
    kind: 'sum',
    column: 'x',
    weight: 'both',
    where: [{ column: 'x', op: 'present' }],
    derive: { both: { op: '*', of: ['w', { op: '+', of: ['x', 1] }] } },
  },
];
