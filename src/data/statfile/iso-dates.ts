/** Dates and times as ISO 8601. Every program counts from a day of its own. */
const day = 86_400;
const seconds = (year: number, month: number, date: number): number => Date.UTC(year, month - 1, date) / 1000;

export const spssOrigin = seconds(1582, 10, 14);
/** Stata and SAS. */
export const statOrigin = seconds(1960, 1, 1);

const two = (x: number): string => String(x).padStart(2, '0');

/** Date of a time in seconds since 1970; null outside the four-digit calendar. */
export function isoDate(moment: number): string | null {
  const whole = new Date(Math.floor(moment / day) * day * 1000);
  const year = whole.getUTCFullYear();
  return year >= 1 && year <= 9999 ? whole.toISOString().slice(0, 10) : null;
}

/** Seconds of a day, or of longer: hours do not end at 24. */
export function isoTime(moment: number): string | null {
  if (!(Math.abs(moment) < 2 ** 43)) return null;
  const micro = Math.round(Math.abs(moment) * 1e6);
  const whole = Math.floor(micro / 1e6);
  const rest = micro - whole * 1e6;
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(6, '0').replace(/0+$/, '')}`;
  const sign = moment < 0 && micro > 0 ? '-' : '';
  return `${sign}${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}${fraction}`;
}

export function isoDateTime(moment: number): string | null {
  const micro = Math.round((moment - Math.floor(moment / day) * day) * 1e6);
  const carried = micro >= day * 1e6 ? Math.floor(moment / day + 1) * day : moment;
  const date = isoDate(carried);
  return date === null ? null : `${date}T${isoTime(micro >= day * 1e6 ? 0 : micro / 1e6)}`;
}
