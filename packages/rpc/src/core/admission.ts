/** Who may call what, and what one request may cost: decided here for every transport, before anything of a request's body is read. */
import type { ConnectError } from '@connectrpc/connect';
import type { Log, LogFields } from '@platform/base';
import type { BodyGate, BoundMethod } from './binding.ts';
import type { Call } from './call.ts';
import { toConnectError } from './errors.ts';
import { faultOf, reportedFault } from './faults.ts';
import { defaultRequestLimits, openRequestLimits, type RequestLimits } from './request-limits.ts';
import { callerOf, type RunningCall } from './running-call.ts';

export interface AdmissionOptions<P> {
  /** Called instead of `authenticate` for methods in `open`; throws to refuse the call. */
  readonly admitOpen?: ((call: Omit<Call, 'principal'>) => void) | undefined;
  /** Canonical paths of methods that are served without authentication. */
  readonly open: ReadonlySet<string>;
  /** Of one message, where a method has no limit of its own. */
  readonly maxMessageBytes: number;
  /** Log fields about the caller, for calls that fail through a fault on our side. */
  readonly callerFields: (principal: P) => LogFields;
  readonly log: Log;
}

/** Waits that end with the call. */
export type OrEnded = <T>(promise: Promise<T>) => Promise<T>;

/** How a transport identifies the callers of its requests. */
export type Authenticate<P> = (call: Call) => Promise<P>;

export type Cost = RequestLimits & { readonly maxRequestBytes: number };

export class Admission<P> {
  readonly #options: AdmissionOptions<P>;
  readonly #limits = new Map<string, RequestLimits>();
  readonly #gates = new Map<string, BodyGate<P>>();

  constructor(methods: readonly BoundMethod<P>[], options: AdmissionOptions<P>) {
    this.#options = options;
    for (const { path, limits, beforeBody } of methods) {
      this.#limits.set(path, limits);
      if (beforeBody !== undefined) this.#gates.set(path, beforeBody);
    }
  }

  /** What one request at a canonical path may cost. */
  costOf(path: string): Cost {
    const limits = this.#limits.get(path) ?? defaultRequestLimits;
    const maxRequestBytes = limits.maxRequestBytes ?? this.#options.maxMessageBytes;
    if (!this.#options.open.has(path)) return { ...limits, maxRequestBytes };
    return {
      ...limits,
      maxRequestBytes: Math.min(maxRequestBytes, openRequestLimits.maxRequestBytes),
      maxMessages: Math.min(limits.maxMessages, openRequestLimits.maxMessages),
    };
  }

  /** Whether something refuses calls of this path by more than their caller. */
  isGated(path: string): boolean {
    return this.#gates.has(path);
  }

  /** Identifies the caller, and checks permission and free space. Throws ConnectErrors. */
  async admit(call: RunningCall<P>, authenticate: Authenticate<P>, orEnded: OrEnded): Promise<void> {
    const { open, admitOpen } = this.#options;
    try {
      if (open.has(call.method)) admitOpen?.(call);
      else call.admit(await orEnded(authenticate(call)));
      const gate = this.#gates.get(call.method);
      if (gate !== undefined) await gate(call);
    } catch (caught) {
      throw this.interpret(caught, call);
    }
  }

  /** The error that the peer gets for a call that failed. */
  interpret(caught: unknown, call: RunningCall<P>): ConnectError {
    const { method, signal } = call;
    const { callerFields, log } = this.#options;
    return toConnectError(faultOf(caught, { method, signal, caller: callerOf(call, callerFields) }, log));
  }

  /** The error that the peer gets if its answer could not be encoded: the reason is logged, and the peer does not see it (D37). */
  hide(caught: ConnectError, call: RunningCall<P>): ConnectError {
    const { callerFields, log } = this.#options;
    return toConnectError(reportedFault(caught, { method: call.method, caller: callerOf(call, callerFields) }, log));
  }
}
