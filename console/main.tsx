import { render } from 'preact';
import { App } from './app.tsx';
import { takeCode } from './pages/sign-in.tsx';

render(<App code={takeCode()} />, document.getElementById('app')!);
