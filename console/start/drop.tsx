import { useRef, useState } from 'preact/hooks';
import { icons } from '../parts/icons.tsx';

/** A file, dropped or chosen. */
export function Drop({ working, onFile }: { readonly working: boolean; readonly onFile: (file: File) => void }) {
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  return (
    <section
      class={over ? 'drop over' : 'drop'}
      aria-label="The data"
      onDragOver={(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => {
        e.preventDefault();
        setOver(false);
        const file = e.dataTransfer?.files[0];
        if (file) onFile(file);
      }}
    >
      {icons.start}
      <h2>Drop a file here</h2>
      <p class="soft">CSV, Parquet, DuckDB, SPSS, Stata, SAS transport or Excel. It goes to this service and nowhere else.</p>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label="Choose a data file"
        accept=".csv,.tsv,.parquet,.duckdb,.db,.sav,.zsav,.dta,.xpt,.xlsx"
        onChange={(e) => {
          const file = e.currentTarget.files?.[0];
          if (file) onFile(file);
        }}
      />
      <button type="button" class="button main-action" disabled={working} onClick={() => input.current?.click()}>
        {working ? 'Reading …' : 'Choose a file'}
      </button>
    </section>
  );
}
