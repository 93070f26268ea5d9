/** What machines cost the cloud that wait for callers, beyond what it costs that they ask for their configuration. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { cpuSeconds, proportionalBytes } from '@platform/testkit';
import { startProcess } from '../cloud/server-process.ts';
import { startFleetCloud } from '../fleet/fleet-cloud.ts';
import { type FleetPart, provisionFleet } from '../fleet/provision-fleet.ts';
import type { Figure } from '../store/figure.ts';

export interface WaitingMachines {
  readonly url: string;
  readonly parts: readonly FleetPart[];
  /** The part of their names after their ids. */
  readonly domain: string;
}

/** Until the cloud has given back what it used while they connected. */
const settleMs = 20_000;

export async function measureWaiting(count: number, seconds: number): Promise<Figure[]> {
  await using cloud = await startFleetCloud();
  const parts = await provisionFleet(cloud, count);
  process.kill(cloud.running.process.pid, 'SIGTERM');
  await cloud.running.process[Symbol.asyncDispose]();
  const { url, process: server } = await cloud.restart();
  const file = join(cloud.dataDirectory, '..', 'waiting.json');
  const machines: WaitingMachines = { url, parts, domain: await domainOf(url, cloud) };
  writeFileSync(file, JSON.stringify(machines));
  const entry = fileURLToPath(new URL('../processes/waiting-machines.ts', import.meta.url));
  await using fleet = startProcess(process.execPath, [...process.execArgv, entry, file]);
  const measure = async (event: string): Promise<{ memory: number; percent: number }> => {
    await fleet.event(event);
    await sleep(settleMs);
    const before = cpuSeconds(server.pid);
    await sleep(seconds * 1_000);
    return {
      percent: ((cpuSeconds(server.pid) - before) / seconds) * 100,
      memory: proportionalBytes(server.pid) / 1e6,
    };
  };
  const polling = await measure('connected');
  fleet.write('wait');
  const waiting = await measure('waiting');
  return [
    {
      ...{ name: `${count} machines that wait for calls: memory of the cloud`, unit: 'MB', most: 100 },
      ...{ value: waiting.memory - polling.memory, note: `beyond ${polling.memory.toFixed(0)} MB while they only ask` },
    },
    {
      ...{ name: `${count} machines that wait for calls: share of a core`, unit: '%', most: 2 },
      ...{ value: waiting.percent - polling.percent, note: `beyond ${polling.percent.toFixed(1)} % for asking` },
    },
  ];
}

async function domainOf(
  url: string,
  { keyId, key, partId }: { keyId: string; key: string; partId: string },
): Promise<string> {
  await using link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const { part } = await link.client(AppService).getRobotPart({ id: partId });
  return (part?.fqdn ?? '').slice(partId.length + 1);
}
