/**
 * The states of an alarm (compile-alarm.ts): idle → firing → idle … Pure: readings and times come in, changes come out.
 *
 * Time is that of the readings, and never goes back: a reading that is older than an earlier one is treated as equally new, so that late
 * readings are neither lost nor able to undo a duration.
 */
import type { Alarm } from './compile-alarm.ts';

/** Stored as JSON. */
export interface AlarmState {
  /** Since when it has been firing; absent: it is idle. */
  readonly firingMs?: number;
  /** The newest time of a reading. */
  readonly newestMs?: number;
  /** Since when every reading has met the condition (`for_secs`). */
  readonly metSinceMs?: number;
  /** The newest times within the window at which the condition was met (`times_within`). */
  readonly metMs?: readonly number[];
}

export interface AlarmStep {
  /** The same object if nothing has changed. */
  readonly state: AlarmState;
  readonly change?: 'firing' | 'recovered';
}

/**
 * The step of an alarm without `absentMs` at one reading.
 *
 * @param atMs when the reading was taken
 */
export function alarmStep(alarm: Alarm, state: AlarmState, meets: boolean, clears: boolean, atMs: number): AlarmStep {
  const nowMs = Math.max(atMs, state.newestMs ?? Number.NEGATIVE_INFINITY);
  const isFiring = state.firingMs !== undefined;
  if (alarm.times !== undefined) return timesStep(alarm, alarm.times, state, meets, clears, nowMs);
  if (isFiring) {
    const ends = alarm.clears ? clears : !meets;
    return ends ? { state: {}, change: 'recovered' } : { state };
  }
  if (!meets) return { state: state.metSinceMs === undefined ? state : {} };
  const sinceMs = state.metSinceMs ?? nowMs;
  if (nowMs - sinceMs >= alarm.forMs) return fires({}, nowMs);
  return { state: { newestMs: nowMs, metSinceMs: sinceMs } };
}

function timesStep(
  { clears: hasClear }: Alarm,
  times: NonNullable<Alarm['times']>,
  state: AlarmState,
  meets: boolean,
  clears: boolean,
  nowMs: number,
): AlarmStep {
  if (!meets && state.metMs === undefined && state.firingMs === undefined) return { state };
  const kept = (state.metMs ?? []).filter((ms) => ms > nowMs - times.withinMs);
  const metMs = meets ? [...kept, nowMs].slice(-times.count) : kept;
  const reached = metMs.length >= times.count;
  const remembered = metMs.length > 0 ? { newestMs: nowMs, metMs } : {};
  if (state.firingMs === undefined) return reached ? fires(remembered, nowMs) : { state: remembered };
  if (hasClear)
    return clears ? { state: {}, change: 'recovered' } : { state: { ...remembered, firingMs: state.firingMs } };
  return reached ? { state: { ...remembered, firingMs: state.firingMs } } : { state: remembered, change: 'recovered' };
}

function fires(state: AlarmState, atMs: number): AlarmStep {
  return { state: { ...state, firingMs: atMs }, change: 'firing' };
}
