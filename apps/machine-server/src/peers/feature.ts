/** WebRTC: callers reach this machine directly, after they have found it through the cloud or in the local network. */
import type { ClockAndLog } from '@platform/base';
import type { Link } from '@platform/rpc/client';
import type { Call, ChannelServer, ServiceBinding } from '@platform/rpc/server';
import { answerCallers, type Engine } from '@platform/webrtc';
import type { TypeTable } from '../modules/type-table.ts';
import type { Principal } from '../serve/authenticate.ts';
import { Callers } from './callers.ts';
import { localSignaling } from './local-signaling.ts';

export interface PeersDeps extends ClockAndLog {
  /** Undefined: `-webrtc=false`, or this computer has none. It belongs to the caller. */
  readonly engine: Engine | undefined;
  /** Undefined without a cloud. */
  readonly cloud: { readonly link: Pick<Link, 'client'>; readonly partId: string } | undefined;
  /** By which the cloud knows the machine. */
  readonly name: () => string;
  /** By which callers in its network may ask for it. */
  readonly ownNames: () => readonly string[];
  readonly server: () => Pick<ChannelServer<Principal>, 'serve'>;
  readonly types: Pick<TypeTable, 'all'>;
  /** Whether a call to this machine's port may still go on. @throws unauthenticated */
  readonly recheck: (call: Call) => Promise<unknown>;
}

export interface Peers extends AsyncDisposable {
  /** Signaling on the machine's own port. */
  readonly signaling: ServiceBinding<Principal>;
  /** Callers that are connected. */
  readonly count: number;
  /** Waits for callers at the cloud. */
  start(): void;
}

export function createPeers({ engine, cloud, name, ownNames, server, types, recheck, clock, log }: PeersDeps): Peers {
  const callers = new Callers({
    ...{ cloud, types: () => types.all, clock, log },
    server: { serve: (channel, peer) => server().serve(channel, peer) },
  });
  const running = new AsyncDisposableStack();
  return {
    signaling: localSignaling({ engine, names: ownNames, callers, recheck, clock }),
    get count() {
      return callers.count;
    },
    start() {
      if (engine === undefined || cloud === undefined) return;
      running.use(
        answerCallers({
          ...{ link: cloud.link, engine, clock, log },
          host: name,
          onPeer: (answered) => void callers.serve(answered),
        }),
      );
    },
    async [Symbol.asyncDispose]() {
      await running.disposeAsync();
      callers[Symbol.dispose]();
    },
  };
}
