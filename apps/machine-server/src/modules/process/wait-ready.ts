/** Waits until a module's process is ready, and reads its models. */
import {
  asPlatformError,
  type Clock,
  type CodeName,
  deadlineExceeded,
  errorText,
  failedPrecondition,
  type PlatformError,
} from '@platform/base';
import { type HandlerMap, ModuleService } from '@platform/proto/platform/module/v1/module';
import type { Link } from '@platform/rpc/client';
import { withTimeout } from '../../graph/with-timeout.ts';

export interface ReadyOptions {
  readonly link: Pick<Link, 'client'>;
  /** The address of this server for the module, without a scheme. */
  readonly parentAddress: string;
  readonly startupTimeoutMs: number;
  readonly clock: Clock;
  /** Ends the wait when the process is gone. */
  readonly signal: AbortSignal;
}

const tryMs = 3_000;
const betweenTriesMs = 200;
/** Codes from a module that does not listen yet, or is still starting. */
const notYet: readonly CodeName[] = ['unavailable', 'resource_exhausted', 'deadline_exceeded', 'canceled'];

/** @throws deadline_exceeded with the last answer, failed_precondition if it speaks another protocol */
export async function waitReady(options: ReadyOptions): Promise<HandlerMap | undefined> {
  const { link, parentAddress, startupTimeoutMs, clock, signal } = options;
  const { ready } = link.client(ModuleService);
  // Both without a scheme: public modules add `unix://` to the older field themselves, or treat it as a path.
  // A WebRTC offer would make modules wait for a connection that never comes, so none is sent.
  const request = { parentAddress, rawParentAddress: parentAddress, webrtcOffer: '' };
  let last = 'it answered nothing';
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const attempts = async (): Promise<HandlerMap | undefined> => {
    for (;;) {
      ends.throwIfAborted();
      try {
        const answer = await ready(request, { signal: ends, timeoutMs: tryMs });
        if (answer.ready) return answer.handlermap;
        last = 'it answered that it was not ready';
      } catch (caught) {
        ends.throwIfAborted();
        const { code } = asPlatformError(caught);
        last = errorText(caught);
        if (!notYet.includes(code)) throw otherProtocol(code, last);
      }
      await clock.sleep(betweenTriesMs, ends);
    }
  };
  try {
    return await withTimeout(attempts(), startupTimeoutMs, '', clock, signal);
  } catch (caught) {
    if (asPlatformError(caught).code !== 'deadline_exceeded') throw caught;
    throw deadlineExceeded(`it was not ready within ${startupTimeoutMs} ms (PLATFORM_MODULE_STARTUP_TIMEOUT): ${last}`);
  } finally {
    over.abort();
  }
}

function otherProtocol(code: CodeName, text: string): PlatformError {
  return failedPrecondition(
    `expected an answer of viam.module.v1.ModuleService/Ready, found ${code.toUpperCase()}: ${text}; a module must speak this version of the module protocol`,
  );
}
