/** Readings of many components over some days: nested, with five fields, as sensors send them; the same for each engine. */
import { BsonDocument } from '@platform/query';

export const componentCount = 1_000;
/** 2026-05-10T00:00:00Z. */
export const startMs: number = Date.UTC(2026, 4, 10);
const days = 5;
const dayMs = 86_400_000;

export interface Reading {
  readonly component: string;
  readonly receivedMs: number;
  readonly temperature: number;
  readonly humidity: number;
  readonly pressure: number;
  readonly door: boolean;
  readonly state: string;
}

/** Time between two readings of a component if all components together have this many readings. */
export function intervalMs(readings: number): number {
  return Math.floor((days * dayMs * componentCount) / readings);
}

export function componentName(component: number): string {
  return `sensor-${String(component).padStart(4, '0')}`;
}

/** The nth reading of a component. */
export function readingAt(component: number, n: number, everyMs: number): Reading {
  const noise = hash(component * 7_919 + n);
  return {
    component: componentName(component),
    receivedMs: startMs + n * everyMs + component,
    temperature: Math.round((20 + 5 * Math.sin(n / 50 + component) + (noise % 1_000) / 250) * 100) / 100,
    humidity: Math.round((40 + ((noise >>> 10) % 2_000) / 100) * 10) / 10,
    pressure: Math.round((1_013 + ((noise >>> 5) % 400) / 20) * 10) / 10,
    door: noise % 17 === 0,
    state: noise % 101 === 0 ? 'fault' : noise % 13 === 0 ? 'warning' : 'ok',
  };
}

export function documentOf({ temperature, humidity, pressure, door, state }: Reading): BsonDocument {
  return BsonDocument.of({ readings: BsonDocument.of({ temperature, humidity, pressure, door, state }) });
}

function hash(n: number): number {
  let mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
