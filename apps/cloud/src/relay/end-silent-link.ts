/**
 * Ends a link on which nothing arrives any more. Calls may still reach the machine, which then has no reason to connect again: a proxy can
 * lose one direction of a connection.
 */
import { type Clock, unavailable } from '@platform/base';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { isAnswer, KeepAlive } from '@platform/rpc/client';
import type { PartLink } from './links.ts';

/** Machines send a heartbeat after 15 s of silence. Earlier ones send it every 20 s, and are asked. The answer may take another 5 s. */
const silentMs = 16_000;

/** @returns `heard` notes a message of the machine */
export function endSilentLink({ link, ended, end }: PartLink, clock: Clock): Pick<KeepAlive, 'heard'> & Disposable {
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
