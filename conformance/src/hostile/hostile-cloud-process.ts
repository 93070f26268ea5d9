/**
 * A cloud that serves a machine honestly, but of the connections that the machine opens, each second one gets another kind of garbage; and
 * each link for remote control carries another kind. Honest connections are cut, so that there are always new ones.
 *
 * hostile-cloud-process.ts DOCUMENT; each line of standard input is answered with what was sent so far.
 */
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { RelayService } from '@platform/proto/platform/relay/v1/relay';
import { byteStreamOver } from '@platform/rpc/client';
import { serve } from '@platform/rpc/server';
import { hostileClients, hostileServers, sendAsClient, sendAsServer } from '@platform/testkit';
import { startFakeCloud } from '../../../apps/machine-server/src/testing/fake-cloud.ts';

const servers = hostileServers();
const clients = hostileClients('/platform.robot.v1.RobotService/GetOperations');
/** The machine may wait for an answer for longer, but this test has many kinds. */
const mostMs = 400;
/** Long enough for a request for the configuration, an upload, or the opening of a link. */
const honestMs = 600;
/** Local ports of honest connections that carry a link. */
const links = new Set<string>();
const sent = { connections: 0, links: 0, uploads: 0 };
let opened = 0;

const relay = serve<typeof RelayService, string>(RelayService, {
  async *openLink(requests, { peerAddress }) {
    links.add(peerAddress);
    async function* incoming(): AsyncGenerator<Uint8Array, void> {
      for await (const { data } of requests) if (data.length > 0) yield data;
    }
    yield { data: new Uint8Array() };
    const { duplex, outgoing } = byteStreamOver(incoming());
    const sending = sendAsClient(duplex, { ...clients.kind(sent.links++), end: 'stay' });
    const over = sleep(mostMs).then(() => duplex.destroy());
    try {
      for await (const data of outgoing) yield { data };
    } catch {
      // The machine has ended it.
    }
    await Promise.all([over, sending]);
  },
});
const cloud = await startFakeCloud(JSON.parse(process.argv[2] ?? '{}'), 0, [relay]);
cloud.after = () => {
  sent.uploads++;
};

function serveHonestly(socket: Socket): void {
  const inner = connect(Number(new URL(cloud.url).port), '127.0.0.1');
  inner.on('error', () => {}).on('close', () => socket.destroy());
  socket.on('error', () => {}).on('close', () => inner.destroy());
  socket.pipe(inner).pipe(socket);
  setTimeout(() => {
    if (!links.has(`127.0.0.1:${inner.localPort}`)) socket.destroy();
  }, honestMs);
}

const front = createServer((socket) => {
  // The first ones bring the configuration.
  if (opened++ < 4 || opened % 2 === 0) return serveHonestly(socket);
  const timer = setTimeout(() => socket.destroy(), mostMs);
  socket.once('close', () => clearTimeout(timer));
  void sendAsServer(socket, servers.kind(sent.connections++));
}).listen(0, '127.0.0.1', () => process.stdout.write(`${JSON.stringify(front.address())}\n`));
createInterface({ input: process.stdin })
  .on('line', () => process.stdout.write(`${JSON.stringify(sent)}\n`))
  .on('close', () => process.exit());
