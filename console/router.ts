import { useEffect, useState } from 'preact/hooks';

/** Location in the console: `#/POLICY/PAGE/MORE`. The path of the address never changes, so the service serves one page. */
export interface ConsoleLocation {
  readonly policy: string;
  readonly page: string;
  readonly more: string;
}

export const linkTo = (policy: string, page: string, more = ''): string =>
  `#/${[policy, page, ...(more === '' ? [] : [more])].map(encodeURIComponent).join('/')}`;

function locationIn(hash: string): ConsoleLocation {
  const [policy = '', page = '', more = ''] = hash
    .replace(/^#\/?/, '')
    .split('/')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return '';
      }
    });
  return { policy, page, more };
}

export function useLocation(): ConsoleLocation {
  const [place, setPlace] = useState(locationIn(location.hash));
  useEffect(() => {
    const moved = () => setPlace(locationIn(location.hash));
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place;
}
