import type { ComponentChildren } from 'preact';

const drawn = (children: ComponentChildren, size = 24) => (
  <svg
    viewBox={`0 0 ${size} ${size}`}
    fill="none"
    stroke="currentColor"
    stroke-width="1.7"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {children}
  </svg>
);

/** Icons next to words, never instead of them. */
export const icons = {
  fish: drawn(
    <g stroke-width="2.2">
      <circle cx="16" cy="16" r="8.6" />
      <path d="M16 4.6V2M16 30v-2.6M4.6 16H2M30 16h-2.6M8 8 6 6M26 26l-2-2M24 8l2-2M6 26l2-2" />
      <circle cx="19" cy="14" r="1.2" fill="currentColor" />
    </g>,
    32,
  ),
  ask: drawn(<path d="M4 20V10M10 20V4M16 20v-8M22 20H2" />),
  budget: drawn(
    <>
      <path d="M4 19c6 0 6-14 16-14" />
      <circle cx="11" cy="13" r="2.4" />
    </>,
  ),
  ties: drawn(
    <>
      <circle cx="6" cy="7" r="2.5" />
      <circle cx="18" cy="6" r="2.5" />
      <circle cx="13" cy="18" r="2.5" />
      <path d="m8.5 7 7-.7M7.2 9.2l4.6 6.7M17 8.3l-3 7.4" />
    </>,
  ),
  time: drawn(
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M12 7v5l3.5 2" />
    </>,
  ),
  ledger: drawn(<path d="M6 3h11a2 2 0 0 1 2 2v16H7a2 2 0 0 1-2-2V4M9 8h6M9 12h6M9 16h3" />),
  attack: drawn(
    <>
      <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z" />
      <circle cx="12" cy="12" r="2.8" />
    </>,
  ),
  receipts: drawn(<path d="M6 3v18l2-1.5L10 21l2-1.5L14 21l2-1.5L18 21V3l-2 1.5L14 3l-2 1.5L10 3 8 4.5ZM9 9h6M9 13h6" />),
  start: drawn(<path d="M12 15V4M7.5 8.5 12 4l4.5 4.5M4 15v3a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-3" />),
  help: drawn(
    <>
      <circle cx="12" cy="12" r="8.5" />
      <path d="M9.6 9.6a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2 1-1.2 1.9M12 16.6v.2" />
    </>,
  ),
} as const;
