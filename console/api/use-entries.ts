import { useEffect, useState } from 'preact/hooks';
import { call } from './client.ts';
import type { Entries, Entry } from './shapes.ts';
import { useAnswer } from './use-answer.ts';

/** The newest entries of a ledger; earlier pages are loaded on request. */
export function useEntries(path: string, most = 200) {
  const [answer, again] = useAnswer<Entries>(`${path}?before=${Number.MAX_SAFE_INTEGER}&most=${most}`);
  const [older, setOlder] = useState<{ readonly entries: readonly Entry[]; readonly next?: number | undefined }>();
  // A reload starts again with the newest entries.
  useEffect(() => setOlder(undefined), [answer]);
  const newest = answer.state === 'done' ? answer.value : undefined;
  const next = older ? older.next : newest?.next;
  const earlier = async () => {
    const page = await call<Entries>(`${path}?before=${next}&most=${most}`);
    setOlder({ entries: [...page.entries, ...(older?.entries ?? [])], next: page.next });
  };
  return {
    asked: answer,
    again,
    /** Oldest first. */
    entries: [...(older?.entries ?? []), ...(newest?.entries ?? [])],
    ...(next !== undefined && { earlier: () => void earlier() }),
  };
}
