/**
 * The paths of this page to a machine, and which of them calls take: the cloud at once, WebRTC as soon as a call over it was answered, and
 * the cloud again when it is lost. While one is missing or broken, it is tried again.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base/clock';
import { firstAnswer } from './first-answer.ts';
import { Line } from './line.ts';
import type { DirectWay, Way, WayInit } from './way.ts';

export interface PathState {
  /** The path of new calls. `connecting`: the machine has not answered yet; `none`: it answers over no path. */
  readonly path: 'direct' | 'turn' | 'cloud' | 'connecting' | 'none';
  /** Median of the last round trips over this path. */
  readonly latencyMs: number | undefined;
  /** When the machine last answered, over any path, in ms since 1970. */
  readonly answeredMs: number | undefined;
}

export interface MachineCallInit extends WayInit {
  /**
   * `best` (default): over one path, and never again. `either`: also over the other one if there is no answer soon. `all`: over all at once.
   * Only calls that may arrive twice.
   */
  readonly over?: 'best' | 'either' | 'all';
}

export interface MachinePaths extends Disposable {
  readonly state: PathState;
  call(method: string, request: JsonObject, init?: MachineCallInit): Promise<JsonObject>;
  /** Whoever called has had no answer over any path for so long that none works. They are asked at once. */
  markLost(): void;
  /** Asks over all paths now, for example because the network of the computer has changed. */
  look(): void;
}

export interface MachinePathsDeps {
  readonly cloud: Way;
  /** Connects over WebRTC. Rejects if it is not possible. */
  readonly dial: (signal: AbortSignal) => Promise<DirectWay>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether nobody looks at the page: then it neither asks nor dials. */
  readonly isHidden: () => boolean;
  /** Called when the state may have changed. */
  readonly changed: () => void;
}

const tickMs = 1_000;
/** While all is well, it asks at each third tick. */
const ticksBetween = 3;
/** An answer over the best path should have come by then. */
const eitherMs = 400;
const slowestDialMs = 60_000;
/** A connection that lasted longer was no failure. */
const lastedMs = 30_000;

export function createMachinePaths(deps: MachinePathsDeps): MachinePaths {
  const { clock, changed } = deps;
  const cloud = new Line(deps.cloud, clock, changed);
  let direct: Line<DirectWay> | undefined;
  const over = new AbortController();

  const best = (): Line | undefined => [direct, cloud].find((line) => line !== undefined && line.health !== 'silent');
  const all = (): Line[] => (direct === undefined ? [cloud] : [direct, cloud]);
  const look = (): void => {
    for (const line of all()) void line.ask();
  };

  /** It was not asked while another path was in use. */
  const useCloud = (): void => {
    cloud.forget();
    if (!over.signal.aborted) void cloud.ask();
  };

  let ticks = 0;
  const ticking = clock.every(tickMs, () => {
    if (deps.isHidden()) return;
    const used = best();
    const isDue = ticks++ % ticksBetween === 0;
    for (const line of all())
      if (used === undefined || (isDue && (line === used || line.health !== 'works'))) void line.ask();
  });

  const useUntilLost = async (way: DirectWay): Promise<boolean> => {
    const line = new Line(way, clock, () => {
      if (line === direct && line.health === 'silent') useCloud();
      changed();
    });
    try {
      await line.ask();
      if (line.health !== 'works' || way.ended.aborted || over.signal.aborted) return false;
      const sinceMs = clock.monotonic();
      direct = line;
      changed();
      await aborted(AbortSignal.any([way.ended, over.signal]));
      return clock.monotonic() - sinceMs > lastedMs;
    } finally {
      direct = undefined;
      way.close();
      useCloud();
      changed();
    }
  };
  const keepDialing = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 0; ; ) {
      // A connection is made with the help of the cloud.
      while (cloud.health !== 'works' || deps.isHidden()) await clock.sleep(tickMs, signal);
      const hasLasted = await deps.dial(signal).then(useUntilLost, () => false);
      failures = hasLasted ? 0 : failures + 1;
      const pauseMs = Math.min(slowestDialMs, tickMs * 2 ** failures) * (0.5 + deps.random() / 2);
      await clock.sleep(pauseMs, signal);
    }
  };
  void cloud.ask();
  keepDialing(over.signal).catch(() => {});

  return {
    get state(): PathState {
      const line = best();
      const answers = all().flatMap(({ answeredMs }) => answeredMs ?? []);
      const answeredMs = answers.length === 0 ? undefined : Math.max(...answers);
      if (line === undefined) return { path: 'none', latencyMs: undefined, answeredMs };
      if (line.health === 'unknown') return { path: 'connecting', latencyMs: undefined, answeredMs };
      const path: PathState['path'] = line === direct ? direct.way.path : 'cloud';
      return { path, latencyMs: line.latencyMs, answeredMs };
    },
    async call(method, request, { over: how = 'best', ...init } = {}) {
      const able = all().filter((line) => line !== direct || direct?.way.knows(method));
      const first = able.find((line) => line.health !== 'silent') ?? cloud;
      if (how === 'best') return first.call(method, request, init);
      const lines = [first, ...able.filter((line) => line !== first)];
      const attempts = lines.map((line) => (signal: AbortSignal) => {
        const signals = init.signal === undefined ? [signal] : [init.signal, signal];
        return line.call(method, request, { ...init, signal: AbortSignal.any(signals) });
      });
      return firstAnswer(attempts, { afterMs: how === 'all' ? 0 : eitherMs, clock });
    },
    markLost() {
      for (const line of all()) line.markSilent();
      look();
    },
    look,
    [Symbol.dispose]() {
      ticking[Symbol.dispose]();
      over.abort();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
