import { render } from 'preact';
import { App } from './app.tsx';
import { takeCode } from './pages/sign-in.tsx';
import { applySavedTheme } from './parts/theme.ts';

applySavedTheme();
render(<App code={takeCode()} />, document.getElementById('app')!);
