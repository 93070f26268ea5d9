/** The WebRTC engine of a program: made when the first machine dials, so that programs that do not use it start no process. */
import { silentLog, systemClock } from '@platform/base';
import { createEngine, type Engine } from '@platform/webrtc';

export interface LazyEngine extends AsyncDisposable {
  readonly get: () => Promise<Engine>;
}

export function lazyEngine(): LazyEngine {
  let engine: Engine | undefined;
  return {
    async get() {
      // Failures are told by `webrtcFailure`.
      engine ??= createEngine({ clock: systemClock, log: silentLog });
      return engine;
    },
    async [Symbol.asyncDispose]() {
      await engine?.[Symbol.asyncDispose]();
    },
  };
}
