import { useEffect, useState } from 'preact/hooks';

/** Location in the console: `#/POLICY/PAGE/MORE`. The path of the address never changes, so the service serves one page. */
export interface Place {
  readonly policy: string;
  readonly page: string;
  readonly more: string;
}

export const linkTo = (policy: string, page: string, more = ''): string =>
  `#/${[policy, page, ...(more === '' ? [] : [more])].map(encodeURIComponent).join('/')}`;

function placeIn(hash: string): Place {
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

export function usePlace(): Place {
  const [place, setPlace] = useState(placeIn(location.hash));
  useEffect(() => {
    const moved = () => setPlace(placeIn(location.hash));
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  return place;
}
