import { useEffect, useState } from 'preact/hooks';
import type { Amounts, PolicyName, Session } from './api/shapes.ts';
import { type PageName, pageWords } from './page-names.ts';
import { Choice, Segments } from './parts/field.tsx';
import { icons } from './parts/icons.tsx';
import { Meter } from './parts/meter.tsx';
import { useTheme } from './parts/theme.ts';
import { linkTo } from './router.ts';

/** Navigation, the policy with its remaining budget, and the signed-in user. */
export function Rail({
  session,
  policies,
  policy,
  page,
  pages,
  budget,
  onChoose,
  onLeave,
}: {
  readonly session: Session;
  readonly policies: readonly PolicyName[];
  readonly policy: string;
  readonly page: string;
  readonly pages: readonly PageName[];
  readonly budget: Amounts | undefined;
  readonly onChoose: (policy: string) => void;
  readonly onLeave: () => void;
}) {
  const [theme, setTheme] = useTheme();
  const [open, setOpen] = useState(false);
  // The menu closes after navigation.
  useEffect(() => setOpen(false), [page, policy]);
  return (
    <header class={open ? 'rail' : 'rail closed'}>
      <div class="rail-top">
        <a class="brand" href={linkTo(policy, pages[0] ?? 'budget')}>
          {icons.fish}
          Fugu
        </a>
        <button
          type="button"
          class="button small menu-button"
          aria-expanded={open}
          aria-controls="pages"
          onClick={() => setOpen(!open)}
        >
          Menu
        </button>
      </div>
      <div class="policy-choice">
        <Choice
          label="Policy"
          value={policy}
          options={policies.map((p) => ({ value: p.name, label: p.name }))}
          onChoose={onChoose}
        />
      </div>
      <nav id="pages" aria-label="Pages">
        <ul>
          {pages.map((p) => (
            <li key={p}>
              <a href={p === 'start' ? '#/start' : linkTo(policy, p)} {...(p === page && { 'aria-current': 'page' as const })}>
                {icons[p]}
                {pageWords[p]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="foot">
        <div class="rail-meter">
          {budget ? <Meter budget={budget} what="Budget of this population" /> : <div class="meter" />}
        </div>
        <div class="rail-more tight">
          <Segments
            label="Colours"
            value={theme}
            options={[
              { value: 'system', label: 'System' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            onChoose={setTheme}
          />
          <div class="row spread">
            <span class="small">
              {session.name} <span class="soft">({session.role})</span>
            </span>
            <button type="button" class="button small" onClick={onLeave}>
              Sign out
            </button>
          </div>
        </div>
      </div>
    </header>
  );
}
