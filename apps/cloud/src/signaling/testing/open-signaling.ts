/** The signaling service with machines and callers that speak through its handlers, on a virtual clock, for tests. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import {
  type AnswerRequest,
  AnswerRequestSchema,
  AnswerResponseSchema,
  CallRequestSchema,
  type CallResponse,
  CallResponseSchema,
  CallUpdateRequestSchema,
  OptionalWebRTCConfigRequestSchema,
  type ReportConnectionMetadataRequest,
  ReportConnectionMetadataRequestSchema,
  type SignalingService,
} from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { FakeClock } from '@platform/testkit';
import type { CloudCall, Grant, Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { fleetAccess, on } from '../../access/testing/open-fleet.ts';
import { createMachineNames } from '../../machines/machine-names.ts';
import { type CallQueue, createCallQueue } from '../call-queue.ts';
import { Feed } from '../feed.ts';
import { createIceServers } from '../ice-servers.ts';
import { type SignalingDeps, signalingBinding } from '../signaling-rpc.ts';

/** The name of the machine of these tests; its part is press-main. */
export const press = 'press-main.machines.example';

export const keyWith = (keyId: string, ...grants: Grant[]): Principal => ({
  kind: 'key',
  keyId,
  keyName: `key ${keyId}`,
  grants,
});
export const operator: Principal = keyWith('operator', on.machine('operator', 'press'));
export const owner: Principal = keyWith('owner', on.organization('owner'));

/** One end of a stream: what it heard, and how it ended. */
export interface Ear<T> {
  readonly heard: T[];
  /** `ok`, or code and message. */
  readonly ended: Promise<string>;
  /** Cancels it. */
  leave(): void;
}

export interface Machine extends Ear<AnswerRequest> {
  say(message: MessageInitShape<typeof AnswerResponseSchema>): void;
  /** Closes its side. */
  close(): void;
  /** The uuid of the call that it got. */
  uuid(): string;
}

export interface Signaling {
  readonly clock: FakeClock;
  readonly queue: CallQueue;
  readonly state: { hasLink: boolean; current: Principal | undefined };
  readonly reports: ReportConnectionMetadataRequest[];
  answer(options?: { readonly host?: string; readonly headers?: Readonly<Record<string, string>> }): Machine;
  call(options?: {
    readonly by?: Principal;
    readonly host?: string;
    readonly sdp?: string;
    readonly disableTrickle?: boolean;
  }): Ear<CallResponse>;
  update(request: MessageInitShape<typeof CallUpdateRequestSchema>, by?: Principal, host?: string): Promise<string>;
  configure(host?: string, by?: Principal): Promise<unknown>;
  report(init: MessageInitShape<typeof ReportConnectionMetadataRequestSchema>, host?: string): Promise<string>;
}

export function openSignaling(deps: Partial<SignalingDeps> = {}): Signaling {
  const clock = new FakeClock();
  const state: Signaling['state'] = { hasLink: true, current: undefined };
  const reports: ReportConnectionMetadataRequest[] = [];
  const hasLink = (): boolean => state.hasLink;
  const queue = createCallQueue({ hasLink, clock });
  const turn = { urls: ['turn:turn.example:3478'], secret: 'turn secret', ttlMs: 3_600_000 };
  const { methods } = signalingBinding({
    ...{ names: createMachineNames('machines.example', []), access: fleetAccess(), queue, hasLink, clock },
    iceServers: createIceServers({ stunUrls: ['stun:stun.example'], turn }, clock),
    ticketOf: (_call, partId) => new TextEncoder().encode(`ticket for ${partId}`),
    recheck: async ({ principal }) => state.current ?? principal,
    onReport: (report) => reports.push(report),
    ...{ authorizeAnswer: () => {}, saw: () => {} },
    ...deps,
  });
  const handlerOf = (name: keyof (typeof SignalingService)['method']) => {
    const { handler } = methods.find(({ method }) => method.localName === name) ?? {};
    return handler as unknown as (input: unknown, call: CloudCall) => AsyncIterable<object> & Promise<object>;
  };
  const callAs = (by: Principal, host: string, more: Readonly<Record<string, string>> = {}) => {
    const over = new AbortController();
    const call = { ...callOf(by, { ...(host !== '' && { 'rpc-host': host }), ...more }), signal: over.signal };
    return { call, leave: () => over.abort(new PlatformError('canceled', 'left')) };
  };
  const unary = (name: Parameters<typeof handlerOf>[0], input: unknown, by: Principal, host: string) =>
    Promise.resolve(handlerOf(name)(input, callAs(by, host).call));
  return {
    ...{ clock, queue, state, reports },
    answer({ host = press, headers = {} } = {}) {
      const said = new Feed<object>();
      const { call, leave } = callAs({ kind: 'part', partId: 'press-main' }, host, headers);
      const ear = listen(handlerOf('answer')(said, call), leave, (message) => create(AnswerRequestSchema, message));
      return {
        ...ear,
        say: (message) => said.push(create(AnswerResponseSchema, message)),
        close: () => said.end(),
        uuid: () => ear.heard.find(({ stage }) => stage.case === 'init')?.uuid ?? '',
      };
    },
    call({ by = operator, host = press, sdp = 'offer', disableTrickle = false } = {}) {
      const { call, leave } = callAs(by, host);
      const answers = handlerOf('call')(create(CallRequestSchema, { sdp, disableTrickle }), call);
      return listen(answers, leave, (message) => create(CallResponseSchema, message));
    },
    update: (request, by = operator, host = press) =>
      outcome(unary('callUpdate', create(CallUpdateRequestSchema, request), by, host)),
    configure: (host = press, by = operator) =>
      unary('optionalWebRTCConfig', create(OptionalWebRTCConfigRequestSchema), by, host).catch(textOf),
    report: (init, host = press) =>
      outcome(unary('reportConnectionMetadata', create(ReportConnectionMetadataRequestSchema, init), operator, host)),
  };
}

function listen<T>(messages: AsyncIterable<object>, leave: () => void, read: (message: object) => T): Ear<T> {
  const heard: T[] = [];
  const hear = async (): Promise<void> => {
    for await (const message of messages) heard.push(read(message));
  };
  return { heard, leave, ended: outcome(hear()) };
}

function outcome(done: Promise<unknown>): Promise<string> {
  return done.then(() => 'ok', textOf);
}

function textOf(caught: unknown): string {
  return caught instanceof PlatformError ? `${caught.code}: ${caught.message}` : String(caught);
}
