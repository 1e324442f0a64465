import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Named {
  readonly label: string;
  readonly hint?: ComponentChildren;
}

export function Choice<V extends string>({
  label,
  hint,
  value,
  options,
  onChoose,
}: Named & {
  readonly value: V;
  readonly options: readonly { readonly value: V; readonly label: string }[];
  readonly onChoose: (value: V) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(e) => onChoose(e.currentTarget.value as V)}>
        {options.map((o) => (
          <option key={o.value} value={o.value} selected={o.value === value}>
            {o.label}
          </option>
        ))}
      </select>
      {hint && <span class="hint">{hint}</span>}
    </div>
  );
}

/** Text field for code. */
export function Written({
  label,
  hint,
  value,
  onWrite,
}: Named & { readonly value: string; readonly onWrite: (value: string) => void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea id={id} spellcheck={false} value={value} onInput={(e) => onWrite(e.currentTarget.value)} />
      {hint && <span class="hint">{hint}</span>}
    </div>
  );
}

export function Text({
  label,
  hint,
  value,
  type = 'text',
  onWrite,
  ...more
}: Named & {
  readonly value: string;
  readonly type?: 'text' | 'number' | 'date' | 'password';
  readonly onWrite: (value: string) => void;
  readonly placeholder?: string;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: string;
  readonly autoComplete?: string;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} type={type as 'text'} value={value} onInput={(e) => onWrite(e.currentTarget.value)} {...more} />
      {hint && <span class="hint">{hint}</span>}
    </div>
  );
}

export function Slider({
  label,
  value,
  min,
  max,
  step,
  words,
  onSlide,
}: {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** Meaning of the value, shown next to it and read aloud. */
  readonly words: string;
  readonly onSlide: (value: number) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <div class="row spread">
        <label for={id}>{label}</label>
        <output for={id} class="number">
          {words}
        </output>
      </div>
      <input
        id={id}
        type="range"
        min={min}
        max={max}
        step={step}
        value={value}
        aria-valuetext={words}
        onInput={(e) => onSlide(Number(e.currentTarget.value))}
      />
    </div>
  );
}

export const Tick = ({
  label,
  checked,
  onTick,
}: {
  readonly label: string;
  readonly checked: boolean;
  readonly onTick: (checked: boolean) => void;
}) => (
  <label class="tick">
    <input type="checkbox" checked={checked} onChange={(e) => onTick(e.currentTarget.checked)} />
    {label}
  </label>
);

export const Segments = <V extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: V;
  readonly options: readonly { readonly value: V; readonly label: string }[];
  readonly onChoose: (value: V) => void;
}) => (
  // biome-ignore lint/a11y/useSemanticElements: a group of switches, no form
  <div class="segments" role="group" aria-label={label}>
    {options.map((o) => (
      <button key={o.value} type="button" aria-pressed={o.value === value} onClick={() => onChoose(o.value)}>
        {o.label}
      </button>
    ))}
  </div>
);
