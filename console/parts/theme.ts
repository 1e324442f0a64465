import { useEffect, useState } from 'preact/hooks';

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

/** As the system has it, until somebody chooses; the choice is kept in this browser. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(saved);
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    try {
      if (theme === 'system') localStorage.removeItem(place);
      else localStorage.setItem(place, theme);
    } catch {}
  }, [theme]);
  return [theme, setTheme];
}
