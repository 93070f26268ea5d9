/** RelayService: machines open their links here. */
import { type Clock, PlatformError, unavailable } from '@platform/base';
import { type OpenLinkRequest, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { isAnswer, KeepAlive } from '@platform/rpc/client';
import { serve } from '@platform/rpc/server';
import { type CloudBinding, type CloudCall, type Principal, requireId } from '../access/principal.ts';
import type { DirectCallHandlers } from './direct-calls.ts';
import type { Links, PartLink } from './links.ts';

/** R16: an open stream ends within 5 s after its caller loses access. */
const recheckMs = 4_000;

export interface RelayRpcDeps {
  readonly links: Links;
  /** Checks that the principal may answer in the name of the part. @throws not_found, permission_denied */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** A message of the part arrived on its link. */
  heard(principal: Principal, partId: string): void;
  /** The current principal of the call. @throws unauthenticated */
  recheck(call: CloudCall): Promise<Principal>;
  /** What machines ask and report of connections that do not go through the cloud. */
  readonly directCalls: DirectCallHandlers;
  readonly clock: Clock;
}

export function relayBinding({
  links,
  authorizeAnswer,
  heard,
  recheck,
  directCalls,
  clock,
}: RelayRpcDeps): CloudBinding {
  /** Ends the link when the caller loses the right to it. */
  const watch = async (link: PartLink, call: CloudCall): Promise<void> => {
    try {
      for (;;) {
        await clock.sleep(recheckMs, link.ended);
        authorizeAnswer(await recheck(call), link.partId);
      }
    } catch (caught) {
      if (!link.ended.aborted)
        link.end(caught instanceof PlatformError ? caught : new PlatformError('internal', 'the link failed', caught));
    }
  };
  return serve<typeof RelayService, Principal>(RelayService, {
    ...directCalls,
    async *openLink(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const first = await messages.next();
      const partId = first.done === true ? '' : first.value.partId;
      requireId('part_id', partId, 'AppService.GetRobotParts');
      authorizeAnswer(call.principal, partId);
      heard(call.principal, partId);
      const link = links.open(
        partId,
        dataOf(messages, () => {
          heard(call.principal, partId);
          silence.heard();
        }),
      );
      using silence = endSilentLink(link, clock);
      const leave = (): void => link.end(unavailable('the machine has disconnected'));
      call.signal.addEventListener('abort', leave, { once: true });
      try {
        // Tells the machine that its link is open.
        yield { data: new Uint8Array() };
        void watch(link, call);
        for await (const data of link.outgoing) yield { data };
        // Its stream may have failed just now, before the link was told.
        link.end(unavailable('the connection of the machine has ended'));
        throw link.ended.reason;
      } finally {
        call.signal.removeEventListener('abort', leave);
        leave();
      }
    },
  });
}

async function* dataOf(messages: AsyncIterator<OpenLinkRequest>, heard: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
      heard();
      yield next.value.data;
    }
  } finally {
    await messages.return?.();
  }
}

/** Machines send a heartbeat after 15 s of silence. One whose heartbeat is late is asked; the answer may take another 5 s. */
const silentMs = 16_000;

/**
 * Ends a link on which nothing arrives any more. Calls may still reach the machine, which then has no reason to connect again: a proxy can
 * lose one direction of a connection.
 * @returns `heard` notes a message of the machine
 */
function endSilentLink({ link, ended, end }: PartLink, clock: Clock): Pick<KeepAlive, 'heard'> & Disposable {
  const headers = { 'platform-access': 'read' };
  const silence = new KeepAlive({
    ...{ clock, silentMs, sentBytes: () => 0 },
    // Whatever it answers, it is there.
    ping: (onAnswer) =>
      void link
        .client(RobotService)
        .getVersion({}, { headers, signal: ended })
        .then(onAnswer, (caught) => isAnswer(caught) && onAnswer()),
    onDead: () => end(unavailable('nothing arrives from the machine')),
  });
  silence.watch();
  return silence;
}
