import { useState } from 'preact/hooks';

export type Theme = 'system' | 'light' | 'dark';
const place = 'fugu-theme';

const saved = (): Theme => {
  try {
    const found = localStorage.getItem(place);
    return found === 'light' || found === 'dark' ? found : 'system';
  } catch {
    return 'system';
  }
};

function apply(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
/** Before anything is drawn, so that nothing flashes. */
export const applySavedTheme = (): void => apply(saved());

/** Follows the system until the user chooses; the choice is kept in this browser. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(saved);
  const choose = (chosen: Theme) => {
    setTheme(chosen);
    apply(chosen);
    try {
      if (chosen === 'system') localStorage.removeItem(place);
      else localStorage.setItem(place, chosen);
    } catch {}
  };
  return [theme, choose];
}
