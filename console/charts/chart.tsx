import { type PlotOptions, plot } from '@observablehq/plot';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Plot options for a width in pixels. */
export type ChartDrawing = (width: number) => PlotOptions & { readonly height: number };

/** Chart as wide as its container; its height is reserved before it is drawn. The label is its text for screen readers. */
export function Chart({
  label,
  draw,
  children,
  onPoint,
}: {
  readonly label: string;
  readonly draw: ChartDrawing;
  /** The caption, and the numbers as a table. */
  readonly children?: ComponentChildren;
  /** Called while dragging, with the pointer's fraction of the width, and the width. */
  readonly onPoint?: (x: number, width: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    watch.observe(place.current!);
    return () => watch.disconnect();
  }, []);
  const options = draw(width || 560);
  useEffect(() => {
    if (width === 0) return;
    const svg = plot({ ...options, width });
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', label);
    for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
    place.current!.replaceChildren(svg);
  });
  const pointed = (e: PointerEvent) => {
    const box = place.current!.getBoundingClientRect();
    onPoint?.((e.clientX - box.left) / box.width, box.width);
  };
  return (
    <figure class="chart">
      <div
        ref={place}
        class="chart-place"
        style={{ minHeight: `${options.height}px`, ...(onPoint && { cursor: 'grab', touchAction: 'none' }) }}
        {...(onPoint && {
          onPointerDown: (e: PointerEvent) => {
            (e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
            pointed(e);
          },
          onPointerMove: (e: PointerEvent) => {
            if (e.buttons > 0) pointed(e);
          },
        })}
      />
      {children}
    </figure>
  );
}
