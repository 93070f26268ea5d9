/** Values with the units that their names give: `memory_used_bytes`, `cpu_percent`, `uptime_seconds`. */
import { cellText } from '../query/flatten.ts';
import { bytesText } from '../ui/bytes.ts';

const units: Readonly<Record<string, string>> = {
  ...{ byte: 'B', bytes: 'B', kb: 'kB', mb: 'MB', gb: 'GB' },
  ...{ percent: '%', percentage: '%', pct: '%' },
  ...{ seconds: 's', second: 's', secs: 's', sec: 's' },
  ...{
    milliseconds: 'ms',
    millis: 'ms',
    ms: 'ms',
    microseconds: 'µs',
    us: 'µs',
    minutes: 'min',
    hours: 'h',
    days: 'd',
  },
  ...{ hz: 'Hz', hertz: 'Hz', rpm: 'rpm', celsius: '°C', fahrenheit: '°F', degrees: '°', deg: '°' },
  ...{ volts: 'V', amperes: 'A', amps: 'A', watts: 'W', meters: 'm', metres: 'm', mm: 'mm', cm: 'cm', km: 'km' },
};

/**
 * The unit that a name gives with its last words, such as "%" for `disks.root.used_percent` and "B/s" for `sent_bytes_per_second`; undefined:
 * none. Only whole words count: `items` has no unit.
 */
export function unitOf(name: string): string | undefined {
  const words = name
    .slice(-200)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const per = words.at(-2) === 'per' ? words.at(-1) : undefined;
  const own = Object.hasOwn(units, (per === undefined ? words.at(-1) : words.at(-3)) ?? '')
    ? units[(per === undefined ? words.at(-1) : words.at(-3)) ?? '']
    : undefined;
  if (per === undefined || own === undefined) return own;
  if (per === 'second' || per === 'sec' || per === 's') return `${own}/s`;
  // Per core, per device: what is counted, not another unit.
  return own;
}

/** A value for a table, short. Numbers have the unit of their name; seconds from two minutes on are minutes, hours and days. */
export function valueText(name: string, value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number'))
    return value.map((one) => valueText(name, one)).join(', ');
  if (typeof value !== 'number' || !Number.isFinite(value)) return cellText(value);
  const unit = unitOf(name);
  if (unit === undefined) return cellText(value);
  if (unit.startsWith('B') && value >= 0) return `${bytesText(value)}${unit.slice(1)}`;
  if (unit === 's' && value >= 120) return durationText(value);
  return `${Number(value.toPrecision(6))}${unit === '°' ? '' : ' '}${unit}`;
}

/** The value as it is stored, with its unit. */
export function exactText(name: string, value: unknown): string {
  const unit = typeof value === 'number' ? unitOf(name) : undefined;
  return unit === undefined ? cellText(value) : `${String(value)}${unit === '°' ? '' : ' '}${unit}`;
}

/** Two units, such as "3 d 4 h"; the rest is cut off. */
function durationText(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3_600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}
