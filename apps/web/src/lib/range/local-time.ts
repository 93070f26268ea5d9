/** Times as inputs of the type `datetime-local` have them: without a zone, so that they are read and written in the zone of the setting. */

/**
 * Where clocks are turned back, a local time occurs twice: `from` is the first one and `until` the second, so that the time between them has
 * both. Where clocks are turned forward, a local time that is left out is as much later as clocks are turned.
 *
 * @param text such as `2026-11-30T22:15`, with or without seconds; others are no times
 * @param zone an IANA name; undefined: that of the browser
 */
export function timeOfInput(text: string, zone: string | undefined, end: 'from' | 'until'): Date | undefined {
  const wallMs = Date.parse(`${text}Z`);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(text) || Number.isNaN(wallMs)) return undefined;
  // No zone is further than a day from UTC, and none turns its clocks twice in two days.
  const [before, after] = [wallMs - dayMs, wallMs + dayMs].map((ms) => offsetMs(ms, zone)) as [number, number];
  const found = [wallMs - before, wallMs - after].filter((ms) => ms + offsetMs(ms, zone) === wallMs);
  const ms = end === 'from' ? Math.min(...found) : Math.max(...found);
  return new Date(found.length === 0 ? wallMs - before : ms);
}

/** To the minute, or to the second if it is not a whole minute; empty for no time. */
export function inputText(time: Date | undefined, zone: string | undefined): string {
  if (time === undefined) return '';
  const seconds = Math.floor(time.getTime() / 1_000) * 1_000;
  const text = new Date(seconds + offsetMs(seconds, zone)).toISOString();
  return text.slice(0, text.slice(17, 19) === '00' ? 16 : 19);
}

const dayMs = 86_400_000;
const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC at a time of a whole second. */
function offsetMs(ms: number, zone: string | undefined): number {
  const seconds = Math.floor(ms / 1_000) * 1_000;
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en-US', { ...numbers, timeZone: zone });
  formats.set(zone, format);
  const parts = new Map(format.formatToParts(seconds).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const wall = new Date(0);
  wall.setUTCFullYear(part('year'), part('month') - 1, part('day'));
  wall.setUTCHours(part('hour'), part('minute'), part('second'));
  return wall.getTime() - seconds;
}

const numbers: Intl.DateTimeFormatOptions = {
  ...{ calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
  ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
};
