/** A cloud and a machine-server as processes, and a caller of the machine in this one, whose engine is a process, too. */
import { pathToFileURL } from 'node:url';
import { silentLog, systemClock } from '@platform/base';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect, type Link } from '@platform/rpc/client';
import { processTree } from '@platform/testkit';
import { createEngine, type NodeEngine } from '@platform/webrtc';
import { callDirectly, type DirectCall } from '../../../packages/webrtc/src/testing/call-directly.ts';
import { program } from '../../../tools/bundles/program.ts';
import { secondsOfTree } from '../figures/measure-others.ts';
import { startSyncMachine } from '../sync/sync-machine.ts';

export interface RemoteMachine extends AsyncDisposable {
  /** Of the machine-server. */
  readonly pid: number;
  /** To the cloud, with the owner's key. */
  readonly cloud: Link;
  /** Of the caller. */
  readonly engine: NodeEngine;
  /** Another connection over WebRTC. */
  dial(): Promise<DirectCall>;
  /** To the machine, through the cloud. */
  readonly relay: Pick<Link, 'client'>;
  /** Processor time of machine and caller so far, without the cloud. */
  seconds(): number;
}

export const sensorName = 'bench';

/** @param tunnelPort a port of this computer to which the machine tunnels */
export async function startRemoteMachine(tunnelPort: number): Promise<RemoteMachine> {
  await using starting = new AsyncDisposableStack();
  const { pid, cloud } = starting.use(
    await startSyncMachine(() => ({
      components: [
        {
          name: sensorName,
          api: 'core:component:sensor',
          model: 'core:builtin:fake',
          attributes: { readings: { a: 1 } },
        },
      ],
      network: { traffic_tunnel_endpoints: [{ port: tunnelPort }] },
    })),
  );
  const { url, keyId, key, partId } = cloud;
  const { part } = await cloud.client.app.getRobotPart({ id: partId });
  const host = part?.fqdn ?? '';
  const link = starting.use(
    connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key }, timeoutMs: 60_000 }),
  );
  const engineProgram = pathToFileURL(program('webrtc-engine'));
  const engine = starting.use(createEngine({ clock: systemClock, log: silentLog, program: engineProgram }));
  const relay = link.withHeaders(async () => ({ 'platform-part': partId }));
  const isReady = () =>
    relay
      .client(SensorService)
      .getReadings({ name: sensorName })
      .then(
        () => true,
        () => false,
      );
  while (!(await isReady())) await systemClock.sleep(100);
  const dial = () => callDirectly(link, engine, host);
  // The first call starts the engine of the machine.
  await (await firstOf(dial))[Symbol.asyncDispose]();
  const running = starting.move();
  return {
    ...{ pid, cloud: link, engine, dial, relay },
    seconds: () => secondsOfTree([...processTree(pid), process.pid, engine.processId ?? -1]),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Machines answer callers only some time after they run. */
async function firstOf(dial: () => Promise<DirectCall>): Promise<DirectCall> {
  for (let tries = 0; ; tries++) {
    try {
      return await dial();
    } catch (caught) {
      if (tries === 50) throw caught;
      await systemClock.sleep(200);
    }
  }
}
