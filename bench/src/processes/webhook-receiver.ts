/**
 * A process that receives webhooks at an address that is not loopback, and reports as JSON lines: `listening` with its port, and after a
 * line on standard input `received`. Targets with a number from `hangFrom` on never answer.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const [host = '', hangFrom = '0'] = process.argv.slice(2);
/** For each batch and target: when the head of its first request arrived; wall clock in ms with fractions. */
const arrivals: [batch: number, target: number, at: number][] = [];

const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const target = Number(/\/(\d+)$/.exec(request.url ?? '')?.[1] ?? -1);
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const n = Number(/"n":(\d+)/.exec(Buffer.concat(pieces).toString())?.[1] ?? Number.NaN);
    arrivals.push([n, target, at]);
    if (target < Number(hangFrom)) response.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, host, () => {
  process.stdout.write(`${JSON.stringify({ event: 'listening', port: (server.address() as AddressInfo).port })}\n`);
});
for await (const _line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify({ event: 'received', arrivals })}\n`);
  break;
}
server.closeAllConnections();
server.close();
