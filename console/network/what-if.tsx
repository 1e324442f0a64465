import { useEffect, useState } from 'preact/hooks';
import { call, problemOf } from '../api/client.ts';
import type { Figure, Problem, Tie } from '../api/shapes.ts';
import { Slider } from '../parts/field.tsx';
import { figure } from '../parts/figures.ts';
import { Table } from '../parts/table.tsx';
import { Fault } from '../parts/told.tsx';

interface WhatIfAnswer {
  readonly epsilon: number;
  readonly base: Figure;
  readonly amplification: Figure;
  readonly column?: string;
  /** Of a count, were the whole budget spent on it. */
  readonly error: Figure | null;
}

/** Odds ratios that the slider stops at, from strangers to copies. */
const stops: readonly (number | 'inf')[] = [1, 1.5, 2, 3, 4, 6, 9, 15, 25, 40, 81, 200, 1000, 'inf'];
const nearest = (wanted: Figure | undefined): number => {
  if (wanted === undefined || wanted === 'inf' || wanted === '-inf') return stops.length - 1;
  return stops.reduce<number>(
    (best, s, k) =>
      typeof s === 'number' && Math.abs(Math.log(s / wanted)) < Math.abs(Math.log((stops[best] as number) / wanted)) ? k : best,
    0,
  );
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

/** What the noise would be if the ties were stronger or weaker than declared. Reads the ties only and spends nothing. */
export function WhatIf({ path, ties }: { readonly path: string; readonly ties: readonly Tie[] }) {
  const strong = ties.map((tie, index) => ({ tie, index })).filter(({ tie }) => tie.oddsRatio !== undefined);
  const [chosen, setChosen] = useState<readonly number[]>(() => strong.map(({ tie }) => nearest(tie.oddsRatio)));
  const [answer, setAnswer] = useState<WhatIfAnswer>();
  const [problem, setProblem] = useState<Problem>();
  const [declared, setDeclared] = useState<WhatIfAnswer>();
  useEffect(() => {
    call<WhatIfAnswer>(`${path}/what-if`, { method: 'POST', body: {} }).then(setDeclared, () => undefined);
  }, [path]);
  const body = JSON.stringify({ ties: strong.map(({ index }, k) => ({ index, oddsRatio: stops[chosen[k]!]! })) });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<WhatIfAnswer>(`${path}/what-if`, { method: 'POST', body: JSON.parse(body), signal: stop.signal }).then(
        (found) => {
          setAnswer(found);
          setProblem(undefined);
        },
        (error: unknown) => {
          if (!stop.signal.aborted) setProblem(problemOf(error));
        },
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, body]);
  if (strong.length === 0) return <p class="soft">No declared tie has a strength that could be changed here.</p>;
  return (
    <div class="stack">
      {strong.map(({ tie, index }, k) => (
        <Slider
          key={index}
          label={`Odds ratio of ${tieName(tie)}`}
          value={chosen[k]!}
          min={0}
          max={stops.length - 1}
          step={1}
          words={words(stops[chosen[k]!]!)}
          onSlide={(to) => setChosen(chosen.map((c, i) => (i === k ? to : c)))}
        />
      ))}
      <Table
        caption="As declared, and as it would be"
        columns={[{ name: '' }, { name: 'declared', right: true }, { name: 'what if', right: true }]}
        rows={[
          ['epsilon promised', figure(declared?.epsilon), figure(answer?.epsilon)],
          ['of it, each record alone', figure(declared?.base), figure(answer?.base)],
          ['ties multiply what leaks by', figure(declared?.amplification), figure(answer?.amplification)],
          [
            `error of a count by ${answer?.column ?? 'a column'}, whole budget`,
            `± ${figure(declared?.error)}`,
            `± ${figure(answer?.error)}`,
          ],
        ]}
      />
      {problem && <Fault problem={problem} />}
    </div>
  );
}
