/** A machine by the id of its part, over the link to its cloud. */
import { systemClock } from '@platform/base';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { type Connection, type Engine, reach, withFixedHeaders } from '@platform/webrtc';
import { type Machine, type MachineOptions, openMachine } from './open-machine.ts';

export interface OfCloud {
  readonly link: Connection;
  readonly engine: () => Promise<Engine>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** By default through the cloud: WebRTC needs a process, which only programs that run for a while are better with. */
export function openPart(
  { link, engine, timeoutMs, signal }: OfCloud,
  partId: string,
  options: MachineOptions = {},
): Machine {
  const { path = 'relay' } = options;
  let known: string | undefined;
  const nameOfPart = async (): Promise<string> => {
    known ??= (await link.client(AppService).getRobotPart({ id: partId })).part?.fqdn;
    return known ?? '';
  };
  const reached = reach({
    ...{ link, engine, path, timeoutMs, signal, clock: systemClock },
    floor: withFixedHeaders(link, { 'platform-part': partId }),
    floorPath: 'relay',
    host: nameOfPart,
    userAgent: 'platform-sdk',
  });
  return openMachine(reached, options);
}
