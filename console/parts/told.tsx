import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/shapes.ts';
import type { Asked } from '../api/use-answer.ts';
import { icons } from './icons.tsx';

/** Something went wrong: one sentence, one hint, a way on. */
export const Fault = ({ problem, again }: { readonly problem: Problem; readonly again?: (() => void) | undefined }) => (
  <div class="note bad" role="alert">
    <strong>{problem.title}</strong>
    {problem.hint && <span>{problem.hint}</span>}
    <span class="row spread">
      <code class="soft">{problem.code}</code>
      {again && (
        <button type="button" class="button small" onClick={again}>
          Try again
        </button>
      )}
    </span>
  </div>
);

export const Empty = ({
  icon = 'fish',
  title,
  children,
}: {
  readonly icon?: keyof typeof icons;
  readonly title: string;
  readonly children?: ComponentChildren;
}) => (
  <div class="empty">
    {icons[icon]}
    <h2>{title}</h2>
    {children}
  </div>
);

/** The place of something that is on its way, as large as it will be. */
export const Ghost = ({ height }: { readonly height: number }) => (
  <div role="status">
    <span class="unseen">Loading</span>
    <div class="ghost" style={{ '--height': `${height}px` }} />
  </div>
);

/** Loaded value, its placeholder, or the reason for a failure. */
export function Loaded<T>({
  asked,
  height,
  again,
  children,
}: {
  readonly asked: Asked<T>;
  readonly height: number;
  readonly again?: () => void;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (asked.state === 'loading') return <Ghost height={height} />;
  if (asked.state === 'fault') return <Fault problem={asked.problem} again={again} />;
  return <>{children(asked.value)}</>;
}

export const Note = ({ kind, children }: { readonly kind?: 'good' | 'warn' | 'bad'; readonly children: ComponentChildren }) => (
  <div class={`note ${kind ?? ''}`}>{children}</div>
);
