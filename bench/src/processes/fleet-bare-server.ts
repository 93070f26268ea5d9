/** The minimal server for a fleet: Node's HTTP/2 server with pre-framed answers. Reports `ready` with its address. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { FleetAnswers } from '../fleet/fleet-limit.ts';

const given = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as FleetAnswers;
const framed = new Map(
  Object.entries(given).map(([path, text]) => {
    const message = Buffer.from(text, 'base64');
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return [path, Buffer.concat([head, message])];
  }),
);
const nothing = Buffer.alloc(5);
const server = createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  stream.resume();
  stream.on('end', () => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(framed.get(headers[':path'] ?? '') ?? nothing);
  });
});
// Ten thousand clients that connect at once wait in the system's queue.
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ event: 'ready', url: `http://127.0.0.1:${port}` })}\n`);
});
