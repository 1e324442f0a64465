import { element } from './svg.js';

/** A pufferfish, puffed up: spines around a body, a tail, an eye. Drawn, not loaded. */
const spines = Array.from({ length: 18 }, (_, k) => {
  const angle = (k / 18) * 2 * Math.PI;
  const at = (r: number, turn = 0) =>
    `${(32 + r * Math.cos(angle + turn)).toFixed(1)} ${(32 + r * Math.sin(angle + turn)).toFixed(1)}`;
  return `M${at(20, -0.11)}L${at(27)}L${at(20, 0.11)}Z`;
}).join('');

export const mark: string = element(
  'svg',
  { viewBox: '0 0 64 64', class: 'mark', 'aria-hidden': 'true' },
  element('path', { d: 'M49 32 L62 23 Q58.5 32 62 41 Z', fill: 'var(--accent, #cf5f22)' }),
  element('path', { d: spines, fill: 'var(--bar, #1f6f8b)' }),
  element('circle', { cx: 32, cy: 32, r: 20.6, fill: 'var(--bar, #1f6f8b)' }),
  element('path', {
    d: 'M12.6 37.5 A20.4 20.4 0 0 0 51.4 37.5 Q32 45.5 12.6 37.5Z',
    fill: 'var(--card, #fff)',
    'fill-opacity': 0.82,
  }),
  element('circle', { cx: 22.5, cy: 26.5, r: 4.4, fill: 'var(--card, #fff)' }),
  element('circle', { cx: 21.4, cy: 26.8, r: 2.1, fill: 'var(--ink, #16232e)' }),
  element('path', { d: 'M33 33.5 q5.5 -4.5 10 -0.5 q-4 5 -10 0.5Z', fill: 'var(--accent, #cf5f22)' }),
);
