/** Times as people read them on a terminal. Other programs get ISO 8601 in UTC. */

const instant = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?Z$/;

/** `2026-11-23 22:03:34+01:00` for a time in UTC, with its fraction unless it is zero; any other text unchanged. */
export function localTime(text: string): string {
  const [, seconds, fraction = ''] = instant.exec(text) ?? [];
  if (seconds === undefined) return text;
  const at = new Date(`${seconds}Z`);
  if (Number.isNaN(at.getTime())) return text;
  const offset = -at.getTimezoneOffset();
  // As many milliseconds as the zone is ahead: the ISO text of that time in UTC is the local time.
  const local = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  return `${local}${/^\.0+$/.test(fraction) ? '' : fraction}${zone(offset)}`;
}

/** The same without fractions of seconds, for lists. */
export function localSeconds(text: string): string {
  return localTime(text.replace(/\.\d+Z$/, 'Z'));
}

function zone(offset: number): string {
  const minutes = Math.abs(offset);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
