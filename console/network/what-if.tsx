import { useEffect, useState } from 'preact/hooks';
import { call, problemFrom } from '../api/client.ts';
import type { Figure, Problem, Tie } from '../api/shapes.ts';
import { Slider } from '../parts/field.tsx';
import { formatNumber } from '../parts/figures.ts';
import { FaultNotice } from '../parts/notices.tsx';
import { DataTable } from '../parts/table.tsx';

interface WhatIfAnswer {
  readonly epsilon: number;
  readonly base: Figure;
  readonly amplification: Figure;
  readonly column?: string;
  /** Of a count, were the whole budget spent on it. */
  readonly error: Figure | null;
}

/** Odds ratios at which the slider stops, from independent records to copies; the declared one is among them. */
const menu: readonly number[] = [1, 1.5, 2, 3, 4, 6, 9, 15, 25, 40, 81, 200, 1000];
const stopsFor = ({ oddsRatio }: Tie): readonly (number | 'inf')[] => [
  ...(typeof oddsRatio === 'number' && !menu.includes(oddsRatio) ? [...menu, oddsRatio].sort((a, b) => a - b) : menu),
  'inf',
];
const declaredStop = (tie: Tie): number => {
  const at = stopsFor(tie).indexOf(tie.oddsRatio as number | 'inf');
  return at < 0 ? stopsFor(tie).length - 1 : at;
};
const words = (stop: number | 'inf'): string =>
  stop === 1 ? '1: strangers' : stop === 'inf' ? 'unlimited: copies' : stop === 81 ? '81: nine in ten agree' : `${stop}`;
const pause = 250;

export const tieName = (tie: Tie): string =>
  [
    tie.kind,
    tie.relation ?? (Array.isArray(tie.by) ? tie.by.join(', ') : typeof tie.by === 'string' ? tie.by : ''),
    tie.column && `about ${tie.column}`,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');

/** Noise under ties that are stronger or weaker than declared. Reads only the ties and spends nothing. */
export function WhatIfPanel({ path, ties }: { readonly path: string; readonly ties: readonly Tie[] }) {
  const strong = ties.map((tie, index) => ({ tie, index })).filter(({ tie }) => tie.oddsRatio !== undefined);
  const [chosen, setChosen] = useState<readonly number[]>(() => strong.map(({ tie }) => declaredStop(tie)));
  const [answer, setAnswer] = useState<WhatIfAnswer>();
  const [problem, setProblem] = useState<Problem>();
  const [declared, setDeclared] = useState<WhatIfAnswer>();
  useEffect(() => {
    call<WhatIfAnswer>(`${path}/what-if`, { method: 'POST', body: {} }).then(setDeclared, () => undefined);
  }, [path]);
  const body = JSON.stringify({ ties: strong.map(({ tie, index }, k) => ({ index, oddsRatio: stopsFor(tie)[chosen[k]!]! })) });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<WhatIfAnswer>(`${path}/what-if`, { method: 'POST', body: JSON.parse(body), signal: stop.signal }).then(
        (found) => {
          setAnswer(found);
          setProblem(undefined);
        },
        (error: unknown) => {
          if (!stop.signal.aborted) setProblem(problemFrom(error));
        },
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, body]);
  const both = (format: (found: WhatIfAnswer) => string) => [declared, answer].map((found) => (found ? format(found) : '…'));
  if (strong.length === 0) return <p class="soft">No declared tie has a strength that could be changed here.</p>;
  return (
    <div class="stack">
      {strong.map(({ tie, index }, k) => (
        <Slider
          key={index}
          label={`Odds ratio of ${tieName(tie)}`}
          value={chosen[k]!}
          min={0}
          max={stopsFor(tie).length - 1}
          step={1}
          words={words(stopsFor(tie)[chosen[k]!]!)}
          onSlide={(to) => setChosen(chosen.map((c, i) => (i === k ? to : c)))}
        />
      ))}
      <DataTable
        caption="As declared, and as it would be"
        columns={[{ name: '' }, { name: 'declared', right: true }, { name: 'what if', right: true }]}
        rows={[
          ['epsilon promised', ...both((f) => formatNumber(f.epsilon))],
          ['of it, each record alone', ...both((f) => formatNumber(f.base))],
          ['ties multiply what leaks by', ...both((f) => formatNumber(f.amplification))],
          [
            `error of a count by ${answer?.column ?? declared?.column ?? 'a column'}, whole budget`,
            ...both((f) => `± ${formatNumber(f.error)}`),
          ],
        ]}
      />
      {problem && <FaultNotice problem={problem} />}
    </div>
  );
}
