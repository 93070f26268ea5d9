/**
 * Callers with a WebRTC connection to this machine. Each is served while its right lasts: the cloud, or this machine for those that found
 * it by its own address, is asked again every 4 s (R16 allows 5).
 *
 * If the cloud cannot be asked, connections go on: somebody beside the machine must be able to stop it when the internet is gone. After
 * 10 min they end.
 */
import {
  asPlatformError,
  type Clock,
  chunks,
  errorText,
  type Log,
  type PlatformError,
  permissionDenied,
} from '@platform/base';
import { CallerAccess, RelayService } from '@platform/proto/platform/relay/v1/relay';
import type { ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';
import type { Call, ChannelServer } from '@platform/rpc/server';
import type { AnsweredPeer } from '@platform/webrtc';
import type { Principal } from '../serve/authenticate.ts';
import { methodAccess, requireAccess } from './method-rights.ts';

const checkMs = 4_000;
const unansweredMs = 600_000;
/** Of one request. */
const maxTickets = 100;

export interface CallersDeps {
  /** Undefined without a cloud. */
  readonly cloud: { readonly link: Pick<Link, 'client'>; readonly partId: string } | undefined;
  readonly server: Pick<ChannelServer<Principal>, 'serve'>;
  readonly types: () => readonly ResourceDescriptor[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A caller that found the machine by its own address. */
export interface LocalCaller {
  readonly principal: Principal;
  /** @throws when it may no longer call */
  readonly check: () => Promise<unknown>;
}

interface Connected {
  readonly answered: AnsweredPeer;
  readonly principal: Principal;
  readonly local: LocalCaller | undefined;
  access: CallerAccess;
  /** When its right was last confirmed. */
  checkedMs: number;
}

export class Callers implements Disposable {
  readonly #deps: CallersDeps;
  readonly #connected = new Set<Connected>();
  #timer: Disposable | undefined;

  constructor(deps: CallersDeps) {
    this.#deps = deps;
  }

  /** Serves a connection until it ends. @param local undefined: the cloud has admitted the caller */
  async serve(answered: AnsweredPeer, local?: LocalCaller): Promise<void> {
    const { server, clock, log } = this.#deps;
    const { peer, channel, caller } = answered;
    // A signaling server of others says nothing about its callers, and lets nobody through who may not call.
    const access = local === undefined && caller !== undefined ? caller.access : CallerAccess.MANAGE;
    const principal = local === undefined ? principalOf(answered) : overWebRtc(local.principal);
    const entry: Connected = { answered, principal, local, access, checkedMs: clock.monotonic() };
    this.#connected.add(entry);
    this.#timer ??= clock.every(checkMs, () => void this.#check());
    const pair = await peer.selectedPair().catch(() => undefined);
    const address = pair?.remoteAddress ?? '';
    const who = { caller: principal.entity, name: caller?.name ?? '', address };
    log.info('a caller is connected over WebRTC', { ...who, local: pair?.local ?? '', remote: pair?.remote ?? '' });
    try {
      await server.serve(channel, { address, authenticate: async (call) => this.#admit(entry, call) });
    } finally {
      this.#connected.delete(entry);
      if (this.#connected.size === 0) {
        this.#timer?.[Symbol.dispose]();
        this.#timer = undefined;
      }
      await peer[Symbol.asyncDispose]();
      log.info('a caller over WebRTC has left', who);
    }
  }

  get count(): number {
    return this.#connected.size;
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    for (const { answered } of this.#connected) answered.channel.close();
  }

  #admit({ access, principal }: Connected, { method }: Call): Principal {
    const needed = methodAccess(method, this.#deps.types());
    if (needed !== 'read' || access === CallerAccess.UNSPECIFIED) requireAccess(method, needed, access);
    return principal;
  }

  async #check(): Promise<void> {
    const { clock, log } = this.#deps;
    const all = [...this.#connected];
    const checks = all.filter(({ local }) => local !== undefined).map((entry) => this.#checkLocal(entry));
    const asked = all.filter(({ answered, local }) => local === undefined && answered.caller !== undefined);
    for (const some of chunks(asked, maxTickets)) checks.push(this.#ask(some));
    await Promise.all(checks);
    for (const entry of asked) {
      if (clock.monotonic() - entry.checkedMs < unansweredMs) continue;
      log.warn(
        'a connection over WebRTC ends, because the cloud could not be asked for 10 min whether its caller may go on',
        {
          caller: entry.principal.entity,
        },
      );
      entry.answered.channel.close();
    }
  }

  async #ask(some: readonly Connected[]): Promise<void> {
    const { cloud, clock, log } = this.#deps;
    if (cloud === undefined) return;
    try {
      const tickets = some.map(({ answered }) => answered.caller?.ticket ?? new Uint8Array());
      const { access } = await cloud.link
        .client(RelayService)
        .checkCallers({ partId: cloud.partId, tickets }, { timeoutMs: checkMs });
      for (const [at, entry] of some.entries()) {
        entry.access = access[at] ?? CallerAccess.UNSPECIFIED;
        entry.checkedMs = clock.monotonic();
        if (entry.access === CallerAccess.UNSPECIFIED)
          this.#end(entry, permissionDenied('the caller may no longer call this machine'));
      }
    } catch (caught) {
      log.debug('the cloud could not be asked about callers', { error: errorText(caught) });
    }
  }

  async #checkLocal(entry: Connected): Promise<void> {
    try {
      await entry.local?.check();
      entry.checkedMs = this.#deps.clock.monotonic();
    } catch (caught) {
      this.#end(entry, asPlatformError(caught));
    }
  }

  #end({ answered, principal }: Connected, why: PlatformError): void {
    this.#deps.log.info('a connection over WebRTC ends', { caller: principal.entity, reason: why.message });
    answered.channel.close();
  }
}

/** The same as for calls that the cloud passes on: a session goes on when its owner changes the way. */
function principalOf({ caller }: AnsweredPeer): Principal {
  if (caller === undefined) return { entity: 'webrtc', direct: { caller: '', name: '', path: 'webrtc' } };
  return { entity: `cloud:${caller.id}`, direct: { caller: caller.id, name: caller.name, path: 'webrtc' } };
}

/** The same caller, for the record of what went directly. */
function overWebRtc({ direct, ...principal }: Principal): Principal {
  return { ...principal, ...(direct && { direct: { ...direct, path: 'webrtc' } }) };
}
