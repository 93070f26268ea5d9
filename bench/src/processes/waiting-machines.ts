/**
 * Machines that ask for their configuration and restart mark every 15 s, each over its own connection, and after a line on standard input
 * also wait for callers, with two streams over the same connection, as machine-servers do. Reports `connected`, and then `waiting`.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { SignalingService } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import { connect } from '@platform/rpc/client';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import type { WaitingMachines } from '../remote/waiting.ts';

const { url, parts, domain } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as WaitingMachines;
const periodMs = 15_000;
const streams = 2;
const tell = (event: string): boolean => process.stdout.write(`${JSON.stringify({ event })}\n`);

const machines = await mapConcurrently(8, parts.length, async (index) => {
  const { partId, secret } = parts[index] ?? { partId: '', secret: '' };
  const link = connect({ baseUrl: url, credentials: { entity: partId, type: 'robot-secret', payload: secret } });
  const poll = async (): Promise<void> => {
    await link.client(RobotService).config({ id: partId });
    await link.client(RobotService).needsRestart({ id: partId });
  };
  await poll();
  return { partId, link, poll };
});
const pollAll = async (): Promise<void> => {
  for (;;)
    for (const { poll } of machines) {
      void poll();
      await sleep(periodMs / machines.length);
    }
};
void pollAll();
tell('connected');
await once(process.stdin, 'data');

/** Nobody calls. */
async function* nothing(): AsyncGenerator<never, void> {
  await new Promise(() => {});
}
await mapConcurrently(8, machines.length * streams, async (index) => {
  const machine = machines[index % machines.length];
  const headers = { 'rpc-host': `${machine?.partId}.${domain}`, 'heartbeats-allowed': 'true' };
  const requests = machine?.link.client(SignalingService).answer(nothing(), { headers, timeoutMs: 0 });
  const iterator = requests?.[Symbol.asyncIterator]();
  // The first heartbeat: the stream waits.
  await iterator?.next();
  void (async () => {
    while ((await iterator?.next())?.done === false);
    process.exit(1);
  })();
});
tell('waiting');
