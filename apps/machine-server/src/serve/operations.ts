/**
 * Tracks the calls to resources in progress, so that clients can list them, wait for them and cancel them.
 *
 * The id of an operation is in the response header `opid`; a caller may choose it in the request header of the same name.
 */
import { type DescMessage, type JsonObject, type Message, toJson } from '@bufbuild/protobuf';
import { type Clock, newId, PlatformError } from '@platform/base';
import type { ResourceCall } from '@platform/resources';
import type { Call } from '@platform/rpc/server';
import type { Principal } from './authenticate.ts';

export const sessionHeader = 'viam-sid';
const operationHeader = 'opid';
const wellFormed = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
/** Longer arguments are not listed. */
const mostArguments = 16_384;

/** The properties of a call when it begins. */
export interface OperationStart {
  readonly call: Call<Principal>;
  /** Whether it moves something, so that sessions monitor its method. */
  readonly moves: boolean;
  /** The request; undefined for a stream of requests. */
  readonly request: { readonly type: DescMessage; readonly message: Message } | undefined;
}

export interface Operation {
  readonly id: string;
  /** `/package.Service/Method`. */
  readonly method: string;
  readonly moves: boolean;
  /** Wall clock ms. */
  readonly startedMs: number;
  /** Empty if the caller has no session. */
  readonly sessionId: string;
  /** The fields of the request as in the .proto file; undefined for a stream and for a large request. */
  arguments(): JsonObject | undefined;
}

export interface Operations {
  readonly all: readonly Operation[];
  /** Begins an operation; disposing ends it. */
  begin(start: OperationStart): OperationCall;
  /** Ends the operation for its caller with CANCELLED, and asks its resource to stop; does nothing if it has ended. */
  cancel(id: string): void;
  /** Resolves when the operation ends; at once if it is not in progress. */
  ended(id: string, signal: AbortSignal): Promise<void>;
}

export function createOperations(clock: Clock): Operations {
  const running = new Map<string, OperationCall>();
  return {
    get all() {
      return [...running.values()];
    },
    begin(start) {
      const wanted = start.call.metadata.get(operationHeader) ?? '';
      const id = wellFormed.test(wanted) && !running.has(wanted) ? wanted : newId();
      const operation = new OperationCall(id, start, clock.now(), () => running.delete(id));
      running.set(id, operation);
      start.call.responseHeaders.set(operationHeader, id);
      return operation;
    },
    cancel: (id) => running.get(id)?.cancel(),
    async ended(id, signal) {
      const { promise, reject } = Promise.withResolvers<never>();
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      await Promise.race([running.get(id)?.over, promise]).finally(() => signal.removeEventListener('abort', onAbort));
    },
  };
}

/** A call as its resource sees it: its signal also aborts when the operation is cancelled. */
export class OperationCall implements Operation, ResourceCall, Disposable {
  readonly id: string;
  readonly startedMs: number;
  readonly #start: OperationStart;
  readonly #onEnd: () => void;
  #controller: AbortController | undefined;
  #cancelled: PlatformError | undefined;
  #reject: ((reason: PlatformError) => void) | undefined;
  #over: PromiseWithResolvers<void> | undefined;

  constructor(id: string, start: OperationStart, startedMs: number, onEnd: () => void) {
    this.id = id;
    this.startedMs = startedMs;
    this.#start = start;
    this.#onEnd = onEnd;
  }

  get method(): string {
    return this.#start.call.method;
  }

  get principal(): Principal {
    return this.#start.call.principal;
  }

  get moves(): boolean {
    return this.#start.moves;
  }

  get sessionId(): string {
    return this.#start.call.metadata.get(sessionHeader) ?? '';
  }

  /** Created on demand: most resources do not use it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const { signal } = this.#start.call;
      const controller = new AbortController();
      this.#controller = controller;
      if (this.#cancelled !== undefined) controller.abort(this.#cancelled);
      else if (signal.aborted) controller.abort(signal.reason);
      else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
    }
    return this.#controller.signal;
  }

  get over(): Promise<void> {
    this.#over ??= Promise.withResolvers();
    return this.#over.promise;
  }

  arguments(): JsonObject | undefined {
    const { request } = this.#start;
    if (request === undefined) return undefined;
    const json = toJson(request.type, request.message, { useProtoFieldName: true }) as JsonObject;
    return JSON.stringify(json).length > mostArguments ? undefined : json;
  }

  cancel(): void {
    this.#cancelled ??= new PlatformError('canceled', `${this.method} was cancelled by CancelOperation (${this.id})`);
    this.#controller?.abort(this.#cancelled);
    this.#reject?.(this.#cancelled);
  }

  /** The answer, or the cancellation if that comes first. */
  orCancelled<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled !== undefined) return reject(this.#cancelled);
      this.#reject = reject;
      answer.then(resolve, reject);
    });
  }

  [Symbol.dispose](): void {
    this.#onEnd();
    this.#over?.resolve();
  }
}
