import type { ComponentChildren } from 'preact';
import type { Problem } from '../api/shapes.ts';
import type { Loadable } from '../api/use-answer.ts';
import { icons } from './icons.tsx';

/** Something went wrong: one sentence, one hint, a way on. */
export const FaultNotice = ({ problem, again }: { readonly problem: Problem; readonly again?: (() => void) | undefined }) => (
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

export const EmptyNotice = ({
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
export const Placeholder = ({ height }: { readonly height: number }) => (
  <div role="status">
    <span class="unseen">Loading</span>
    <div class="ghost" style={{ '--height': `${height}px` }} />
  </div>
);

/** Loaded value, its placeholder, or the reason for a failure. */
export function Loaded<T>({
  answer,
  height,
  again,
  children,
}: {
  readonly answer: Loadable<T>;
  readonly height: number;
  readonly again?: () => void;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (answer.state === 'loading') return <Placeholder height={height} />;
  if (answer.state === 'fault') return <FaultNotice problem={answer.problem} again={again} />;
  return <>{children(answer.value)}</>;
}

export const Notice = ({ kind, children }: { readonly kind?: 'good' | 'warn' | 'bad'; readonly children: ComponentChildren }) => (
  <div class={`note ${kind ?? ''}`}>{children}</div>
);
