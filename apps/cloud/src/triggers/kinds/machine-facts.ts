/**
 * Platform-specific kinds of triggers, about what the cloud knows about a machine besides its readings: `capture_stopped`,
 * `data_discarded`, `sync_behind`, `config_not_applied`, `credential_expiring`. Each has subjects (a captured method, a key) with two
 * states, and reports each change of state.
 */
import type { EventChange, TriggerEvent } from '../../outbox/event.ts';
import type { CapturedSeries, FactsInput, UploadInput } from '../input.ts';
import { type JsonObject, shown } from '../parsing/json.ts';
import type { Problems } from '../parsing/problems.ts';
import type { Occurrence, RuleState, RuleStep, TriggerEventRule } from '../trigger.ts';
import type { TriggerKind } from './kind.ts';

interface SubjectsState extends RuleState {
  /** Since when each subject has been firing, ms. */
  readonly firing?: Readonly<Record<string, number>>;
  /** Since when each subject has been suspected. */
  readonly since?: Readonly<Record<string, number>>;
  readonly discarded?: number;
}

/** The problem of each subject. */
type Troubles = ReadonlyMap<string, string>;

export function seriesName(of: Pick<CapturedSeries, 'componentType' | 'componentName' | 'methodName'>): string {
  return `${of.componentType.split(':').at(-1)}:${of.componentName}:${of.methodName.replace(/^Get(?=[A-Z])/, '')}`;
}

/** @param undecided subjects about which nothing is known: their state does not change */
function changed(
  type: string,
  state: SubjectsState,
  { atMs, place }: FactsInput | UploadInput,
  troubles: Troubles,
  undecided: (subject: string) => boolean = () => false,
): RuleStep {
  const firing = { ...state.firing };
  const occurrences: Occurrence[] = [];
  const report = (to: EventChange['to'], subject: string, reason: string): void => {
    const at = new Date(atMs).toISOString();
    const event = (): TriggerEvent => ({ type, place, change: { to, subject, at, reason } });
    occurrences.push({ cause: ['change', to, subject, atMs], atMs, reason, change: { to, subject }, event });
  };
  for (const [subject, reason] of troubles) {
    if (firing[subject] !== undefined) continue;
    firing[subject] = atMs;
    report('firing', subject, reason);
  }
  for (const [subject, sinceMs] of Object.entries(firing)) {
    if (troubles.has(subject) || undecided(subject)) continue;
    delete firing[subject];
    report('recovered', subject, `recovered after ${Math.round((atMs - sinceMs) / 1_000)} s`);
  }
  return { state: occurrences.length === 0 ? state : { ...state, firing }, occurrences };
}

interface FactKind {
  readonly type: string;
  /** The trigger's configuration key, in units of `unitMs`. */
  readonly key: { readonly name: string; readonly default: number; readonly max: number; readonly unitMs: number };
  readonly uploads?: 'all';
  readonly isTimed: boolean;
  readonly next: (state: SubjectsState, input: FactsInput | UploadInput, limitMs: number) => RuleStep;
}

function factKind({ type, key, uploads, isTimed, next }: FactKind): TriggerKind {
  return {
    type,
    keys: [key.name],
    parse(event: JsonObject, _resources, path: string, problems: Problems): TriggerEventRule | undefined {
      const value = event[key.name] ?? key.default;
      if (typeof value !== 'number' || !(value > 0 && value <= key.max))
        return problems.error(
          `${path}.${key.name}`,
          `expected a number above 0, at most ${key.max}, found ${shown(value)}`,
        );
      return {
        type,
        ...(uploads && { uploads }),
        ...(uploads && !isTimed && { stored: { areReadings: true, keys: 'none' } }),
        ...(isTimed && { timed: 'facts', dueMs: () => 0 }),
        next(state, input) {
          if (input.kind !== 'facts' && input.kind !== 'upload') return { state, occurrences: [] };
          return next(state, input, value * key.unitMs);
        },
      };
    },
  };
}

const seconds = (name: string, byDefault: number) => ({ name, default: byDefault, max: 30 * 86_400, unitMs: 1_000 });

/** No data of a method configured for capture has arrived although the part is online. */
export const captureStopped: TriggerKind = factKind({
  type: 'capture_stopped',
  key: seconds('after_secs', 300),
  uploads: 'all',
  isTimed: true,
  next(state, input, limitMs) {
    if (input.kind === 'upload') return { state, occurrences: [] };
    const { atMs, listeningSinceMs, facts } = input;
    const { onlineSinceMs, captured, arrivedMs } = facts;
    const troubles = new Map<string, string>();
    if (onlineSinceMs === undefined) return { state, occurrences: [] };
    const unknown = new Set<string>();
    for (const series of captured) {
      const arrived = arrivedMs(series);
      if (arrived === undefined) unknown.add(seriesName(series));
      // A slow method is allowed the time of three readings.
      const allowedMs = Math.max(limitMs, 3_000 / series.hz);
      const sinceMs = Math.max(arrived ?? 0, onlineSinceMs, listeningSinceMs);
      const reason = `nothing of it has arrived for ${Math.round((atMs - sinceMs) / 1_000)} s, although the part is online`;
      if (atMs - sinceMs >= allowedMs) troubles.set(seriesName(series), reason);
    }
    return changed('capture_stopped', state, input, troubles, (subject) => unknown.has(subject));
  },
});

/** Data arrives long after it was captured. */
export const syncBehind: TriggerKind = factKind({
  type: 'sync_behind',
  key: seconds('after_secs', 600),
  uploads: 'all',
  isTimed: false,
  next(state, input, limitMs) {
    if (input.kind !== 'upload' || input.readings.count === 0) return { state, occurrences: [] };
    const { receivedMs } = input.readings.times(input.readings.count - 1);
    if (receivedMs === null) return { state, occurrences: [] };
    const subject = seriesName(input.metadata);
    const behindMs = input.atMs - receivedMs;
    const reason = `its data arrives ${Math.round(behindMs / 1_000)} s after it was captured`;
    const troubles = behindMs >= limitMs ? new Map([[subject, reason]]) : new Map<string, string>();
    return changed('sync_behind', state, input, troubles, (other) => other !== subject);
  },
});

/** The machine reports that it has lost captured readings. */
export const dataDiscarded: TriggerKind = factKind({
  type: 'data_discarded',
  key: seconds('clear_after_secs', 600),
  isTimed: true,
  next(state, input, limitMs) {
    if (input.kind !== 'facts') return { state, occurrences: [] };
    const { atMs, facts } = input;
    // Readings lost before the trigger was saved do not count.
    if (state.discarded === undefined) return { state: { ...state, discarded: facts.discarded }, occurrences: [] };
    const lost = facts.discarded - state.discarded;
    const beforeMs = state.since?.[''];
    const isSetBack = beforeMs !== undefined && beforeMs > atMs;
    const grownMs = lost > 0 || isSetBack ? atMs : beforeMs;
    const next =
      lost === 0 && !isSetBack ? state : { ...state, discarded: facts.discarded, since: { '': grownMs ?? atMs } };
    const isLosing = lost > 0 || (grownMs !== undefined && atMs - grownMs < limitMs);
    return changed(
      'data_discarded',
      next,
      input,
      isLosing ? new Map([['', `${lost} captured readings were lost`]]) : new Map(),
    );
  },
});

/** The part is online and does not run the saved configuration. One that waits for a maintenance window is not a problem. */
export const configNotApplied: TriggerKind = factKind({
  type: 'config_not_applied',
  key: seconds('after_secs', 600),
  isTimed: true,
  next(state, input, limitMs) {
    if (input.kind !== 'facts') return { state, occurrences: [] };
    const { atMs, listeningSinceMs, facts } = input;
    const { savedRevision, runsRevision, heldRevision, lastError } = facts.configuration;
    if (facts.onlineSinceMs === undefined) return { state, occurrences: [] };
    const isBehind = savedRevision !== runsRevision && heldRevision === '';
    // Setting the clock back must not delay it.
    const sinceMs = isBehind ? Math.min(state.since?.[''] ?? atMs, atMs) : undefined;
    const since: SubjectsState['since'] = sinceMs === undefined ? {} : { '': sinceMs };
    const next = since[''] === state.since?.[''] ? state : { ...state, since };
    const waitedMs = sinceMs === undefined ? 0 : atMs - Math.max(sinceMs, listeningSinceMs, facts.onlineSinceMs);
    const wasFiring = state.firing?.[''] !== undefined;
    const troubles = new Map<string, string>();
    if (lastError !== '') troubles.set('', `the machine reports: ${lastError}`);
    else if (isBehind && (wasFiring || waitedMs >= limitMs))
      troubles.set('', `the saved configuration has not been applied for ${Math.round(waitedMs / 1_000)} s`);
    return changed('config_not_applied', next, input, troubles);
  },
});

/** An API key of the machine is about to expire. */
export const credentialExpiring: TriggerKind = factKind({
  type: 'credential_expiring',
  key: { name: 'within_days', default: 14, max: 366, unitMs: 86_400_000 },
  isTimed: true,
  next(state, input, limitMs) {
    if (input.kind !== 'facts') return { state, occurrences: [] };
    const troubles = new Map(
      input.facts.keys
        .filter(({ expiresMs }) => expiresMs - input.atMs <= limitMs)
        .map(({ id, name, expiresMs }) => [id, `the API key ${name} expires at ${new Date(expiresMs).toISOString()}`]),
    );
    return changed('credential_expiring', state, input, troubles);
  },
});
