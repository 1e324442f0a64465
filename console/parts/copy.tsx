import { useState } from 'preact/hooks';

/** Text with a copy button, and a status once it is copied. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  const [status, setStatus] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus('Copied');
    } catch {
      setStatus('Select the text and copy it');
    }
    setTimeout(() => setStatus(''), 2500);
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
          {status}
        </span>
      </div>
    </div>
  );
}
