import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A page begins with its purpose; keyboard focus starts there as well. */
export function Page({
  title,
  lead,
  children,
}: {
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Fugu`;
    head.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [title]);
  return (
    <div class="page">
      <header class="page-head">
        <h1 ref={head} tabIndex={-1}>
          {title}
        </h1>
        <p>{lead}</p>
      </header>
      {children}
    </div>
  );
}

export const Panel = ({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <section class="panel" aria-label={title}>
    <div class="panel-head">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
);
