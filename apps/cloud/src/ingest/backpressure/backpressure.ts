/**
 * Slows uploads down when the tabular store falls behind. An upload waits before it is appended, never between append and answer.
 *
 * From three quarters of a bound on, organizations with more than their share of the backlog are paced: the fuller the backlog, the longer
 * an upload waits per byte. A wait ends early when the store has caught up, and always after `maxWaitMs`, so uploads from machines are
 * stored no matter what delays the store.
 */
import type { ClockAndLog } from '@platform/base';
import type { IngestSettings } from '../settings.ts';
import { type Backlog, createBacklog } from './backlog.ts';
import { createWaitingUploads } from './waiting-uploads.ts';

/** How far the tabular store has processed the log. */
export interface StoreProgress {
  lag(): {
    /** Last position whose rows queries can read. */
    readonly loadedPosition: number;
    readonly sealedPosition: number;
    /** Bytes of rows that are loaded but not sealed. */
    readonly unsealedBytes: number;
    /** Queries are running that wait until the whole log is loaded. */
    readonly isAsked: boolean;
  };
  /** Calls the listener after any progress. */
  onProgress(listener: () => void): Disposable;
}

export interface AdmitRequest {
  readonly organizationId: string;
  /** Bytes of its readings; 0: the upload makes no rows and never waits. */
  readonly bytes: number;
  /** Aborted when the sender has disconnected. */
  readonly signal: AbortSignal;
  /** Wall ms; undefined: the sender waits indefinitely. */
  readonly deadline: number | undefined;
  /** Whether the upload need not be stored; checked before a wait. */
  readonly isKnown: () => Promise<boolean>;
}

/** Room in the backlog; returned when disposed without `stored`. */
export interface Admission extends Disposable {
  stored(position: number): void;
}

/** Status for operators. */
export interface UploadsSlowed {
  /** Wall ms. */
  readonly sinceMs: number;
  readonly reason: string;
  /** Uploads that had to wait, including refused ones. */
  readonly uploads: number;
  readonly refused: number;
}

export interface Backpressure {
  /** Throws canceled (the sender disconnected) or resource_exhausted (too many uploads are waiting); in either case nothing was stored. */
  admit(request: AdmitRequest): Promise<Admission>;
  /** Undefined: no upload has had to wait during the last minute. */
  slowed(): UploadsSlowed | undefined;
}

/** Part of a bound below which no upload waits. */
const paceFrom = 0.75;
/** Pace of each organization above its share, when the backlog is halfway between paceFrom and the bound. */
const pacedBytesPerMs = 8_000;
/** Backlogs are counted in steps of this fraction of their bound. */
const stepsOfBound = 64;
/** Below the burst bound, uploads wait for loading only after much has been unloaded for this long … */
const burstMs = 5_000;
/** … and the next burst is allowed after this long without a burst. */
const betweenBurstsMs = 30_000;
/** Waits less than this far apart belong to the same slowdown. */
const calmMs = 60_000;

const notHeld: Admission = { stored: () => {}, [Symbol.dispose]: () => {} };

export function createBackpressure({
  store,
  settings,
  clock,
  log,
}: ClockAndLog & {
  readonly store: StoreProgress;
  readonly settings: IngestSettings;
}): Backpressure {
  const unsealed = createBacklog(settings.unsealedBytes / stepsOfBound);
  const unloaded = createBacklog(settings.unloadedBytes / stepsOfBound);
  /** By organization, monotonic: until when its admitted uploads use up its pace. */
  const busyUntilMs = new Map<string, number>();
  let trouble: { -readonly [Field in keyof UploadsSlowed]: UploadsSlowed[Field] } | undefined;
  let lastWaitMs = 0;
  /** Monotonic: first and last moment at which more bytes were unloaded than may stay so for long. */
  let muchToLoad: { readonly sinceMs: number; readonly lastMs: number } | undefined;
  const waiting = createWaitingUploads({
    maxBytes: settings.waitingBytes,
    clock,
    onRefused() {
      if (trouble !== undefined) trouble.refused++;
    },
  });

  const noteLoad = (): void => {
    if (unloaded.bytes <= paceFrom * settings.unloadedBytes) return;
    const lastMs = clock.monotonic();
    const before = muchToLoad !== undefined && lastMs - muchToLoad.lastMs <= betweenBurstsMs ? muchToLoad : undefined;
    muchToLoad = { sinceMs: before?.sinceMs ?? lastMs, lastMs };
  };
  const isLasting = (): boolean =>
    muchToLoad !== undefined &&
    muchToLoad.lastMs - muchToLoad.sinceMs > burstMs &&
    clock.monotonic() - muchToLoad.lastMs <= betweenBurstsMs;
  /** Above 0, uploads are paced; at 1, the backlog has reached its bound. */
  const fullness = (bytes: number, bound: number): number => (bytes / bound - paceFrom) / (1 - paceFrom);
  const unsealedFullness = (): number => fullness(store.lag().unsealedBytes + unloaded.bytes, settings.unsealedBytes);
  const unloadedBound = (): number => {
    // No query waits for loading.
    if (!store.lag().isAsked) return Number.POSITIVE_INFINITY;
    return isLasting() ? settings.unloadedBytes : settings.burstBytes;
  };
  const unloadedFullness = (): number => fullness(unloaded.bytes, unloadedBound());
  const isBehind = (): boolean => unsealedFullness() > 0 || unloadedFullness() > 0;

  /** The pressure that makes an upload wait, and the reason. */
  const pressureOn = (organizationId: string, bytes: number): { readonly full: number; readonly reason: string } => {
    const of = (full: number, backlog: Backlog, bound: number): number =>
      full > 0 && backlog.exceedsShare(organizationId, bytes, paceFrom * bound) ? full : 0;
    const sealing = of(unsealedFullness(), unsealed, settings.unsealedBytes);
    const loading = of(unloadedFullness(), unloaded, unloadedBound());
    return sealing >= loading
      ? { full: sealing, reason: 'readings arrive faster than they can be sealed into files' }
      : { full: loading, reason: 'readings arrive faster than they can be loaded for queries' };
  };

  /** Ms until the organization's turn comes. */
  const takeTurn = (organizationId: string, bytes: number, full: number): number => {
    const nowMs = clock.monotonic();
    const bytesPerMs = full < 1 ? (pacedBytesPerMs * (1 - full)) / full : 0;
    const turnMs = Math.max(nowMs, busyUntilMs.get(organizationId) ?? 0) + bytes / bytesPerMs;
    busyUntilMs.set(organizationId, Math.min(turnMs, nowMs + settings.maxWaitMs));
    return Math.min(turnMs - nowMs, settings.maxWaitMs);
  };

  const endTrouble = (): void => {
    if (trouble === undefined || waiting.count > 0 || clock.monotonic() - lastWaitMs < calmMs) return;
    const { uploads, refused } = trouble;
    log.info('the tabular store keeps up again: uploads are no longer slowed down', { uploads, refused });
    trouble = undefined;
  };
  const noteWait = (reason: string): void => {
    endTrouble();
    if (trouble === undefined) {
      log.warn(
        'uploads are slowed down because the tabular store is behind; nothing is lost, machines keep what they cannot send',
        {
          reason,
          unsealedBytes: store.lag().unsealedBytes,
          unloadedBytes: unloaded.bytes,
        },
      );
      trouble = { sinceMs: clock.now(), reason, uploads: 0, refused: 0 };
    }
    trouble.uploads++;
    trouble.reason = reason;
    lastWaitMs = clock.monotonic();
  };

  const reserve = (organizationId: string, bytes: number): void => {
    unsealed.reserve(organizationId, bytes);
    unloaded.reserve(organizationId, bytes);
    noteLoad();
  };
  const admission = (organizationId: string, bytes: number): Admission => {
    let isStored = false;
    return {
      stored(position) {
        isStored = true;
        unsealed.place(organizationId, bytes, position);
        unloaded.place(organizationId, bytes, position);
      },
      [Symbol.dispose]() {
        if (isStored) return;
        unsealed.cancel(organizationId, bytes);
        unloaded.cancel(organizationId, bytes);
      },
    };
  };

  store.onProgress(() => {
    const { loadedPosition, sealedPosition } = store.lag();
    unsealed.passed(sealedPosition);
    unloaded.passed(loadedPosition);
    noteLoad();
    waiting.release(() => !isBehind());
    if (!isBehind()) busyUntilMs.clear();
    endTrouble();
  });

  return {
    async admit({ organizationId, bytes, signal, deadline, isKnown }) {
      if (bytes === 0) return notHeld;
      const { full, reason } = isBehind() ? pressureOn(organizationId, bytes) : { full: 0, reason: '' };
      const turnMs = full > 0 ? takeTurn(organizationId, bytes, full) : 0;
      // Half of the client's time is left for the append.
      const maxMs = deadline === undefined ? turnMs : Math.min(turnMs, (deadline - clock.now()) / 2);
      if (maxMs < 1 || (await isKnown())) {
        reserve(organizationId, bytes);
        return admission(organizationId, bytes);
      }
      noteWait(reason);
      const onAdmitted = (): void => reserve(organizationId, bytes);
      await waiting.wait({ organizationId, bytes, maxMs, signal, onAdmitted });
      return admission(organizationId, bytes);
    },
    slowed() {
      endTrouble();
      return trouble === undefined ? undefined : { ...trouble };
    },
  };
}
