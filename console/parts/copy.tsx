import { useState } from 'preact/hooks';

/** Text with a copy button, and a status once it is copied. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [told, setTold] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setTold('Copied');
    } catch {
      setTold('Select the text and copy it');
    }
    setTimeout(() => setTold(''), 2500);
  };
  return (
    <div class="code tight">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable */}
      <section class="scroll" tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <div class="row">
        <button type="button" class="button small" onClick={copy}>
          Copy
        </button>
        <span role="status" class="small soft">
          {told}
        </span>
      </div>
    </div>
  );
}
