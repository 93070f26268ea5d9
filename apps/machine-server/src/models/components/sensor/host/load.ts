import { loadavg, uptime } from 'node:os';

export function readLoad(): Record<'load_1m' | 'load_5m' | 'load_15m' | 'uptime_seconds', number> {
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  const hundredth = (value: number): number => Math.round(value * 100) / 100;
  return {
    load_1m: hundredth(one),
    load_5m: hundredth(five),
    load_15m: hundredth(fifteen),
    uptime_seconds: Math.floor(uptime()),
  };
}
